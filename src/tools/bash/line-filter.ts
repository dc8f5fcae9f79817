import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';

/** Longest part of a line that the expression sees; with the limits below it bounds the cost of a line. */
const LINE_CAP = 300;
const PATTERN_CAP = 300;
const MAX_REPETITIONS = 2;
const MAX_OPTIONALS = 4;
const BUDGET_MS = 500;

export interface FilteredLines {
  readonly lines: readonly string[];
  /** False when the expression took too long and the rest of the lines went unseen. */
  readonly complete: boolean;
}

/**
 * Lines that match an expression somebody else wrote. Expressions whose matching time can explode are
 * refused, since nothing can interrupt one; the others are given a bounded time for all lines.
 */
export function filterLines(text: string, pattern: string): Result<FilteredLines, string> {
  const slow = slownessOf(pattern);
  if (slow !== undefined) return err(slow);
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

/** fail-closed: whatever might take more than polynomial time of a low degree is too slow. */
function slownessOf(pattern: string): string | undefined {
  if (pattern.length > PATTERN_CAP) return `it is longer than ${PATTERN_CAP} characters`;
  if (/\\[1-9]|\\k</.test(pattern)) return 'back references are not supported';
  const bare = pattern
    .replace(/\\./gs, 'x')
    .replace(/\[\^?\]?[^\]]*\]/g, 'x')
    .replace(/\(\?(:|<?[=!]|<\w+>)/g, '(');
  if (/\)[*+{]/.test(bare)) return 'it repeats a group; leave the repetition out';
  const repetitions = bare.match(/[*+]|\{\d/g) ?? [];
  if (repetitions.length > MAX_REPETITIONS) {
    return `it has more than ${MAX_REPETITIONS} repetitions`;
  }
  const optionals = bare.replace(/([*+}])\?/g, '$1').match(/\?/g) ?? [];
  return optionals.length > MAX_OPTIONALS
    ? `it has more than ${MAX_OPTIONALS} optional parts`
    : undefined;
}
