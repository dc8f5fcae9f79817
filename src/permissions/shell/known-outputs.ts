import type { ShellWord } from './model.js';
import { scriptsOfSed } from './sed.js';
import { scanSed } from './sed-script.js';

/** Settings by which git runs a program or trusts another file: as good as writing its file by hand. */
const RUN_BY_GIT =
  /^(alias|filter|pager|difftool|mergetool|browser|man|include|includeif|credential|gpg|trailer|protocol|uploadpack|guitool|hook|tar|sendemail|imap)\.|^core\.(hookspath|fsmonitor|pager|editor|sshcommand|askpass|gitproxy|attributesfile|alternaterefscommand|worktree)$|^(sequence|diff|merge)\.(editor|external|tool)$|^(diff|merge)\..+\.(command|textconv|driver)$|^(interactive\.difffilter|gc\.recentobjectshook|lfs\.customtransfer\..+\.path|init\.templatedir|safe\.directory|web\.browser)$|^(remote|url|submodule)\..+\.(receivepack|uploadpack|vcs|proxy|insteadof|pushinsteadof|update)$/i;

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
  // fail-closed: an editor, or another name for a section, may set any of them.
  const isAny = values.some((value) =>
    /^(-e|--ed\w*|edit|--rename-s\S*|rename-section)$/.test(value),
  );
  return isSet || isAny ? [...files, '.git/config'] : files;
}

/** Files that scripts of sed write. */
export function sedOutputs(rest: readonly ShellWord[]): readonly string[] {
  const values = rest.map(({ value }) => value);
  return (scriptsOfSed(values) ?? values).flatMap((script) => scanSed(script).writes);
}

/** Subcommands of git that change the files they name. */
const GIT_WRITES =
  /^(add|am|apply|bundle|checkout|checkout-index|clean|clone|credential-store|fast-import|index-pack|init|mailinfo|mailsplit|merge-file|mv|pack-objects|read-tree|reset|restore|revert|rm|stash|submodule|switch|worktree)$/;

/** Whether this is a word by which git changes files, for a quick look. */
export function isGitWrite(word: string): boolean {
  return GIT_WRITES.test(word);
}

const GIT_VALUED =
  /^(-[cC]|--(git-dir|work-tree|exec-path|namespace|super-prefix|config-env|attr-source))$/;

/** Files that git writes because it is told to; undefined where its subcommand names none. */
export function gitWrites(
  rest: readonly ShellWord[],
  operands: readonly string[],
): readonly string[] | undefined {
  const values = rest.map(({ value }) => value);
  const subcommand = values.find(
    (value, at) => !value.startsWith('-') && !GIT_VALUED.test(values[at - 1] ?? ''),
  );
  if (subcommand === 'config') return gitConfigWrites(rest);
  // Hooks of a template go into the repository that is there.
  const isTemplate = values.some((value) => /^--te|templatedir/i.test(value));
  const hooks = subcommand === 'init' && isTemplate ? ['.git/hooks'] : [];
  return isGitWrite(subcommand ?? '') ? [...operands, ...hooks] : undefined;
}

const TAR_FILES =
  /^--(?:listed-incremental|index-file|volno-file|one-top-level|directory|dir\w*|cd)(?:=(.*))?$/s;
const TAR_RENAMES = /^(?:--(?:transform|xform)(?:=(.*))?|-s(.*))$/s;

/** Files that tar writes: the archive, what it keeps lists in, and what it takes out by name. */
export function tarWrites(rest: readonly ShellWord[]): readonly string[] {
  const values = rest.map(({ value }) => value);
  const letters = values.map((value, at) =>
    at === 0 && /^[a-zA-Z]+$/.test(value) ? value : (/^-([a-zA-Z]+)/.exec(value)?.[1] ?? ''),
  );
  const has = (short: string, long: RegExp): boolean =>
    letters.some((cluster) => [...cluster].some((letter) => short.includes(letter))) ||
    values.some((value) => long.test(value));
  const makes = has('cruA', /^--(create|append|update|cat|concat|delete)/);
  const takes = has('x', /^--(extract|get)$/);
  const removes = values.some((value) => /^--remove/.test(value));
  const named = values.filter((value, at) => at > 0 && !value.startsWith('-'));
  const options = values.flatMap((value, at) => {
    const next = values[at + 1] ?? '';
    const list = TAR_FILES.exec(value);
    if (list !== null) return [list[1] ?? next];
    const file = /^--file(?:=(.*))?$/s.exec(value);
    if (file !== null) return makes ? [file[1] ?? next] : [];
    const renames = takes ? TAR_RENAMES.exec(value) : null;
    if (renames !== null) return renamedTo(renames[1] ?? (renames[2] || next));
    // Of a bundle the last letter has its value behind it, or all have theirs, in their order.
    const short = /^-?[a-zA-Z]*?([fgC])(.*)$/s.exec(letters[at] === '' ? '' : value);
    if (short === null || (short[1] === 'f' && !makes)) return [];
    return [short[2] ?? '', ...values.slice(at + 1, at + 4)];
  });
  return [...options, ...(takes || removes ? named : [])].filter((one) => one !== '');
}

/** What `s,from,to,` puts in: any part of it. */
function renamedTo(script: string): readonly string[] {
  const delimiter = script.charAt(script.startsWith('s') ? 1 : 0);
  const plain = script.replaceAll(`\\${delimiter}`, delimiter === '/' ? '\0' : delimiter);
  return plain.split(delimiter).map((part) => part.replaceAll('\0', '/').replace(/^\^/, ''));
}
