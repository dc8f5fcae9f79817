/**
 * Wildcards of rules, matched without regular expressions: the time is at most pattern length times
 * text length, whatever anybody writes.
 */

export type Token =
  | { readonly kind: 'char'; readonly char: string }
  /** Any number of any characters. */
  | { readonly kind: 'star' }
  /** One character. */
  | { readonly kind: 'one' }
  /** One character out of a set. */
  | { readonly kind: 'set'; readonly has: (char: string) => boolean };

/** `*` stands for any characters, `\*` for a star; nothing else is special. */
export function commandTokens(pattern: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    if (char === '*') tokens.push({ kind: 'star' });
    else if (char === '\\' && '*()\\'.includes(pattern.charAt(at + 1) || ' ')) {
      at++;
      tokens.push({ kind: 'char', char: pattern.charAt(at) });
    } else tokens.push({ kind: 'char', char });
  }
  return tokens;
}

/** One path segment: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` in front of a special character. */
export function segmentTokens(segment: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < segment.length; at++) {
    const char = segment.charAt(at);
    if (char === '\\' && at + 1 < segment.length) {
      at++;
      tokens.push({ kind: 'char', char: segment.charAt(at) });
    } else if (char === '*') tokens.push({ kind: 'star' });
    else if (char === '?') tokens.push({ kind: 'one' });
    else if (char === '[') {
      const set = characterSet(segment, at);
      if (set === undefined) tokens.push({ kind: 'char', char });
      else {
        tokens.push({ kind: 'set', has: set.has });
        at = set.end;
      }
    } else tokens.push({ kind: 'char', char });
  }
  return tokens;
}

/** Whether the whole text fits the pattern. */
export function matches(tokens: readonly Token[], text: string): boolean {
  const states = run(tokens, text);
  return states.has(tokens.length);
}

/** Whether some text that begins with `beginning` would fit the pattern. */
export function couldMatch(tokens: readonly Token[], beginning: string): boolean {
  return run(tokens, beginning).size > 0;
}

/** Whether every text that begins with `beginning` fits the pattern. */
export function mustMatch(tokens: readonly Token[], beginning: string): boolean {
  return tokens.at(-1)?.kind === 'star' && matches(tokens, beginning);
}

/** The positions in the pattern that can be reached by reading the text. */
function run(tokens: readonly Token[], text: string): ReadonlySet<number> {
  let states = closure(tokens, [0]);
  for (const char of text) {
    const next: number[] = [];
    for (const state of states) {
      const token = tokens[state];
      if (token === undefined) continue;
      if (token.kind === 'star') next.push(state);
      else if (fits(token, char)) next.push(state + 1);
    }
    states = closure(tokens, next);
    if (states.size === 0) break;
  }
  return states;
}

function fits(token: Exclude<Token, { kind: 'star' }>, char: string): boolean {
  if (token.kind === 'one') return true;
  return token.kind === 'set' ? token.has(char) : token.char === char;
}

/** A star may also stand for nothing. */
function closure(tokens: readonly Token[], from: readonly number[]): Set<number> {
  const states = new Set<number>();
  for (let state of from) {
    states.add(state);
    while (tokens[state]?.kind === 'star') states.add(++state);
  }
  return states;
}

function characterSet(
  segment: string,
  open: number,
): { has: (char: string) => boolean; end: number } | undefined {
  const negated = segment[open + 1] === '!' || segment[open + 1] === '^';
  const first = open + (negated ? 2 : 1);
  const end = segment.indexOf(']', first + 1);
  if (end === -1) return undefined;
  const body = [...segment.slice(first, end)];
  const ranges: [string, string][] = [];
  for (let at = 0; at < body.length; at++) {
    const from = body[at] ?? '';
    if (body[at + 1] === '-' && at + 2 < body.length) {
      ranges.push([from, body[at + 2] ?? from]);
      at += 2;
    } else ranges.push([from, from]);
  }
  const has = (char: string): boolean =>
    ranges.some(([from, to]) => from <= char && char <= to) !== negated;
  return { has, end };
}
