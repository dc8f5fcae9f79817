import type { ShellWord } from '../shell/model.js';

/** Settings without secrets. All others are shown of the repository alone: the user's files hold tokens. */
const PLAIN =
  /^(user\.(name|email)|init\.defaultbranch|core\.\w+|(pull|push|fetch|merge|rebase)\.\w+|branch\.[\w./-]+|remote\.[\w./-]+\.(url|fetch))$/i;

export function isPlainSetting(key: string): boolean {
  return PLAIN.test(key);
}

/** Settings by which git runs a program or trusts another file: as good as writing its file by hand. */
const RUN_BY_GIT =
  /^(alias|filter|pager|difftool|mergetool|browser|man|include|includeif|credential|gpg|trailer|protocol|uploadpack|guitool|hook|tar|sendemail|imap|instaweb)\.|^core\.(hookspath|fsmonitor|pager|editor|sshcommand|askpass|gitproxy|attributesfile|alternaterefscommand|worktree)$|^(sequence|diff|merge)\.(editor|external|tool)$|^(diff|merge)\..+\.(command|textconv|driver)$|^(interactive\.difffilter|gc\.recentobjectshook|lfs\.(customtransfer\..+\.path|extension\..+\.(clean|smudge)|standalonetransferagent)|help\.browser|pull\.(octopus|twohead)|init\.templatedir|safe\.directory|web\.browser)$|^(remote|url|submodule)\..+\.(receivepack|uploadpack|vcs|proxy|insteadof|pushinsteadof|update)$/i;

/** Files that `git config` writes, where that matters to others than git's own bookkeeping. */
export function configWrites(rest: readonly ShellWord[]): readonly string[] {
  const files = rest.flatMap((word, index) => {
    const file = /^(?:-f|--file=?)(.*)$/s.exec(word.value)?.[1];
    return file === '' ? [rest[index + 1]?.value ?? ''] : (file ?? []);
  });
  const values = rest.map(({ value }) => value);
  const at = values.findIndex((value) => RUN_BY_GIT.test(value));
  const looks = values.some((value) => /^--(get|unset|list|show)|^(get|list|unset)$/.test(value));
  const isSet = at !== -1 && !looks && values[at + 1] !== undefined;
  // fail-closed: an editor, or another name for a section, may set any of them.
  const isAny = values.some((value) =>
    /^(-e|--ed\w*|edit|--rename-s\S*|rename-section)$/.test(value),
  );
  return isSet || isAny ? [...files, '.git/config'] : files;
}

/** Hooks of a template go into the repository that is there. */
export function hooksOfTemplate(rest: readonly ShellWord[]): readonly string[] {
  const isTemplate = rest.some(({ value }) => /^--te|templatedir/i.test(value));
  return isTemplate ? ['.git/hooks'] : [];
}

/**
 * Settings that neither run anything nor lead anywhere. All trees share one configuration, so what is
 * written here counts for the main checkout too.
 */
const HARMLESS =
  /^(user\.(name|email|signingkey)|author\.(name|email)|committer\.(name|email)|branch\.[^\n]+\.(remote|merge|rebase|description)|init\.defaultbranch|push\.(default|autosetupremote|followtags)|pull\.(rebase|ff)|merge\.(ff|conflictstyle|renamelimit|log|stat)|rebase\.(autostash|autosquash|stat)|fetch\.prune|commit\.(verbose|gpgsign)|tag\.gpgsign|core\.(quotepath|autocrlf|eol|filemode|ignorecase|abbrev|safecrlf|whitespace|commentchar|longpaths|precomposeunicode)|color\.[\w.-]+|column\.[\w-]+|diff\.(algorithm|renames|renamelimit|context|noprefix|mnemonicprefix|colormoved|wserrorhighlight|submodule)|log\.(date|decorate|abbrevcommit|showsignature|follow)|status\.[\w-]+|advice\.[\w-]+|rerere\.(enabled|autoupdate)|blame\.[\w-]+|grep\.(linenumber|patterntype|extendedregexp|fullname)|gc\.auto|index\.version|protocol\.version|http\.(postbuffer|lowspeedlimit|lowspeedtime|version)|i18n\.\w+|format\.pretty|pretty\.[\w-]+|versionsort\.suffix|stash\.\w+|pack\.threads)$/i;

/** `key=value`. fail-closed: an unknown setting may start a program. */
export function isHarmlessSetting(setting: string): boolean {
  // A branch whose remote is `.` is pushed to this very repository.
  if (/^branch\.[^=]*\.remote=(?![\w-][\w.-]*$)/is.test(setting)) return false;
  return HARMLESS.test(setting.replace(/=.*$/s, ''));
}
