import { redact } from '../util/redact.js';

/** What is longer is cut before it is written down. */
export const LONGEST_TEXT = 8_000;

/** A text as it may be written down: without secrets of known shapes, and not too long. */
export function cleanText(text: string): string {
  return redact(text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text);
}
