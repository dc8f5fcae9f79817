import type { BlockDelta, StreamEvent } from './client.js';

const BEGINNING = '{"type":"content_block_delta","index":';
const MIDDLE = ',"delta":{"type":"';
const END = '}}';

/** What stands between the middle and the text of each kind. */
const TEXT = 'text_delta","text":';
const INPUT = 'input_json_delta","partial_json":';
const THINKING = 'thinking_delta","thinking":';

/** Of an answer of more blocks they are parsed like everything else. */
const MOST_DIGITS = 3;

/**
 * The event of a piece of a block, where it is written as nearly every server writes it: then all but the text in
 * it is known, and only that has to be parsed. Most of an answer is such pieces. Undefined: it is written
 * otherwise, or not at all as it should be.
 */
export function plainDelta(data: string): StreamEvent | undefined {
  if (!data.startsWith(BEGINNING) || !data.endsWith(END)) return undefined;
  const middle = data.indexOf(MIDDLE, BEGINNING.length);
  const index = middle === -1 ? undefined : plainIndex(data, middle);
  if (index === undefined) return undefined;
  const delta = deltaAt(data, middle + MIDDLE.length);
  return delta === undefined ? undefined : { type: 'content_block_delta', index, delta };
}

function plainIndex(data: string, end: number): number | undefined {
  const digits = end - BEGINNING.length;
  if (digits < 1 || digits > MOST_DIGITS) return undefined;
  const text = data.slice(BEGINNING.length, end);
  const index = Number(text);
  // JSON has no leading zeros, blanks or signs here.
  return Number.isInteger(index) && index >= 0 && String(index) === text ? index : undefined;
}

function deltaAt(data: string, at: number): BlockDelta | undefined {
  if (data.startsWith(TEXT, at)) {
    const text = textAt(data, at + TEXT.length);
    return text === undefined ? undefined : { type: 'text_delta', text };
  }
  if (data.startsWith(INPUT, at)) {
    const partial_json = textAt(data, at + INPUT.length);
    return partial_json === undefined ? undefined : { type: 'input_json_delta', partial_json };
  }
  if (!data.startsWith(THINKING, at)) return undefined;
  const thinking = textAt(data, at + THINKING.length);
  return thinking === undefined ? undefined : { type: 'thinking_delta', thinking };
}

/** What stands from here to the end, if it is one text and nothing else. */
function textAt(data: string, at: number): string | undefined {
  try {
    const value: unknown = JSON.parse(data.slice(at, -END.length));
    return typeof value === 'string' ? value : undefined;
  } catch {
    // More than a text, or a broken one: whoever parses the whole says what is wrong.
    return undefined;
  }
}
