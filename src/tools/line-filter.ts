import { messageOf } from '../errors.js';
import { err, ok, type Result } from '../util/result.js';

/** Longest part of a line that the expression sees; bounds what a slow expression can cost. */
const LINE_CAP = 500;
const PATTERN_CAP = 300;
const BUDGET_MS = 500;

export interface FilteredLines {
  readonly lines: readonly string[];
  /** False when the expression took too long and the rest of the lines went unseen. */
  readonly complete: boolean;
}

/**
 * Lines that match an expression somebody else wrote. Expressions whose matching time can explode are
 * refused; the others are given a bounded time.
 */
export function filterLines(text: string, pattern: string): Result<FilteredLines, string> {
  if (pattern.length > PATTERN_CAP) return err(`longer than ${PATTERN_CAP} characters`);
  // fail-closed: repetition of a repetition, and back references, can take exponential time.
  if (NESTED_REPETITION.test(pattern)) return err('it repeats a group that itself repeats');
  if (/\\[1-9]|\\k</.test(pattern)) return err('back references are not supported');
  let expression: RegExp;
  try {
    expression = new RegExp(pattern);
  } catch (thrown) {
    return err(messageOf(thrown));
  }
  const deadline = performance.now() + BUDGET_MS;
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    if (performance.now() > deadline) return ok({ lines, complete: false });
    if (expression.test(line.slice(0, LINE_CAP))) lines.push(line);
  }
  return ok({ lines, complete: true });
}

/** `(…+…)*` and alternatives under a repetition. */
const NESTED_REPETITION = /\([^)]*[+*}|][^)]*\)\s*[+*{]/;
