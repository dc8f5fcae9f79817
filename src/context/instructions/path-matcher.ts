import { expandAll } from '../../lib/patterns/braces.js';
import {
  ANY_DEPTH,
  matchPrefix,
  type NamePattern,
  namePatternOf,
} from '../../lib/patterns/name-pattern.js';

/** Compiles patterns as of .gitignore; the result takes a path from the directory they stand for. */
export type PathMatcher = (patterns: readonly string[]) => (relativePath: string) => boolean;

/**
 * `*` and `?` stay within a name, `**` does not, `[a-z]`, `[[:alpha:]]` and `{a,b}` work, a name without a slash fits
 * at any depth, what fits a directory fits all that is in it, `!` takes out again, the last pattern
 * that fits decides. Letter case does not matter. Time grows with pattern and path, never faster.
 */
export const gitignoreMatcher: PathMatcher = (patterns) => {
  const compiled = expandAll(patterns).map(compile);
  return (relativePath) => {
    const names = relativePath.toLowerCase().split('/').filter(isName);
    if (names.length === 0 || names.includes('..')) return false;
    return compiled.findLast((one) => one.fits(names))?.negated === false;
  };
};

/** Whether a pattern names every file there is. */
export function isUniversal(pattern: string): boolean {
  return /^(?:\.?\/)?(?:\*\*\/)*\*\*?$|^(?:\.|\.?\/)$/.test(pattern.trim());
}

/** `a, b` and `*.{ts,tsx}, c`: commas between patterns, not those within braces. */
export function splitPatterns(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') at++;
    else if (char === '{') depth++;
    else if (char === '}') depth = Math.max(0, depth - 1);
    else if (char === ',' && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)].map((part) => part.trim()).filter((part) => part !== '');
}

interface Compiled {
  readonly negated: boolean;
  fits(names: readonly string[]): boolean;
}

function compile(source: string): Compiled {
  const negated = source.startsWith('!');
  // `./x` is the one that is here, as `/x`.
  const pattern = (negated ? source.slice(1) : source).trim().toLowerCase().replace(/^\.\//, '/');
  const names = pattern.split('/').filter(isName);
  // `dir/` and `dir/**` mean what is in the directory, not a file of that name.
  let inside = pattern.endsWith('/');
  while (names.length > 1 && names.at(-1) === '**') {
    names.pop();
    inside = true;
  }
  const segments = names.map((name) => namePatternOf(name, { ignoreCase: true }));
  const isAnchored = /\/./.test(pattern);
  if (segments.length === 0 || segments.includes(undefined)) return { negated, fits: () => false };
  const all = (isAnchored ? segments : [ANY_DEPTH, ...segments]) as readonly NamePattern[];
  return { negated, fits: (path) => matchPrefix(all, inside ? path.slice(0, -1) : path) !== -1 };
}

function isName(name: string): boolean {
  return name !== '' && name !== '.';
}
