import { nearest } from '../../lib/nearest.js';
import { sliceWhole } from '../../lib/truncate.js';
import { visible } from '../../lib/visible.js';
import type { Skill, SkillBook } from '../skill.js';
import { notInForce } from './find.js';

/** Skills at the beginning of one message; what follows them is the text of them all. */
export const MOST_STACKED = 6;

export interface TypedSkill {
  readonly skill: Skill;
  readonly args: string;
}

/** What somebody typed means. */
export type Typed =
  /** Words for the model. */
  | { readonly kind: 'prompt' }
  /** A word that the program itself knows. */
  | { readonly kind: 'builtin'; readonly name: string; readonly args: string }
  /** At least one. */
  | { readonly kind: 'skills'; readonly invocations: readonly TypedSkill[] }
  /** For the person; the model is not told. */
  | { readonly kind: 'unknown'; readonly name: string; readonly message: string };

export interface SlashParts {
  readonly book: Pick<SkillBook, 'find' | 'list' | 'skipped'>;
  /** Words of the program itself, without the slash; they go before skills of the same name. */
  readonly builtins: Iterable<string>;
}

/** `/name arguments`, or several skills in front of one text: `/review /explain the parser`. */
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
    // From the first word on that is not one more skill to be put in here, all is text.
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

/** `/name` at the beginning, and what follows it. */
function wordAt(text: string): { readonly name: string; readonly rest: string } | undefined {
  if (!text.startsWith('/')) return undefined;
  const end = text.search(/\s/);
  const name = end === -1 ? text.slice(1) : text.slice(1, end);
  if (name === '' || name.startsWith('/')) return undefined;
  return { name, rest: end === -1 ? '' : text.slice(end).trim() };
}

/** What could be a name is taken for one, so that a slip of the finger never reaches the model. */
async function notFound(
  name: string,
  builtins: ReadonlySet<string>,
  { book }: SlashParts,
): Promise<Typed> {
  // `/etc/hosts` and `/tmp/x.txt` are paths that somebody writes about.
  if (!/^[\p{L}\p{N}_][\p{L}\p{N}_:.-]*$/u.test(name)) return { kind: 'prompt' };
  const why = await notInForce(book, name);
  if (why !== undefined) return { kind: 'unknown', name, message: why };
  const known = (await book.list()).filter(({ head }) => head.userInvocable !== false);
  const near = nearest(name, [...builtins, ...known.map((skill) => skill.name)]);
  const hint = near === undefined ? '' : ` Did you mean /${near}?`;
  const message = `Unknown command: /${visible(sliceWhole(name, 0, SHOWN_NAME))}.${hint}`;
  return { kind: 'unknown', name, message };
}

const SHOWN_NAME = 100;
