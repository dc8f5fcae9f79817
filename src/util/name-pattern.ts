/** One step of a path pattern: any number of names, or what one name has to look like. */
export type NamePattern = typeof ANY_DEPTH | readonly NameToken[];
export type NameToken = 'star' | ((char: string) => boolean);

export const ANY_DEPTH = Symbol('**');

/** Undefined for a bracket that is never closed: such a pattern fits nothing. */
export function namePatternOf(name: string): NamePattern | undefined {
  if (name === '**') return ANY_DEPTH;
  const chars = [...name];
  const tokens: NameToken[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? '';
    if (char === '*') {
      if (tokens.at(-1) !== 'star') tokens.push('star');
    } else if (char === '?') tokens.push(() => true);
    else if (char === '[') {
      const set = setOf(chars, at);
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

/** The characters between brackets, and where they end; undefined when they are never closed. */
export function setOf(
  chars: readonly string[],
  start: number,
): { has: (char: string) => boolean; end: number } | undefined {
  const negated = chars[start + 1] === '!' || chars[start + 1] === '^';
  const from = start + (negated ? 2 : 1);
  // A bracket right behind the opening one is a member.
  const end = chars.indexOf(']', from + 1);
  if (end === -1) return undefined;
  const ranges: (readonly [string, string])[] = [];
  for (let at = from; at < end; at++) {
    const low = chars[at] ?? '';
    const isRange = chars[at + 1] === '-' && at + 2 < end;
    ranges.push([low, isRange ? (chars[at + 2] ?? low) : low]);
    if (isRange) at += 2;
  }
  const has = (char: string): boolean =>
    ranges.some(([low, high]) => low <= char && char <= high) !== negated;
  return { has, end };
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
