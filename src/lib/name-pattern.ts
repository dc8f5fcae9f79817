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
      const has = characterClass(named.name, options);
      if (has === undefined) return undefined;
      at = named.end;
      // fail-closed: the letter may have been of the other case, which the rule does not leave out.
      if (negated && options.restricts === true && isOfOneCase(named.name)) continue;
      members.push(has);
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

/** Time grows with pattern and name, never faster. */
export function nameFits(tokens: readonly NameToken[], name: string): boolean {
  const chars = [...name];
  let at = 0;
  let token = 0;
  let star = -1;
  let resume = 0;
  while (at < chars.length) {
    const current = tokens[token];
    if (current === 'star') {
      star = token++;
      resume = at;
    } else if (current?.(chars[at] ?? '')) {
      at++;
      token++;
    } else {
      // The last star takes one more character; earlier ones need no second thought.
      if (star === -1) return false;
      token = star + 1;
      at = ++resume;
    }
  }
  while (tokens[token] === 'star') token++;
  return token === tokens.length;
}

/** Whether the steps fit all of the names. */
export function namesFit(steps: readonly NamePattern[], names: readonly string[]): boolean {
  let at = 0;
  let step = 0;
  let deep = -1;
  let resume = 0;
  while (at < names.length) {
    const current = steps[step];
    if (current === ANY_DEPTH) {
      deep = step++;
      resume = at;
    } else if (current !== undefined && nameFits(current, names[at] ?? '')) {
      at++;
      step++;
    } else {
      if (deep === -1) return false;
      step = deep + 1;
      at = ++resume;
    }
  }
  while (steps[step] === ANY_DEPTH) step++;
  return step === steps.length;
}

/** How many of the first names the steps fit, or -1. What follows lies in the directory that they name. */
export function stepsReach(steps: readonly NamePattern[], names: readonly string[]): number {
  let at = 0;
  let step = 0;
  let deep = -1;
  let resume = 0;
  while (step < steps.length) {
    const current = steps[step];
    const name = names[at];
    if (current === ANY_DEPTH) {
      deep = step++;
      resume = at;
    } else if (name !== undefined && current !== undefined && nameFits(current, name)) {
      at++;
      step++;
    } else {
      if (deep === -1 || resume >= names.length) return -1;
      step = deep + 1;
      at = ++resume;
    }
  }
  return at;
}

/** Whether a character is of a named class, as `[[:alpha:]]` means it: those of ASCII alone, as in git. */
export type CharacterClass = (char: string) => boolean;

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

/** Whether the class is only half of the letters, which names that were made small do not tell apart. */
export function isOfOneCase(name: string): boolean {
  return name === 'lower' || name === 'upper';
}

/** Undefined: there is no class of that name. */
export function characterClass(
  name: string,
  { ignoreCase = false }: { readonly ignoreCase?: boolean } = {},
): CharacterClass | undefined {
  const pattern = CLASSES.get(ignoreCase && isOfOneCase(name) ? 'alpha' : name);
  return pattern === undefined ? undefined : (char) => pattern.test(char);
}
