import { err, ok, type Result } from './result.js';

/**
 * Deepest nesting that is accepted. What is nested deeper parses, but cannot be written out again:
 * it would overflow the stack of code that stores, sends or compares it.
 */
export const MAX_JSON_DEPTH = 500;

/** An escape that stands for a letter of `__proto__`. */
const ESCAPED_LETTER = /\\u00(?:5f|6f|70|72|74)/i;

/**
 * Parses JSON from outside. Rejects `__proto__` keys, which could reach a prototype when the value
 * is merged or assigned later, and nesting deeper than people or programs write.
 */
export function parseJson(text: string): Result<unknown, string> {
  try {
    if (isTooDeep(text)) return err(`it is nested more than ${MAX_JSON_DEPTH} levels deep`);
    // A plain parse is several times faster; the reviver runs only where the word may occur at all.
    if (!mayNamePrototype(text)) return ok(JSON.parse(text));
    return ok(
      JSON.parse(text, (key, value) => {
        if (key === '__proto__') throw new Error('the key "__proto__" is not accepted');
        return value;
      }),
    );
  } catch (thrown) {
    return err(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** Most texts have no such escape, and a plain search sees that sooner than a pattern. */
function mayNamePrototype(text: string): boolean {
  if (text.includes('__proto__')) return true;
  return text.includes('\\u00') && ESCAPED_LETTER.test(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Examines only text outside strings, and skips strings by search. */
function isTooDeep(text: string): boolean {
  if (text.length <= MAX_JSON_DEPTH) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    // `[` and `{`, then `]` and `}`.
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > MAX_JSON_DEPTH) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** The position of the quote that closes the string at `start`, or the end of a text that has none. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * Splits text that arrives in pieces into lines; blank ones are dropped. A line longer than `maxLength` is
 * dropped as well and yielded as undefined, as soon as it is known to be too long.
 */
export class LineSplitter {
  readonly #maxLength: number;
  /** Pieces of a line whose end has not come yet; joined once, or a long line would cost its square. */
  #pieces: string[] = [];
  #length = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  *push(chunk: string): Generator<string | undefined> {
    for (const [index, piece] of chunk.split('\n').entries()) {
      if (index > 0) yield* this.end();
      const wasTooLong = this.#length > this.#maxLength;
      this.#length += piece.length;
      if (this.#length <= this.#maxLength) this.#pieces.push(piece);
      else this.#pieces = [];
      if (this.#length > this.#maxLength && !wasTooLong) yield undefined;
    }
  }

  /** The text after the last newline. */
  *end(): Generator<string> {
    const line = this.#pieces.join('');
    this.#pieces = [];
    this.#length = 0;
    if (line.trim() !== '') yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
