import type { DoubtfulLine } from '../../lib/frontmatter.js';
import { firstWord } from '../../lib/tolerant-head.js';
import { isCompound, LIMITS, nearLimit } from './unknown-fields.js';
import { plain } from './values.js';

/** A line of a head that was read line by line, of which nothing was taken. */
export interface LostLimit {
  /** The limit that it begins or goes on with. */
  readonly field: string;
  /** From 1, in the file. */
  readonly line: number;
}

/**
 * Limits that the reader of lines has passed over: a line that names one without being `field: value`
 * (`maxTurns = 3`), and one at the left edge below a limit that is no part of its value. Other lines
 * are mostly a description that goes on at the left edge.
 */
export function unparsedLimits(
  doubtful: readonly DoubtfulLine[],
  knownTools: readonly string[],
): readonly LostLimit[] {
  const found: LostLimit[] = [];
  for (const { text, line, below } of doubtful) {
    if (/^\s*(?:#|$)/.test(text)) continue;
    const above = below === undefined || CONTINUED.test(text) ? undefined : limitOf(below);
    const lost = limitNamed(text, knownTools) ?? above;
    if (lost !== undefined) found.push({ field: lost, line });
    if (found.length >= MOST) break;
  }
  return found;
}

const MOST = 5;
const CONTINUED = /^(?:[ \t]|-(?: |$))/;
const VALUES: ReadonlySet<string> = new Set(['worktree', 'none', 'asks', 'budget', 'workspace']);

function limitOf(name: string): string | undefined {
  return LIMITS.find((one) => plain(one) === plain(name)) ?? nearLimit(name);
}

function limitNamed(line: string, knownTools: readonly string[]): string | undefined {
  const { word, rest, isSeparated } = firstWord(line);
  const limit = word === '' ? undefined : limitOf(word);
  if (limit === undefined) return undefined;
  // Many a sentence begins with "tools" and the like.
  if (isCompound(word) || isSeparated) return limit;
  const next = /^\s+["'[]?([\w*]+)/.exec(rest)?.[1] ?? '';
  return VALUES.has(next) || knownTools.includes(next) ? limit : undefined;
}
