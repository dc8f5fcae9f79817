import { dirname, expandHome, isAbsolute, resolve } from '../../platform/fs/paths.js';
import { MOST_LOOKUPS } from './load-result.js';
import { markdownLines } from './markdown-lines.js';

/** One more than is looked up, so that the lookup sees that there are too many. */
const MOST_TARGETS = MOST_LOOKUPS + 1;
const LONGEST_TARGET = 1_024;

/**
 * What `@path` names in a text, in order, each once: at the beginning of a word, and neither in code
 * nor in a comment nor in the address of a link. `variables`: a name may begin with one (`@$0`).
 */
export function includeTargets(
  text: string,
  { variables = false }: { readonly variables?: boolean } = {},
): readonly string[] {
  if (!text.includes('@')) return [];
  const found = new Set<string>();
  const isPlace = variables ? PLACE_OR_VARIABLE : PLACE;
  for (const prose of proseIn(text)) {
    for (const match of prose.matchAll(TARGET)) {
      const target = targetOf(match[1] ?? '', isPlace);
      if (target !== undefined) found.add(target);
      if (found.size >= MOST_TARGETS) return [...found];
    }
  }
  return [...found];
}

/**
 * The paragraphs of a text without code, comments and addresses of links. `typed`: a person typed it,
 * and knows less of the format: lines that stand far in, definitions of links and comments that are not
 * closed are text as well.
 */
export function* proseIn(
  text: string,
  { typed = false }: { readonly typed?: boolean } = {},
): Generator<string> {
  let paragraph: string[] = [];
  for (const line of markdownLines(text)) {
    const isText = line.kind === 'text' || (line.kind === 'comment' && line.text !== '');
    if (isText || (typed && line.kind === 'indented')) {
      paragraph.push(line.text);
      continue;
    }
    if (paragraph.length === 0) continue;
    const { prose, endless } = proseOf(paragraph.join('\n'), typed);
    paragraph = [];
    yield prose;
    if (endless) return;
  }
  yield proseOf(paragraph.join('\n'), typed).prose;
}

/** Where a target is, from the file that names it. */
export function resolveTarget(target: string, from: string, home: string): string {
  return resolveFrom(target, dirname(from), home);
}

/** The same, seen from a directory. */
function resolveFrom(target: string, directory: string, home: string): string {
  const path = expandHome(target, home);
  return isAbsolute(path) ? resolve(path) : resolve(directory, path);
}

const TARGET = /(?:^|\s)@((?:\\ |\S)+)/g;

/** A name, or a place: what begins with other signs is a mention of something else. */
const PLACE = /^(?:~\/|\.{0,2}\/|[\p{L}\p{N}._-])/u;
const PLACE_OR_VARIABLE = new RegExp(`${PLACE.source}|^\\$[\\w{]`, 'u');

function targetOf(word: string, isPlace: RegExp): string | undefined {
  if (word.length > LONGEST_TARGET) return undefined;
  const [path = ''] = word.split('#', 1);
  const target = path.replaceAll('\\ ', ' ');
  return isPlace.test(target) && !/[`<>"|*?\u0000-\u001f]/.test(target) ? target : undefined;
}

/** Replaces removed text; no target can contain it or begin directly behind it. */
const GONE = '`';

/** `endless`: a comment begins that never ends, so nothing behind it is text. */
function proseOf(paragraph: string, typed: boolean): { prose: string; endless: boolean } {
  if (!/@|<!--/.test(paragraph)) return { prose: '', endless: false };
  const { text, open } = withoutComments(withoutCode(paragraph));
  const shown = typed && open !== undefined ? text + open : text;
  const prose = shown.replace(/\]\([^()]*\)/g, GONE);
  return {
    prose: typed ? prose : prose.replace(/^ {0,3}\[[^\]\n]*\]:[^\n]*$/gm, GONE),
    endless: !typed && open !== undefined,
  };
}

/** `open`: from where a comment begins that does not end. */
function withoutComments(text: string): { text: string; open?: string } {
  let kept = '';
  let at = 0;
  for (let start = text.indexOf('<!--'); start !== -1; start = text.indexOf('<!--', at)) {
    const end = text.indexOf('-->', start + 2);
    kept += text.slice(at, start) + GONE;
    if (end === -1) return { text: kept, open: text.slice(start) };
    at = end + 3;
  }
  return { text: kept + text.slice(at) };
}

/** Code spans: as many backticks close one as have opened it. */
export function withoutCode(text: string): string {
  const runs = [...text.matchAll(/\\?`+/g)].map(({ 0: run, index }) =>
    // A backslash takes the first of them.
    run.startsWith('\\')
      ? { at: index + 2, length: run.length - 2 }
      : { at: index, length: run.length },
  );
  const ends = new Map<number, { readonly places: number[]; next: number }>();
  for (const { at, length } of runs) {
    const known = ends.get(length);
    if (known === undefined) ends.set(length, { places: [at], next: 0 });
    else known.places.push(at);
  }
  let kept = '';
  let from = 0;
  for (const { at, length } of runs) {
    const known = ends.get(length);
    if (known === undefined || at < from || length === 0) continue;
    while ((known.places[known.next] ?? text.length) <= at) known.next++;
    const end = known.places[known.next];
    if (end === undefined) continue;
    kept += text.slice(from, at) + GONE;
    from = end + length;
  }
  return kept + text.slice(from);
}

/** Names with an `@` of one text that are looked up; most of them are words. */
export const MOST_NAMES = 200;

const SENTENCE_END = /[.,;:!?)\]}'"»”’*]+$/;

/** The sentence may end behind a name. */
export function withoutSentenceEnd(name: string): string {
  return name.replace(SENTENCE_END, '');
}

export interface LookUp<Found> {
  /** Directories from which a name is seen, the first one first. */
  readonly bases: readonly string[];
  readonly home: string;
  /** What is there; undefined: nothing that is meant. */
  look(path: string): Promise<Found | undefined>;
}

/** Where a name with an `@` leads; undefined: nowhere, so that it is a word. */
export async function findNamed<Found>(
  name: string,
  { bases, home, look }: LookUp<Found>,
): Promise<{ readonly path: string; readonly found: Found } | undefined> {
  if (name === '' || name.includes('\0')) return undefined;
  for (const path of new Set(bases.map((base) => resolveFrom(name, base, home)))) {
    const found = await look(path);
    if (found !== undefined) return { path, found };
  }
  return undefined;
}
