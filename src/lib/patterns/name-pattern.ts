/** One step of a path pattern: any number of names, or what one name has to look like. */
export type NamePattern = typeof ANY_DEPTH | readonly NameToken[];
export type NameToken = 'star' | ((char: string) => boolean);

export const ANY_DEPTH = Symbol('**');

export interface PatternOptions {
  /** For names and patterns that were both made small: `[[:upper:]]` means their letters, too. */
  readonly ignoreCase?: boolean;
  /** For restrictions: where it is not known whether a character is left out, it is not. */
  readonly restricts?: boolean;
}

/** Undefined for a bracket that is never closed, or holds a class that there is not: such a pattern fits nothing. */
export function namePatternOf(name: string, options: PatternOptions = {}): NamePattern | undefined {
  if (name === '**') return ANY_DEPTH;
  const chars = [...name];
  const tokens: NameToken[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? '';
    if (char === '*') {
      if (tokens.at(-1) !== 'star') tokens.push('star');
    } else if (char === '?') tokens.push(() => true);
    else if (char === '[') {
      const set = setOf(chars, at, options);
      if (set === undefined) return undefined;
      tokens.push(set.has);
      at = set.end;
    } else {
      const literal = char === '\\' ? (chars[++at] ?? '\\') : char;
      tokens.push((other) => other === literal);
    }
  }
  return tokens;
}

/** The characters between brackets, and where they end; undefined when they are never closed, or name a class that there is not. */
export function setOf(
  chars: readonly string[],
  start: number,
  options: PatternOptions = {},
): { has: (char: string) => boolean; end: number } | undefined {
  const negated = chars[start + 1] === '!' || chars[start + 1] === '^';
  const from = start + (negated ? 2 : 1);
  const members: ((char: string) => boolean)[] = [];
  for (let at = from; at < chars.length; at++) {
    const low = chars[at] ?? '';
    // A bracket right behind the opening one is a member.
    if (low === ']' && at > from) {
      return { has: (char) => members.some((has) => has(char)) !== negated, end: at };
    }
    const named = low === '[' ? classAt(chars, at) : undefined;
    if (named !== undefined) {
      const isOneCase = named.name === 'lower' || named.name === 'upper';
      const characters = CLASSES.get(options.ignoreCase && isOneCase ? 'alpha' : named.name);
      if (characters === undefined) return undefined;
      at = named.end;
      // fail-closed: the letter may have been of the other case, which the rule does not leave out.
      if (negated && options.restricts === true && isOneCase) continue;
      members.push((char) => characters.test(char));
      continue;
    }
    const next = chars[at + 2];
    const isRange = chars[at + 1] === '-' && next !== undefined && next !== ']';
    const high = isRange ? next : low;
    members.push((char) => low <= char && char <= high);
    if (isRange) at += 2;
  }
  return undefined;
}

/** `[:name:]`; undefined: a bracket that stands for itself. */
function classAt(
  chars: readonly string[],
  start: number,
): { readonly name: string; readonly end: number } | undefined {
  if (chars[start + 1] !== ':') return undefined;
  const close = chars.indexOf(']', start + 2);
  if (close === -1 || chars[close - 1] !== ':' || close - 1 < start + 2) return undefined;
  return { name: chars.slice(start + 2, close - 1).join(''), end: close };
}

export function nameFits(tokens: readonly NameToken[], name: string): boolean {
  return matched(tokens, [...name], IN_NAMES, 'all') !== -1;
}

/** Whether the steps fit all of the names. */
export function namesFit(steps: readonly NamePattern[], names: readonly string[]): boolean {
  return matched(steps, names, IN_PATHS, 'all') !== -1;
}

/** How many of the first names the steps fit, or -1. What follows lies in the directory that they name. */
export function matchPrefix(steps: readonly NamePattern[], names: readonly string[]): number {
  return matched(steps, names, IN_PATHS, 'first');
}

interface Meaning<Step> {
  /** Whether the step stands for any number of parts. */
  isWild(step: Step): boolean;
  fits(step: Step, part: string): boolean;
}

const IN_NAMES: Meaning<NameToken> = {
  isWild: (token) => token === 'star',
  fits: (token, char) => token !== 'star' && token(char),
};
const IN_PATHS: Meaning<NamePattern> = {
  isWild: (step) => step === ANY_DEPTH,
  fits: (step, name) => step !== ANY_DEPTH && nameFits(step, name),
};

/**
 * How many parts the steps match, `all` of them or the `first` ones; -1: they do not. Where it does not go on, the last
 * wildcard takes one more part; earlier ones need no second try, so that time grows with steps times parts.
 */
function matched<Step>(
  steps: readonly Step[],
  parts: readonly string[],
  { isWild, fits }: Meaning<Step>,
  wanted: 'all' | 'first',
): number {
  let at = 0;
  let step = 0;
  let wild = -1;
  let resume = 0;
  while (wanted === 'all' ? at < parts.length : step < steps.length) {
    const current = steps[step];
    const part = parts[at];
    if (current !== undefined && isWild(current)) {
      wild = step++;
      resume = at;
    } else if (current !== undefined && part !== undefined && fits(current, part)) {
      at++;
      step++;
    } else {
      if (wild === -1 || resume >= parts.length) return -1;
      step = wild + 1;
      at = ++resume;
    }
  }
  return steps.slice(step).every(isWild) ? at : -1;
}

/** The named classes, as `[[:alpha:]]` means them: characters of ASCII alone, as in git. */
const CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ['alnum', /^[0-9A-Za-z]$/],
  ['alpha', /^[A-Za-z]$/],
  ['blank', /^[ \t]$/],
  ['cntrl', /^[\x00-\x1f\x7f]$/],
  ['digit', /^[0-9]$/],
  ['graph', /^[\x21-\x7e]$/],
  ['lower', /^[a-z]$/],
  ['print', /^[\x20-\x7e]$/],
  ['punct', /^[!-/:-@[-`{-~]$/],
  ['space', /^[\t-\r ]$/],
  ['upper', /^[A-Z]$/],
  ['xdigit', /^[0-9A-Fa-f]$/],
]);
