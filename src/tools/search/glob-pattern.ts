import { setOf } from '../../lib/name-pattern.js';
/**
 * File name patterns: `*`, `?`, `[a-z]`, `[!a-z]`, `**` as a whole segment, `{a,b}`, `\` before a
 * character that stands for itself. `*` also matches names that begin with a dot. Matching takes
 * time in proportion to pattern and path, whatever the pattern.
 */
export interface GlobPattern {
  /** Leading segments without wildcards: where the search starts. */
  readonly base: readonly string[];
  /** How deep below the base a match can be. */
  readonly depth: number;
  /** Takes the segments of a path below the base. */
  matches(segments: readonly string[]): boolean;
}

/** One pattern for each combination of braces. Throws nothing: an unclosed bracket is itself. */
export function parseGlob(pattern: string): GlobPattern[] {
  return expandBraces(pattern).map(parseOne);
}

/** Whether a pattern names this segment itself, as in `node_modules/x/*`. */
export function namesSegment(pattern: string, segment: string): boolean {
  return expandBraces(pattern).some((one) => one.split('/').includes(segment));
}

const MOST_ALTERNATIVES = 256;

/** `a{b,c}d` → `abd`, `acd`; nested braces too. `{x}` without a comma stands for itself. */
export function expandBraces(pattern: string): string[] {
  let results = [''];
  let at = 0;
  while (at < pattern.length) {
    const group = pattern[at] === '{' ? braceGroup(pattern, at) : undefined;
    let pieces: string[];
    if (group === undefined) {
      const length = pattern[at] === '\\' ? 2 : 1;
      pieces = [pattern.slice(at, at + length)];
      at += length;
    } else {
      pieces = group.alternatives.flatMap(expandBraces);
      at = group.end;
    }
    results = results.flatMap((result) => pieces.map((piece) => result + piece));
    if (results.length > MOST_ALTERNATIVES) return [pattern];
  }
  return results;
}

function braceGroup(
  pattern: string,
  start: number,
): { alternatives: string[]; end: number } | undefined {
  const alternatives: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === '\\') at++;
    else if (char === '{') depth++;
    else if (char === ',' && depth === 1) {
      alternatives.push(pattern.slice(from, at));
      from = at + 1;
    } else if (char === '}' && --depth === 0) {
      if (alternatives.length === 0) return undefined;
      return { alternatives: [...alternatives, pattern.slice(from, at)], end: at + 1 };
    }
  }
  return undefined;
}

type Segment = 'any' | readonly Token[];
type Token = 'star' | ((char: string) => boolean);

function parseOne(pattern: string): GlobPattern {
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.');
  const firstWild = segments.findIndex((segment) => /[*?[\\]/.test(segment));
  // The last segment is matched even when it is plain, so that it is looked up as a file.
  const baseLength = Math.min(firstWild === -1 ? segments.length : firstWild, segments.length - 1);
  const rest = segments.slice(Math.max(0, baseLength)).map(parseSegment);
  return {
    base: segments.slice(0, Math.max(0, baseLength)),
    depth: rest.includes('any') ? Number.POSITIVE_INFINITY : rest.length,
    matches: (path) => matchWild(rest, path, { isWild: (part) => part === 'any', fits }),
  };
}

function fits(segment: Segment, name: string): boolean {
  if (segment === 'any') return true;
  return matchWild(segment, [...name], {
    isWild: (token) => token === 'star',
    fits: (token, char) => token !== 'star' && token(char),
  });
}

function parseSegment(segment: string): Segment {
  if (segment === '**') return 'any';
  const chars = [...segment];
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? '';
    const set = char === '[' ? setOf(chars, at) : undefined;
    if (char === '*') {
      if (tokens.at(-1) !== 'star') tokens.push('star');
    } else if (char === '?') {
      tokens.push(() => true);
    } else if (set !== undefined) {
      tokens.push(set.has);
      at = set.end;
    } else {
      const literal = char === '\\' ? (chars[++at] ?? '\\') : char;
      tokens.push((other) => other === literal);
    }
  }
  return tokens;
}

/** Greedy match where only the last wildcard can give back, which is enough for wildcards. */
function matchWild<Part, Item>(
  pattern: readonly Part[],
  items: readonly Item[],
  how: { isWild: (part: Part) => boolean; fits: (part: Part, item: Item) => boolean },
): boolean {
  let at = 0;
  let item = 0;
  let wild = -1;
  let wildItem = 0;
  while (item < items.length) {
    const part = pattern[at];
    const current = items[item];
    if (part !== undefined && how.isWild(part)) {
      wild = at++;
      wildItem = item;
    } else if (part !== undefined && current !== undefined && how.fits(part, current)) {
      at++;
      item++;
    } else if (wild !== -1) {
      at = wild + 1;
      item = ++wildItem;
    } else {
      return false;
    }
  }
  while (at < pattern.length && how.isWild(pattern[at] as Part)) at++;
  return at === pattern.length;
}
