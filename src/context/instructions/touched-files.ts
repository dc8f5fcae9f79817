import { wordSet } from '../../lib/patterns/word-set.js';
import type { JudgedCall } from '../../permissions/gate/types.js';
import { possibleFileUse } from '../../permissions/shell/file-commands.js';
import { programOf, type SimpleCommand } from '../../permissions/shell/model.js';
import { resolve } from '../../platform/fs/paths.js';

/** Programs that print what their files hold. */
const PRINTING = wordSet(
  'cat tac nl less more bat wc strings head tail grep egrep fgrep zgrep rg sed awk jq cut sort uniq diff xxd od',
);

/** The files whose content a call has shown or written. */
export async function touchedFiles(view: JudgedCall): Promise<readonly string[]> {
  const { subject, tool } = view.call;
  if (subject.command !== undefined) {
    return ((await view.shell())?.commands ?? []).flatMap(filesShownBy);
  }
  return tool.kind === 'read' || tool.kind === 'edit' ? subject.paths.map(({ path }) => path) : [];
}

/**
 * The files whose content a command shows, and those that a redirection reads. What is decided at run
 * time is left out.
 */
export function filesShownBy({
  words,
  redirections,
  directories = [],
}: Pick<SimpleCommand, 'words' | 'redirections' | 'directories'>): readonly string[] {
  const isPrinting = PRINTING.has(programOf(words) ?? '');
  const named = isPrinting ? possibleFileUse(words).reads : [];
  const redirected = redirections.flatMap(({ access, target }) =>
    access === 'read' && target?.literal === true && target.pattern === undefined
      ? [target.value]
      : [],
  );
  return [...named, ...redirected]
    .filter((name) => name !== '' && name !== '-' && !name.startsWith('/dev/'))
    .flatMap((name) => directories.map((directory) => resolve(directory, name)));
}
