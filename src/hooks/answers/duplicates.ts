import { endOfString } from '../../lib/json.js';

const QUOTE = 0x22;
const COLON = 0x3a;

/**
 * A key that stands twice in one object of a JSON text that is known to be valid; undefined where none
 * does. Of two values a parser keeps the last one without a word, so that a no could be lost.
 */
export function duplicateKey(text: string): string | undefined {
  /** The keys of each open object; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // `{` and `[`, then `}` and `]`.
    if (code === 0x7b) open.push(new Set());
    else if (code === 0x5b) open.push(undefined);
    else if (code === 0x7d || code === 0x5d) open.pop();
    else if (code === QUOTE) {
      const end = endOfString(text, at);
      if (text.charCodeAt(afterBlanks(text, end + 1)) === COLON) {
        const key = JSON.parse(text.slice(at, end + 1)) as string;
        const keys = open.at(-1);
        if (keys?.has(key)) return key;
        keys?.add(key);
      }
      at = end;
    }
  }
  return undefined;
}

function afterBlanks(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** The same as a complaint. */
export function duplicateProblem(text: string): string | undefined {
  const key = duplicateKey(text);
  return key === undefined
    ? undefined
    : `the key ${JSON.stringify(key.slice(0, 60))} stands twice in one object`;
}
