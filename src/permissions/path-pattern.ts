import { expandHome, resolve, toPosix } from '../env/paths.js';
import { matches, segmentTokens, type Token } from './wildcard.js';

/** What a path rule is relative to when it does not name an absolute place. */
export interface PatternBase {
  readonly cwd: string;
  readonly home: string;
  /** What a single leading `/` stands for: the directory of the settings that hold the rule. */
  readonly root: string;
}

type Segment = readonly Token[] | '**';

/**
 * A path rule, as in .gitignore: a name without a slash fits at any depth, `*` stays within a
 * segment, `**` does not, and what fits a directory fits all that is in it.
 */
export interface PathPattern {
  readonly anchor: string;
  readonly segments: readonly Segment[];
  /** Whether letter case and Unicode form are ignored. */
  readonly folded: boolean;
}

export interface PatternUse {
  /** A restriction is read generously (case, depth), a grant to the letter. */
  readonly use: 'restrict' | 'grant';
}

export function parsePathPattern(
  spec: string,
  base: PatternBase,
  { use }: PatternUse,
): PathPattern {
  const { anchor, rest, floating } = anchored(spec, base);
  const folded = use === 'restrict';
  const names = rest.split('/').filter((name) => name !== '' && name !== '.');
  const atAnyDepth = floating && (names.length === 1 || (folded && isDirectoryName(names)));
  const segments = names.map((name) => (name === '**' ? name : segmentTokens(fold(name, folded))));
  return { anchor, folded, segments: atAnyDepth ? ['**', ...segments] : segments };
}

/** Whether the pattern fits the absolute path, or a directory above it. */
export function matchesPath(pattern: PathPattern, path: string): boolean {
  const anchor = segmentsOf(pattern.anchor, pattern.folded);
  const names = segmentsOf(path, pattern.folded);
  if (names.length < anchor.length) return false;
  if (anchor.some((name, index) => names[index] !== name)) return false;
  return reaches(pattern.segments, names.slice(anchor.length));
}

/** Lower case in one Unicode form, for file systems that take `.ENV` for `.env`. */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

function fold(text: string, folded: boolean): string {
  return folded ? foldCase(text) : text;
}

function segmentsOf(path: string, folded: boolean): readonly string[] {
  return fold(toPosix(path), folded)
    .split('/')
    .filter((name) => name !== '');
}

function anchored(
  spec: string,
  base: PatternBase,
): { anchor: string; rest: string; floating: boolean } {
  if (spec.startsWith('//')) return { anchor: '/', rest: spec.slice(2), floating: false };
  if (spec === '~' || spec.startsWith('~/')) {
    return { anchor: expandHome('~', base.home), rest: spec.slice(2), floating: false };
  }
  if (spec.startsWith('/')) return { anchor: base.root, rest: spec.slice(1), floating: false };
  let rest = spec;
  let anchor = base.cwd;
  let floating = true;
  while (rest.startsWith('./') || rest.startsWith('../')) {
    if (rest.startsWith('../')) anchor = resolve(anchor, '..');
    rest = rest.slice(rest.indexOf('/') + 1);
    floating = false;
  }
  return { anchor, rest, floating };
}

/** `src/**` without an anchor names directories called `src`. */
function isDirectoryName(names: readonly string[]): boolean {
  return names.length === 2 && names[0] !== '**' && names[1] === '**';
}

/** Walks the segments like a text of names; reaching the end of the pattern early covers what is below. */
function reaches(segments: readonly Segment[], names: readonly string[]): boolean {
  let states = closure(segments, [0]);
  for (const name of names) {
    // What fits a directory fits its content.
    if (states.has(segments.length)) return true;
    const next: number[] = [];
    for (const state of states) {
      const segment = segments[state];
      if (segment === undefined) continue;
      if (segment === '**') next.push(state);
      else if (matches(segment, name)) next.push(state + 1);
    }
    states = closure(segments, next);
  }
  return states.has(segments.length);
}

function closure(segments: readonly Segment[], from: readonly number[]): Set<number> {
  const states = new Set<number>();
  for (let state of from) {
    states.add(state);
    while (segments[state] === '**') states.add(++state);
  }
  return states;
}
