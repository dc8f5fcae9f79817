import type { AskIncludes } from '../harness.js';
import { visible } from '../util/visible.js';
import type { AskLine } from './terminal-input.js';

export interface IncludeQuestion {
  out(text: string): void;
  readonly ask: AskLine;
}

/**
 * Before a conversation: shows which files from outside the project its instructions would bring in.
 * A yes and a no are kept for exactly these files.
 */
export function askAboutIncludes({ out, ask }: IncludeQuestion): AskIncludes {
  return async (pending) => {
    const lines = pending.map(({ realPath, path, parent }) =>
      parent === undefined
        ? `  ${visible(realPath)}  (${visible(path)} is a link to it)`
        : `  ${visible(realPath)}  (named in ${visible(parent)})`,
    );
    const question = [
      '',
      "This project's instructions include files from outside the project:",
      ...lines,
      '',
      'Their contents will be sent to the model provider.',
      'Include them? [y/n] ',
    ].join('\n');
    // fail-closed: anything but a clear yes is a no, and so is the end of input.
    const answer = (await ask(question))?.trim() ?? '';
    if (/^(y|yes)$/i.test(answer)) {
      out('Approved for these files. `portcullis context decline <path>` takes it back.\n');
      return 'approve';
    }
    const isNo = /^(n|no)$/i.test(answer);
    out(
      isNo
        ? 'Not included. `portcullis context approve <path>` changes that.\n'
        : '\nNot included this time.\n',
    );
    return isNo ? 'decline' : 'later';
  };
}
