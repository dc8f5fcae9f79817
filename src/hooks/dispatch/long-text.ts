import { messageOf } from '../../errors.js';
import { headAndTail, sliceWhole } from '../../lib/truncate.js';
import { sha256 } from '../../platform/hash.js';

/** Characters of one text of a hook that the model is shown whole. */
export const LONGEST_HOOK_TEXT = 10_000;
const PREVIEW = 2_000;

export interface LongTextFiles {
  /** Saves a text under a name, for its owner alone, and resolves to the path. */
  write(name: string, text: string): Promise<string>;
}

/**
 * The text itself when it is short enough, else its beginning and the file that holds all of it.
 * When it cannot be saved, its beginning and end, and the reason.
 */
export async function spillLong(text: string, files: LongTextFiles): Promise<string> {
  if (text.length <= LONGEST_HOOK_TEXT) return text;
  try {
    // The same text has the same name, so a hook that says it every turn fills one file.
    const path = await files.write(`hook-${sha256(text).slice(0, 16)}.txt`, text);
    const preview = sliceWhole(text, 0, PREVIEW);
    return `${preview}\n… [${text.length} characters in all; the whole text: ${path}]`;
  } catch (thrown) {
    const cut = headAndTail(text, LONGEST_HOOK_TEXT);
    return `${cut}\n[The part left out could not be saved: ${messageOf(thrown)}]`;
  }
}
