import { err, ok, type Result } from '../result.js';
import { editDistance } from '../text/nearest.js';

/** `allowed-tools`, `allowedTools` and `Allowed_Tools` are one name of a field. */
export function canonicalName(name: string): string {
  return name.replace(/[-_\s]/g, '').toLowerCase();
}

/** Other words for a list of tools that are taken away, in canonical form. */
export const BANS =
  /^(?:den(?:y|ied)|block(?:ed)?|ban(?:ned)?|disabled?|forbidden|excluded?)tools?$/;

/**
 * Whether a name is up to two mistakes away from another, both in canonical form. Names shorter than
 * `long` are as near to other words, so that one mistake is the most for them.
 */
export function isNearName(name: string, other: string, long: number): boolean {
  const most = other.length < long ? 1 : 2;
  return Math.abs(name.length - other.length) <= most && editDistance(name, other) <= most;
}

const YES = new Set(['true', 'yes', 'on', '1']);
const NO = new Set(['false', 'no', 'off', '0']);

/** true/false, yes/no, on/off, 1/0, in any case. Undefined: it is none of them. */
export function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const word = String(value).trim().toLowerCase();
  if (YES.has(word)) return true;
  return NO.has(word) ? false : undefined;
}

/** A single text; numbers and the like as they are written. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/**
 * A list, or a text whose items are separated by commas or blanks. What is in brackets stays whole:
 * `Bash(git add *), Read` are two, `src/*.{ts,tsx}` is one.
 */
export function listOf(value: unknown): Result<readonly string[], string> {
  if (value === null || value === undefined) return ok([]);
  if (Array.isArray(value)) {
    const items = value.map(textOf);
    const whole = items.filter((item) => item !== undefined).map((item) => item.trim());
    if (whole.length < items.length) return err('holds something that is not a text');
    return ok(whole.filter((item) => item !== ''));
  }
  return typeof value === 'string' ? splitItems(value) : err('is neither a list nor a text');
}

const OPENING = '({[';
const CLOSING = ')}]';

function splitItems(text: string): Result<readonly string[], string> {
  const items: string[] = [];
  let item = '';
  let depth = 0;
  for (const char of text) {
    depth = Math.max(0, depth + stepOf(char));
    if (depth === 0 && /[\s,]/.test(char)) {
      if (item !== '') items.push(item);
      item = '';
    } else item += char;
  }
  // fail-closed: an unclosed bracket leaves the boundaries of the items unclear.
  if (depth !== 0) return err(`does not close a bracket: ${item}`);
  return ok(item === '' ? items : [...items, item]);
}

function stepOf(char: string): number {
  if (OPENING.includes(char)) return 1;
  return CLOSING.includes(char) ? -1 : 0;
}
