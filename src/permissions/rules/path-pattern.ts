import type { PatternOptions } from '../../lib/patterns/name-pattern.js';
import { expandHome, resolve, toPosix } from '../../platform/fs/paths.js';
import { matches, segmentTokens, type Token } from './wildcard.js';

/** What a path rule is relative to when it does not name an absolute place. */
export interface PatternBase {
  readonly cwd: string;
  readonly home: string;
  /** What a single leading `/` stands for: the directory of the settings that hold the rule. */
  readonly root: string;
  /** Whether the file system takes `A` for `a`. Restrictions hold in any case on every one. */
  readonly ignoresCase?: boolean;
}

/** A segment without wildcards is its text. */
export type Segment = string | readonly Token[] | typeof ANY_DEPTH;

export const ANY_DEPTH = Symbol('**');

/**
 * A path rule, as in .gitignore: a name without a slash fits at any depth, `*` stays within a
 * segment, `**` does not, and what fits a directory fits all that is in it.
 */
export interface PathPattern {
  /** The file or directory that the names in front of the first wildcard lead to. */
  readonly place: string;
  /** The names of the directory that the pattern starts in. */
  readonly anchor: readonly string[];
  readonly segments: readonly Segment[];
  /** Whether letter case and Unicode form are ignored. */
  readonly folded: boolean;
}

interface PatternUse {
  /** A restriction is read generously (case, depth), a grant to the letter. */
  readonly use: 'restrict' | 'grant';
}

export function parsePathPattern(
  spec: string,
  base: PatternBase,
  { use }: PatternUse,
): PathPattern {
  const { start, rest } = anchored(spec, base);
  const isGrant = use === 'grant';
  const folded = !isGrant || base.ignoresCase === true;
  const { up, names } = withoutDots(rest);
  const anchor = resolve(start, ...up);
  const floating = !/^[/~]|^\.\.?(\/|$)/.test(spec) && up.length === 0;
  const atAnyDepth = floating && (names.length === 1 || (!isGrant && isDirectoryName(names)));
  const how = { ignoreCase: folded, restricts: !isGrant };
  const segments = names.map((name) => segmentOf(fold(name, folded), how));
  return {
    place: resolve(anchor, ...plainNames(names)),
    anchor: namesOf(anchor, folded),
    folded,
    segments: atAnyDepth ? [ANY_DEPTH, ...segments] : segments,
  };
}

/** Whether the pattern fits the absolute path, or a directory above it. */
export function matchesPath(pattern: PathPattern, path: string): boolean {
  return matchesNames(pattern, namesOf(path, pattern.folded));
}

/** As `matchesPath`, for a path that is split and folded already. */
export function matchesNames({ anchor, segments }: PathPattern, names: readonly string[]): boolean {
  if (names.length < anchor.length) return false;
  for (let at = 0; at < anchor.length; at++) if (names[at] !== anchor[at]) return false;
  return reaches(segments, names, { from: anchor.length });
}

/** The names along a path, in the form that patterns are compared in. */
export function namesOf(path: string, folded: boolean): readonly string[] {
  return fold(toPosix(path), folded)
    .split('/')
    .filter((name) => name !== '');
}

/** Lower case in one Unicode form, for file systems that take `.ENV` for `.env`. */
export function foldCase(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  // Upper case first: some letters (`ſ`) have the same capital as a plain one.
  return text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFC');
}

function fold(text: string, folded: boolean): string {
  return folded ? foldCase(text) : text;
}

/** `a/../b` is `b`; a rule that kept the dots would match nothing. `up`: those that lead above the start. */
function withoutDots(path: string): { up: readonly string[]; names: readonly string[] } {
  const up: string[] = [];
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..' || /^(\*\*|\.\.)$/.test(names.at(-1) ?? '')) names.push(name);
    else if (names.pop() === undefined) up.push(name);
  }
  return { up, names };
}

/** Whether the dots stand behind `**`, where nothing says which directory they lead out of. */
export function hasLostDots(path: string): boolean {
  return withoutDots(path).names.includes('..');
}

/** Those in front of the first wildcard. */
function plainNames(names: readonly string[]): readonly string[] {
  const plain: string[] = [];
  for (const name of names) {
    const segment = segmentOf(name);
    if (typeof segment !== 'string') break;
    plain.push(segment);
  }
  return plain;
}

/** One part of a pattern between slashes. */
export function segmentOf(name: string, options: PatternOptions = {}): Segment {
  if (name === '**') return ANY_DEPTH;
  const tokens = segmentTokens(name, options);
  const isPlain = tokens.every((token) => token.kind === 'char');
  return isPlain
    ? tokens.map((token) => (token.kind === 'char' ? token.char : '')).join('')
    : tokens;
}

/** Where the path of a rule starts, and what of it is left. */
function anchored(spec: string, base: PatternBase): { start: string; rest: string } {
  if (spec.startsWith('//')) return { start: '/', rest: spec.slice(2) };
  if (spec === '~' || spec.startsWith('~/')) {
    return { start: expandHome('~', base.home), rest: spec.slice(2) };
  }
  if (spec.startsWith('/')) return { start: base.root, rest: spec.slice(1) };
  return { start: base.cwd, rest: spec };
}

/** `src/**` without an anchor names directories called `src`. */
function isDirectoryName(names: readonly string[]): boolean {
  return names.length === 2 && names[0] !== '**' && names[1] === '**';
}

/**
 * Walks the segments like a text of names. What fits a directory fits its content, so the end of the pattern may come
 * early; unless the pattern must fit the `whole`.
 */
export function reaches(
  segments: readonly Segment[],
  names: readonly string[],
  { from = 0, whole = false }: { readonly from?: number; readonly whole?: boolean } = {},
): boolean {
  let at = from;
  let segment = 0;
  let deep = -1;
  let resume = from;
  while (true) {
    if (segment === segments.length && (!whole || at === names.length)) return true;
    const current = segments[segment];
    if (current === ANY_DEPTH) {
      deep = segment++;
      resume = at;
      continue;
    }
    const name = names[at];
    if (name !== undefined && current !== undefined && segmentFits(current, name)) {
      at++;
      segment++;
      continue;
    }
    if (deep === -1 || resume >= names.length) return false;
    segment = deep + 1;
    at = ++resume;
  }
}

function segmentFits(segment: Exclude<Segment, typeof ANY_DEPTH>, name: string): boolean {
  return typeof segment === 'string' ? segment === name : matches(segment, name);
}

/** How far a path has gone along a pattern that may yet cover something below it. */
export interface PatternState {
  readonly wanted: readonly Segment[];
  readonly folded: boolean;
  readonly at: number;
  /** It fits at any depth from here on. */
  readonly floats: boolean;
}

/** At the root of the file system. */
export function patternState({ anchor, segments, folded }: PathPattern): PatternState {
  return reached({ wanted: [...anchor, ...segments], folded, at: 0, floats: false });
}

/** One directory further; undefined when nothing in there can be covered. */
export function stepInto(state: PatternState, name: string): PatternState | undefined {
  const segment = state.wanted[state.at];
  // It covers a directory above, and so all that is in it.
  if (state.floats || segment === undefined || segment === ANY_DEPTH) return state;
  const fits = segmentFits(segment, fold(name, state.folded));
  return fits ? reached({ ...state, at: state.at + 1 }) : undefined;
}

function reached(state: PatternState): PatternState {
  return state.wanted[state.at] === ANY_DEPTH ? { ...state, floats: true } : state;
}

/**
 * A quick look at a name: whether a pattern may end with it. Where no directory above is covered, only
 * what passes this can be.
 */
export function mayEndPattern(patterns: readonly PathPattern[]): (name: string) => boolean {
  const plain = new Set<string>();
  const wild: (readonly Token[])[] = [];
  let isAny = false;
  for (const { anchor, segments } of patterns) {
    const last = [...anchor, ...segments].findLast((segment) => segment !== ANY_DEPTH);
    if (typeof last === 'string') plain.add(last);
    else if (last !== undefined) wild.push(last);
    else isAny = true;
  }
  return (name) => {
    const folded = foldCase(name);
    if (isAny || plain.has(folded) || plain.has(name)) return true;
    return wild.some((tokens) => matches(tokens, folded) || matches(tokens, name));
  };
}
