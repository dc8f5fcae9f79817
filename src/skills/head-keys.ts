import type { Frontmatter } from '../util/frontmatter.js';

const KEY = /^(?:([A-Za-z_][\w.-]*)|"([^"]+)"|'([^']+)')[ \t]*:(?:\s|$)/;
/** A head that is not closed is looked through this far. */
const MOST_LINES = 400;

/**
 * The names at the left edge of a head with their lines, whether a reader understood them or not.
 * Of a head that is not closed all lines are looked at: it may have been meant to go on.
 */
export function writtenKeys(
  text: string,
  read: Pick<Frontmatter, 'bodyLine' | 'how' | 'problem'>,
): ReadonlyMap<string, number> {
  const keys = new Map<string, number>();
  if (read.how === 'none' && read.problem === undefined) return keys;
  const end = read.how === 'none' ? MOST_LINES : read.bodyLine - 1;
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n?|\n/, end);
  for (const [index, line] of lines.entries()) {
    const match = KEY.exec(line);
    const name = match?.[1] ?? match?.[2] ?? match?.[3];
    if (name !== undefined && !keys.has(name)) keys.set(name, index + 1);
  }
  return keys;
}
