import { err, ok, type Result } from '../../lib/result.js';
import { nearest } from '../../lib/text/nearest.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { asName } from '../discovery/names.js';
import type { Skill, SkillBook } from '../skill.js';

export type Invoker = 'model' | 'person';

type Book = Pick<SkillBook, 'find' | 'list' | 'skipped'>;

const SHOWN_NAME = 100;

/** The skill of that name, if this invoker may start it; otherwise a message for the invoker. */
export async function findFor(
  book: Book,
  name: string,
  by: Invoker,
): Promise<Result<Skill, string>> {
  const wanted = asName(name);
  const skill = await book.find(wanted);
  if (skill === undefined) return err(await unknown(book, wanted, by));
  return by === 'model' ? forModel(book, wanted, skill) : forPerson(skill);
}

async function forModel(book: Book, wanted: string, skill: Skill): Promise<Result<Skill, string>> {
  const { head, name, origin } = skill;
  if (origin === 'mcp') {
    return err(`The prompt ${name} of an MCP server can only be typed by the user, as /${name}.`);
  }
  if (head.disableModelInvocation === true) {
    return err(
      `The skill ${name} can only be started by the user (disable-model-invocation). Do not imitate it: neither read its file nor carry out its steps by other means. If it is needed, tell the user to type /${name}.`,
    );
  }
  // A dormant skill does not exist for the model until a matching file is touched.
  const isDormant =
    head.paths !== undefined && !(await book.list()).some((one) => one.name === name);
  if (isDormant) return err(await unknown(book, wanted, 'model'));
  // fail-closed: rules have judged the name that was called, so it must be the one that runs.
  return name === wanted
    ? ok(skill)
    : err(`The skill ${shown(wanted)} is called ${name}; call it by that name.`);
}

function forPerson(skill: Skill): Result<Skill, string> {
  if (skill.head.userInvocable !== false) return ok(skill);
  return err(
    `The skill ${skill.name} cannot be typed (user-invocable: false). Say what you need; the model uses it when it fits.`,
  );
}

async function unknown(book: Book, wanted: string, by: Invoker): Promise<string> {
  const why = by === 'person' ? await notInForce(book, wanted) : undefined;
  if (why !== undefined) return why;
  const known = (await book.list()).filter(({ head, origin }) =>
    by === 'model'
      ? head.disableModelInvocation !== true && origin !== 'mcp'
      : head.userInvocable !== false,
  );
  const near = nearest(
    wanted,
    known.map(({ name }) => name),
  );
  const mark = by === 'person' ? '/' : '';
  const hint = near === undefined ? '' : ` Did you mean ${mark}${near}?`;
  return `Unknown skill: ${mark}${shown(wanted)}.${hint}`;
}

/** Why a skill was found but is not in force, and where; for people, not for the model. */
async function notInForce(
  book: Pick<SkillBook, 'skipped'>,
  name: string,
): Promise<string | undefined> {
  const skipped = (await book.skipped()).find((one) => one.name === name);
  if (skipped === undefined) return undefined;
  const { reason, file } = skipped;
  return `The skill ${shown(name)} is not in force: ${visible(reason)} (${visible(file)}).`;
}

/** Limits a name from outside. */
function shown(name: string): string {
  return visible(sliceWhole(name, 0, SHOWN_NAME));
}

/** The most skills at the beginning of one message; the text after them goes to all. */
const MOST_STACKED = 6;

interface TypedSkill {
  readonly skill: Skill;
  readonly args: string;
}

/** The meaning of a typed text. */
export type Typed =
  | { readonly kind: 'prompt' }
  /** A command of the program itself. */
  | { readonly kind: 'builtin'; readonly name: string; readonly args: string }
  | { readonly kind: 'skills'; readonly invocations: readonly TypedSkill[] }
  /** A message for the person; the model does not see it. */
  | { readonly kind: 'unknown'; readonly name: string; readonly message: string };

interface SlashParts {
  readonly book: Book;
  /** Commands of the program without the slash, which precede skills of the same name. */
  readonly builtins: Iterable<string>;
}

/** Parses `/name arguments`, or several skills before one text: `/review /explain the parser`. */
export async function readTyped(text: string, parts: SlashParts): Promise<Typed> {
  const first = wordAt(text.trim());
  if (first === undefined) return { kind: 'prompt' };
  const builtins = new Set(parts.builtins);
  if (builtins.has(first.name)) return { kind: 'builtin', name: first.name, args: first.rest };
  const skill = await parts.book.find(first.name);
  if (skill === undefined) return notFound(first.name, builtins, parts);
  const skills = [skill];
  let { rest } = first;
  while (isInline(skill) && skills.length < MOST_STACKED) {
    const word = wordAt(rest);
    if (word === undefined || builtins.has(word.name)) break;
    const next = await parts.book.find(word.name);
    // Everything from the first word that is no further inline skill is text.
    if (next === undefined || !isInline(next)) break;
    if (skills.some(({ name }) => name === next.name)) break;
    skills.push(next);
    rest = word.rest;
  }
  return { kind: 'skills', invocations: skills.map((one) => ({ skill: one, args: rest })) };
}

function isInline({ head }: Skill): boolean {
  return head.context !== 'fork';
}

/** `/name` at the beginning, and the text after it. */
function wordAt(text: string): { readonly name: string; readonly rest: string } | undefined {
  if (!text.startsWith('/')) return undefined;
  const end = text.search(/\s/);
  const name = end === -1 ? text.slice(1) : text.slice(1, end);
  if (name === '' || name.startsWith('/')) return undefined;
  return { name, rest: end === -1 ? '' : text.slice(end).trim() };
}

/** A possible name is treated as one, so that a typing error never reaches the model. */
async function notFound(
  name: string,
  builtins: ReadonlySet<string>,
  { book }: SlashParts,
): Promise<Typed> {
  // `/etc/hosts` and `/tmp/x.txt` are paths in a prompt.
  if (!/^[\p{L}\p{N}_][\p{L}\p{N}_:.-]*$/u.test(name)) return { kind: 'prompt' };
  const why = await notInForce(book, name);
  if (why !== undefined) return { kind: 'unknown', name, message: why };
  const known = (await book.list()).filter(({ head }) => head.userInvocable !== false);
  const near = nearest(name, [...builtins, ...known.map((skill) => skill.name)]);
  const hint = near === undefined ? '' : ` Did you mean /${near}?`;
  const message = `Unknown command: /${shown(name)}.${hint}`;
  return { kind: 'unknown', name, message };
}
