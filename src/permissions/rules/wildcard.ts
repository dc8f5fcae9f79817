import { type PatternOptions, setOf } from '../../lib/patterns/name-pattern.js';

/**
 * Wildcards of rules, matched without regular expressions: the time is at most pattern length times
 * text length.
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
    const char = charAt(pattern, at);
    at += char.length - 1;
    if (char === '*') tokens.push({ kind: 'star' });
    else if (char === '\\' && '*()\\'.includes(pattern.charAt(at + 1) || ' ')) {
      at++;
      tokens.push({ kind: 'char', char: pattern.charAt(at) });
    } else tokens.push({ kind: 'char', char });
  }
  return tokens;
}

/** One path segment: `*`, `?`, `[a-z]`, `[!a-z]`, `[[:alpha:]]`, and `\` in front of a special character. */
export function segmentTokens(segment: string, options: PatternOptions = {}): readonly Token[] {
  const tokens: Token[] = [];
  const chars = [...segment];
  const lastClose = chars.lastIndexOf(']');
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? '';
    if (char === '\\' && at + 1 < chars.length) {
      at++;
      tokens.push({ kind: 'char', char: chars[at] ?? '' });
    } else if (char === '*') tokens.push({ kind: 'star' });
    else if (char === '?') tokens.push({ kind: 'one' });
    else if (char === '[') {
      const set = at < lastClose ? setOf(chars, at, options) : undefined;
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
  let at = 0;
  let token = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    const current = tokens[token];
    if (current?.kind === 'star') {
      star = token++;
      resume = at;
      continue;
    }
    if (current !== undefined && fits(current, text, at)) {
      at += width(text, at);
      token++;
      continue;
    }
    // The last star takes one more character; earlier ones need no second thought.
    if (star === -1) return false;
    token = star + 1;
    resume += width(text, resume);
    at = resume;
  }
  while (tokens[token]?.kind === 'star') token++;
  return token === tokens.length;
}

/** Whether some text that begins with `beginning` would fit the pattern. */
export function couldMatch(tokens: readonly Token[], beginning: string): boolean {
  let at = 0;
  for (const token of tokens) {
    // From the first star on, whatever was begun can be ended as the pattern wants.
    if (at >= beginning.length || token.kind === 'star') return true;
    if (!fits(token, beginning, at)) return false;
    at += width(beginning, at);
  }
  return at >= beginning.length;
}

/** Whether every text that begins with `beginning` fits the pattern. */
export function mustMatch(tokens: readonly Token[], beginning: string): boolean {
  return tokens.at(-1)?.kind === 'star' && matches(tokens, beginning);
}

function fits(token: Token, text: string, at: number): boolean {
  if (token.kind === 'char') return text.startsWith(token.char, at);
  return token.kind === 'one' || (token.kind === 'set' && token.has(charAt(text, at)));
}

/** A character beyond the basic plane takes two units. */
function width(text: string, at: number): 1 | 2 {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit < 0xdc00 && at + 1 < text.length ? 2 : 1;
}

function charAt(text: string, at: number): string {
  return text.slice(at, at + width(text, at));
}
