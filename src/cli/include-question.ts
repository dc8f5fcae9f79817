import type { AskIncludes } from '../harness.js';
import { visible } from '../util/visible.js';

export interface IncludeQuestion {
  out(text: string): void;
  /** The next line that the person types; undefined at the end of input. */
  nextLine(): Promise<string | undefined>;
}

/**
 * Before a conversation: shows which files from outside the project its instructions would bring in.
 * A yes and a no are kept for exactly these files.
 */
export function askAboutIncludes({ out, nextLine }: IncludeQuestion): AskIncludes {
  return async (pending) => {
    const lines = pending.map(({ realPath, path, parent }) =>
      parent === undefined
        ? `  ${visible(realPath)}  (${visible(path)} is a link to it)`
        : `  ${visible(realPath)}  (named in ${visible(parent)})`,
    );
    out(
      [
        '',
        'Instructions of this project want to show the model files from outside of it:',
        ...lines,
        '',
        'Whatever stands in them goes to the provider of the model.',
        '',
      ].join('\n'),
    );
    out('Show them? [y/n] ');
    // fail-closed: anything but a clear yes is a no, and so is the end of input.
    const answer = (await nextLine())?.trim() ?? '';
    if (/^(y|yes)$/i.test(answer)) {
      out('Approved for these files. `portcullis context decline <path>` takes it back.\n');
      return 'approve';
    }
    const isNo = /^(n|no)$/i.test(answer);
    out(
      isNo
        ? 'Not shown. `portcullis context approve <path>` changes that.\n'
        : '\nNot shown this time.\n',
    );
    return isNo ? 'decline' : 'later';
  };
}
