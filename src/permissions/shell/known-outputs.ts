import type { ShellWord } from './model.js';
import { scriptsOfSed } from './sed.js';
import { scanSed } from './sed-script.js';

/** Settings by which git runs a program or trusts another file: as good as writing its file by hand. */
const RUN_BY_GIT =
  /^(alias|filter|pager|difftool|mergetool|browser|man|include|includeif|credential|gpg|trailer|protocol|uploadpack)\.|^core\.(hookspath|fsmonitor|pager|editor|sshcommand|askpass|gitproxy|attributesfile|alternaterefscommand|worktree)$|^(sequence|diff|merge)\.(editor|external|tool)$|^(diff|merge)\..+\.(command|textconv|driver)$|^(init\.templatedir|safe\.directory|web\.browser)$|^(remote|url|submodule)\..+\.(receivepack|uploadpack|vcs|proxy|insteadof|pushinsteadof|update)$/i;

/** Files that `git config` writes, where that matters to others than git's own bookkeeping. */
export function gitConfigWrites(rest: readonly ShellWord[]): readonly string[] {
  const files = rest.flatMap((word, index) => {
    const file = /^(?:-f|--file=?)(.*)$/s.exec(word.value)?.[1];
    return file === '' ? [rest[index + 1]?.value ?? ''] : (file ?? []);
  });
  const values = rest.map(({ value }) => value);
  const at = values.findIndex((value) => RUN_BY_GIT.test(value));
  const looks = values.some((value) => /^--(get|unset|list|show)|^(get|list|unset)$/.test(value));
  const isSet = at !== -1 && !looks && values[at + 1] !== undefined;
  return isSet ? [...files, '.git/config'] : files;
}

/** Files that scripts of sed write. */
export function sedOutputs(rest: readonly ShellWord[]): readonly string[] {
  const values = rest.map(({ value }) => value);
  return (scriptsOfSed(values) ?? values).flatMap((script) => scanSed(script).writes);
}
