import { redact } from '../lib/redact.js';

/** What is longer is cut before it is written down. */
export const LONGEST_TEXT = 8_000;

/** Further than that no secret that matters reaches. */
const LONGEST_SECRET = 1_000;

/** A text as it may be written down: without secrets of known shapes, and not too long. */
export function cleanText(text: string): string {
  return text.length > LONGEST_TEXT ? cleanBeginning(text, LONGEST_TEXT) : redact(text);
}

/**
 * The beginning of a text. What was cut in its middle has no known shape any more, so secrets are taken out of
 * more than is kept.
 */
export function cleanBeginning(text: string, most: number): string {
  if (most === 0) return '';
  const seen = most + LONGEST_SECRET;
  const clean = redact(text.slice(0, seen));
  return clean.slice(0, text.length > seen ? Math.max(0, clean.length - LONGEST_SECRET) : most);
}
