import { matches, segmentTokens } from '../wildcard.js';
import type { TreeSkips } from './tree-use.js';

/**
 * Whether a name fits one of these globs, for what a command leaves out: only globs that every
 * program reads alike count.
 */
export function globMatcher(globs: readonly string[]): (name: string) => boolean {
  // fail-closed: braces, sets and slashes mean other things to other programs.
  const tokens = globs
    .filter((glob) => /^[^/{}[\]\\!,]+$/.test(glob))
    .map((glob) => segmentTokens(glob));
  return (name) => tokens.some((one) => matches(one, name));
}

/** As of many programs: a glob that ends with a slash speaks of directories alone. */
export function leftOutBy(
  globs: readonly string[],
): Required<Pick<TreeSkips, 'file' | 'directory'>> {
  return {
    file: globMatcher(globs.filter((glob) => !glob.endsWith('/'))),
    directory: globMatcher(globs.map((glob) => glob.replace(/\/$/, ''))),
  };
}
