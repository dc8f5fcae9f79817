import { withoutHidden } from '../context/instructions/text.js';

/**
 * A skill's text as the model gets it: without what a person who reads the file cannot see, and
 * without marks of ours, so that neither its author nor the output of a command speaks as the
 * program. Commands were run as they are written.
 */
export function shownText(text: string): { readonly text: string; readonly removed: number } {
  const { text: seen, removed } = withoutHidden(text);
  return { text: seen.replace(MARK, '&lt;$1system-reminder'), removed };
}

const MARK = /<(\s{0,9}\/?\s{0,9})system-reminder/gi;
