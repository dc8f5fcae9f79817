import type { Frontmatter } from '../util/frontmatter.js';

const KEY = /^(?:([A-Za-z_][\w.-]*)|"([^"]+)"|'([^']+)')[ \t]*:(?:\s|$)/;
/** The same where nobody knows what belongs to what: further in, and inside of braces. */
const ANY_KEY = /(?:^|[{,])[ \t]*(?:- +)?["']?([A-Za-z_][\w.-]*)["']?[ \t]*:(?=[\s"'[{]|$)/g;
/** And where the blank behind the colon was forgotten. */
const KEY_WITHOUT_BLANK = /^[ \t]*([A-Za-z_][\w.-]*):(?=\w)/;
/** A head that is not closed is looked through this far. */
const MOST_LINES = 400;

/**
 * The names of a head with their lines, whether a reader understood them or not: those at the left
 * edge, and in a head that cannot be read all that look like one. Of a head that is not closed all
 * lines are looked at: it may have been meant to go on.
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
    for (const name of namesIn(line, read.problem === undefined)) {
      if (!keys.has(name)) keys.set(name, index + 1);
    }
  }
  return keys;
}

function namesIn(line: string, isClear: boolean): readonly string[] {
  if (!isClear) {
    const tight = KEY_WITHOUT_BLANK.exec(line)?.[1];
    const names = [...line.matchAll(ANY_KEY)].map((match) => match[1] ?? '');
    return tight === undefined ? names : [tight, ...names];
  }
  const match = KEY.exec(line);
  const name = match?.[1] ?? match?.[2] ?? match?.[3];
  return name === undefined ? [] : [name];
}
