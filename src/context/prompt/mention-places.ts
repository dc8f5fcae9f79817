import { systemCodeOf } from '../../errors.js';
import { visible } from '../../lib/text/visible.js';
import type { InputMessage } from '../../loop/types.js';
import type { FileStat, FileSystem } from '../../platform/fs/fs.js';
import { dirname, homeDirectory, isAbsolute, resolve } from '../../platform/fs/paths.js';
import { textOf } from '../../protocol/content.js';
import { findNamed, type LookUp, MOST_NAMES } from '../instructions/includes.js';
import type { FileMention, Meaning } from './file-mentions.js';

/** A text that a person typed, and what a hook has made of it. */
export interface TypedText {
  /** One for each block: what is open in one, a fence of code or a word, ends with it. */
  readonly texts: readonly string[];
  /** Absent: no hook has changed it. */
  readonly changed?: {
    readonly texts: readonly string[];
    /** What stood beside what was typed and can no longer be told from it. */
    readonly beside: string;
  };
}

/** No mail address: those have letters before the sign. */
const MAY_NAME = /(?<![A-Za-z0-9_.])@(?=\S)/;

/**
 * The parts of this prompt in which `@` may name a file, without what `passed` prompts already cover.
 * fail-closed: only the words of a person or the host name files.
 */
export function typedText(
  prompt: InputMessage,
  passed: readonly InputMessage[],
): TypedText | undefined {
  const { uuid, meta, verbatim } = prompt;
  if (meta === true || verbatim === true) return undefined;
  const texts = typedIn(prompt);
  if (!texts.some(mayName)) return undefined;
  const message = passed.find((one) => one.uuid === uuid && one.meta !== true);
  if (message === undefined) return undefined;
  return message === prompt ? { texts } : { texts, changed: changedFrom(prompt, message) };
}

/** Whether calls may be made for a prompt before it is sent: for what it names, or a skill's commands. */
export function bringsCalls(prompt: InputMessage): boolean {
  const { content, meta, verbatim } = prompt;
  if (meta === true || verbatim === true) return false;
  return typedIn(prompt).some(mayName) || textOf(content).trimStart().startsWith('/');
}

function typedIn({ content, typed }: InputMessage): readonly string[] {
  return typed === undefined ? textsIn(content) : [typed];
}

function textsIn(content: InputMessage['content']): readonly string[] {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

function mayName(text: string): boolean {
  return text.includes('@') && MAY_NAME.test(text);
}

function changedFrom(prompt: InputMessage, message: InputMessage): TypedText['changed'] {
  const sent = textsIn(message.content);
  const beside = besideTyped(prompt);
  if (beside === '') return { texts: sent, beside };
  const last = sent.findLastIndex((text) => text.includes(beside));
  if (last === -1) return { texts: sent, beside };
  const texts = sent.map((text, index) => {
    if (index !== last) return text;
    const at = text.lastIndexOf(beside);
    return `${text.slice(0, at)}\n${text.slice(at + beside.length)}`;
  });
  return { texts, beside: '' };
}

/** The part of a prompt that no person typed, such as piped input. */
function besideTyped({ content, typed }: InputMessage): string {
  if (typed === undefined) return '';
  const said = textOf(content);
  return (said.startsWith(typed) ? said.slice(typed.length) : said).trim();
}

/**
 * Whether a name of the typed text still counts: a hook may have taken it out. `namesIn` finds those of a
 * text. fail-closed: one that stood in what is no word of the person's too is taken out.
 */
export function stillNames(
  { changed }: TypedText,
  namesIn: (text: string) => readonly string[],
): (name: string) => boolean {
  if (changed === undefined) return () => true;
  const kept = new Set(changed.texts.flatMap(namesIn));
  const elsewhere = new Set(namesIn(changed.beside));
  return (name) => kept.has(name) && !elsewhere.has(name);
}

type Kind = FileStat['kind'];

/** A file or directory that a prompt names. */
export interface MentionedPlace {
  /** As people know it, with the lines that are meant. */
  readonly label: string;
  readonly path: string;
  readonly kind: Kind;
  readonly lines?: Meaning['lines'];
}

/**
 * Resolves the names in a prompt, each path once: from the working directory, then from that of the session.
 * A name without a file is an ordinary word; where a file was meant, the person is warned.
 */
export async function mentionedPlaces(
  mentions: readonly FileMention[],
  { config, environment, tell }: MentionSearch,
): Promise<readonly MentionedPlace[]> {
  const search = lookUpIn(config, environment);
  const places = new Map<string, MentionedPlace>();
  const missing = new Set<string>();
  const patterns = new Set<string>();
  if (mentions.length > MOST_NAMES) {
    tell(`only the first ${MOST_NAMES} names with an @ are looked up`);
  }
  for (const mention of mentions.slice(0, MOST_NAMES)) {
    const place = await placeOf(mention, search);
    if (place !== undefined) {
      const key = JSON.stringify([place.path, place.lines]);
      if (!places.has(key)) places.set(key, place);
    } else if (await isMeant(mention, search)) {
      (mention.isPattern === true ? patterns : missing).add(barest(mention));
    }
  }
  if (missing.size > 0) tell(`nothing is at ${listed([...missing])}: no file was attached`);
  if (patterns.size > 0) {
    tell(`${listed([...patterns])}: a pattern names no file, and none was attached`);
  }
  return [...places.values()];
}

export interface MentionSearch {
  /** Where the session was started. */
  readonly config: { readonly cwd: string };
  readonly environment: {
    readonly fs: Pick<FileSystem, 'stat'>;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly workspace: { readonly cwd: string };
  };
  /** For people. */
  tell(text: string): void;
}

function lookUpIn(
  { cwd }: MentionSearch['config'],
  { fs, env, workspace }: MentionSearch['environment'],
): LookUp<Kind> {
  return {
    bases: [workspace.cwd, cwd],
    home: homeDirectory(env),
    async look(path) {
      try {
        return (await fs.stat(path))?.kind;
      } catch (thrown) {
        // The file exists, and reading it reports the error; any other failure means that there is no such file.
        const code = systemCodeOf(thrown);
        return code === 'EACCES' || code === 'EPERM' ? 'other' : undefined;
      }
    },
  };
}

async function placeOf(
  { meanings }: FileMention,
  search: LookUp<Kind>,
): Promise<MentionedPlace | undefined> {
  for (const { name, lines } of meanings) {
    const named = await findNamed(name, search);
    if (named === undefined) continue;
    const { path, found: kind } = named;
    const part = lines === undefined || kind === 'directory' ? {} : { lines };
    const label = lines === undefined ? `@${name}` : `@${name}#L${lines.from}-${lines.to}`;
    return { label, path, kind, ...part };
  }
  return undefined;
}

const MOST_TOLD = 5;

function listed(names: readonly string[]): string {
  const told = names.slice(0, MOST_TOLD).map((name) => visible(`@${name}`));
  const more = names.length > MOST_TOLD ? ` and ${names.length - MOST_TOLD} others` : '';
  return `${told.join(', ')}${more}`;
}

/** As short as it can be meant. */
function barest({ meanings }: FileMention): string {
  return meanings.at(-1)?.name ?? '';
}

/** Scopes of packages, aliases and handles look like paths, and stand in no folder that is there. */
async function isMeant(mention: FileMention, search: LookUp<Kind>): Promise<boolean> {
  const { bases, look } = search;
  const name = barest(mention);
  if (/^(?:\.{1,2}|~)\//.test(name)) return true;
  // `@"text"` is how some languages write texts.
  if (mention.isQuoted && /\w\.\w{1,8}$/.test(name)) return true;
  if (mention.isPattern === true) return await isMeantPattern(name, search);
  // `@/lib/x` is how programs name their own modules.
  if (isAbsolute(name)) return false;
  for (const base of new Set(bases)) {
    const folder = dirname(resolve(base, name));
    if (folder !== base && (await look(folder)) === 'directory') return true;
  }
  return false;
}

async function isMeantPattern(pattern: string, search: LookUp<Kind>): Promise<boolean> {
  const [plain = ''] = pattern.split(/[*?]/, 1);
  const folder = plain.slice(0, plain.lastIndexOf('/') + 1);
  if (folder === '') return /\*\.\w{1,8}$/.test(pattern);
  return (await findNamed(folder, search))?.found === 'directory';
}
