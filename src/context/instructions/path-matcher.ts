import { ANY_DEPTH, type NamePattern, namePatternOf, stepsReach } from '../../lib/name-pattern.js';

/** Compiles patterns as of .gitignore; the result takes a path from the directory they stand for. */
export type PathMatcher = (patterns: readonly string[]) => (relativePath: string) => boolean;

/**
 * `*` and `?` stay within a name, `**` does not, `[a-z]`, `[[:alpha:]]` and `{a,b}` work, a name without a slash fits
 * at any depth, what fits a directory fits all that is in it, `!` takes out again, the last pattern
 * that fits decides. Letter case does not matter. Time grows with pattern and path, never faster.
 */
export const gitignoreMatcher: PathMatcher = (patterns) => {
  const compiled = withinBudget(patterns).map(compile);
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

/** What the braces of one list of patterns may become together. */
export const BRACE_BUDGET = { patterns: 1_000, chars: 4 * 1024 * 1024 } as const;
/** A longer pattern stands for itself. */
const LONGEST_EXPANDED = 4_096;

interface Budget {
  patterns: number;
  chars: number;
}

/** A pattern whose braces would become too much keeps them as they are. */
function withinBudget(patterns: readonly string[]): readonly string[] {
  const budget: Budget = { ...BRACE_BUDGET };
  return patterns.flatMap((pattern) => {
    const expanded = pattern.length > LONGEST_EXPANDED ? undefined : expandBraces(pattern, budget);
    if (expanded === undefined) return [pattern];
    budget.patterns -= expanded.length;
    for (const one of expanded) budget.chars -= one.length;
    return expanded;
  });
}

function expandBraces(pattern: string, budget: Budget): readonly string[] | undefined {
  const group = firstGroup(pattern);
  if (group === undefined) return [pattern];
  const tails = expandBraces(pattern.slice(group.end), budget);
  if (tails === undefined) return undefined;
  const head = pattern.slice(0, group.start);
  const all: string[] = [];
  let chars = 0;
  for (const alternative of group.alternatives) {
    const middles = expandBraces(alternative, budget);
    if (middles === undefined) return undefined;
    for (const middle of middles) {
      for (const tail of tails) {
        all.push(head + middle + tail);
        chars += head.length + middle.length + tail.length;
        if (all.length > budget.patterns || chars > budget.chars) return undefined;
      }
    }
  }
  return all;
}

interface BraceGroup {
  readonly start: number;
  readonly end: number;
  readonly alternatives: readonly string[];
}

/** The first braces that hold a comma; others stand for themselves. */
function firstGroup(pattern: string): BraceGroup | undefined {
  for (let start = pattern.indexOf('{'); start !== -1; start = pattern.indexOf('{', start + 1)) {
    if (isEscaped(pattern, start)) continue;
    const alternatives: string[] = [];
    let depth = 0;
    let from = start + 1;
    for (let at = start; at < pattern.length; at++) {
      const char = pattern.charAt(at);
      if (char === '\\') at++;
      else if (char === '{') depth++;
      else if (char === ',' && depth === 1) {
        alternatives.push(pattern.slice(from, at));
        from = at + 1;
      } else if (char === '}' && --depth === 0) {
        if (alternatives.length === 0) break;
        return { start, end: at + 1, alternatives: [...alternatives, pattern.slice(from, at)] };
      }
    }
  }
  return undefined;
}

function isEscaped(pattern: string, at: number): boolean {
  let backslashes = 0;
  while (pattern.charAt(at - 1 - backslashes) === '\\') backslashes++;
  return backslashes % 2 === 1;
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
  return { negated, fits: (path) => stepsReach(all, inside ? path.slice(0, -1) : path) !== -1 };
}

function isName(name: string): boolean {
  return name !== '' && name !== '.';
}
