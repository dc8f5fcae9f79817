import { matches, segmentTokens } from '../wildcard.js';

/**
 * Whether a name fits one of these globs, for what a command leaves out: only globs that every
 * program reads alike count.
 */
export function globMatcher(globs: readonly string[]): (name: string) => boolean {
  // fail-closed: braces, sets and slashes mean other things to other programs.
  const tokens = globs.filter((glob) => /^[^/{}[\]\\!,]+$/.test(glob)).map(segmentTokens);
  return (name) => tokens.some((one) => matches(one, name));
}
