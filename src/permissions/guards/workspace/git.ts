import { readOnlyUse } from '../../shell/effects/uses.js';
import { literalWord, type ShellWord } from '../../shell/model.js';
import { takesBranches } from './branches.js';

/** A git command apart from the options in front of its subcommand. */
interface GitCall {
  readonly subcommand: string | undefined;
  readonly rest: readonly string[];
  /** Directories of `-C`. */
  readonly moves: readonly string[];
  readonly redirect?: string;
}

const REDIRECTS =
  /^--(git-dir|work-tree|exec-path|config-env|namespace|super-prefix|bare|attr-source)(=|$)/;
const WITH_VALUE = new Set([
  '--git-dir',
  '--work-tree',
  '--config-env',
  '--namespace',
  '--super-prefix',
  '--attr-source',
]);
/**
 * Settings that neither run anything nor lead anywhere. All trees share one configuration, so what is
 * written here counts for the main checkout too.
 */
const HARMLESS_KEY =
  /^(user\.(name|email|signingkey)|author\.(name|email)|committer\.(name|email)|branch\.[^\n]+\.(remote|merge|rebase|description)|init\.defaultbranch|push\.(default|autosetupremote|followtags)|pull\.(rebase|ff)|merge\.(ff|conflictstyle|renamelimit|log|stat)|rebase\.(autostash|autosquash|stat)|fetch\.prune|commit\.(verbose|gpgsign)|tag\.gpgsign|core\.(quotepath|autocrlf|eol|filemode|ignorecase|abbrev|safecrlf|whitespace|commentchar|longpaths|precomposeunicode)|color\.[\w.-]+|column\.[\w-]+|diff\.(algorithm|renames|renamelimit|context|noprefix|mnemonicprefix|colormoved|wserrorhighlight|submodule)|log\.(date|decorate|abbrevcommit|showsignature|follow)|status\.[\w-]+|advice\.[\w-]+|rerere\.(enabled|autoupdate)|blame\.[\w-]+|grep\.(linenumber|patterntype|extendedregexp|fullname)|gc\.auto|index\.version|protocol\.version|http\.(postbuffer|lowspeedlimit|lowspeedtime|version)|i18n\.\w+|format\.pretty|pretty\.[\w-]+|versionsort\.suffix|stash\.\w+|pack\.threads)$/i;

/** fail-closed: of a setting that is not known nobody can say what it starts. */
function isHarmless(setting: string): boolean {
  // A branch whose remote is `.` is pushed to this very repository.
  if (/^branch\.[^=]*\.remote=(?![\w-][\w.-]*$)/is.test(setting)) return false;
  return HARMLESS_KEY.test(setting.replace(/=.*$/s, ''));
}

function readGit(values: readonly string[]): GitCall {
  const moves: string[] = [];
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? '';
    if (value === '-C') moves.push(values[++at] ?? '');
    else if (value.startsWith('-C')) moves.push(value.slice(2));
    else if (REDIRECTS.test(value)) {
      const subcommand = values[at + (WITH_VALUE.has(value) ? 2 : 1)];
      return { subcommand, rest: values.slice(at + 2), moves, redirect: value };
    } else if (value === '-c') {
      const setting = values[++at] ?? '';
      if (!isHarmless(setting)) {
        return { subcommand: undefined, rest: [], moves, redirect: `-c ${setting}` };
      }
    } else if (/^-c./.test(value) && !isHarmless(value.slice(2))) {
      return { subcommand: undefined, rest: [], moves, redirect: value };
    } else if (!value.startsWith('-')) {
      return { subcommand: value, rest: values.slice(at + 1), moves };
    }
  }
  return { subcommand: undefined, rest: [], moves };
}

interface GitVerdict {
  /** Why it is refused as it stands. */
  readonly problem?: string;
  /** Directories that it goes to first. */
  readonly moves: readonly string[];
  /** Words that may be files: messages are not. */
  readonly operands: readonly string[];
  /** What stands behind `push`: where that leads is told by the repository. */
  readonly push?: readonly string[];
}

/** Subcommands that change files all over the tree. */
const TREE_WIDE = new Set(
  `checkout switch reset restore stash merge rebase pull cherry-pick revert am apply clean submodule
  read-tree checkout-index sparse-checkout bisect filter-branch filter-repo subtree`.split(/\s+/),
);
const TAKES_TEXT =
  /^(-[a-zA-Z]*m|--message|-F-|--author|--date|--trailer|-S|-G|--grep|--format|--pretty)$/;
const DANGEROUS = [
  '--ignore-other-worktrees',
  '--unsafe-paths',
  '--no-index',
  '--separate-git-dir',
  '--reference',
  '--template',
];

/** Git takes the beginning of an option for all of it. */
function isShortFor(value: string, option: string): boolean {
  const [name = ''] = value.split('=', 1);
  return name.length > 2 && option.startsWith(name);
}

/**
 * What a git command means for the fence. `whole`: the workspace is a whole working tree; else it is
 * a part of one, and commands for all of the tree reach beyond it.
 */
export function judgeGit(
  words: readonly ShellWord[],
  { whole }: { readonly whole: boolean },
): GitVerdict {
  const values = words.slice(1).map((word) => word.value);
  const { subcommand, rest, moves, redirect } = readGit(values);
  const verdict = { moves, operands: operandsOf(rest) };
  if (redirect !== undefined) {
    return { ...verdict, problem: `\`git ${redirect}\` leads git to another place` };
  }
  if (subcommand === 'worktree' && rest[0] !== 'list') {
    return { ...verdict, problem: '`git worktree` changes the trees of others' };
  }
  if (subcommand === 'config') {
    const setting = configProblem(rest);
    if (setting !== undefined) {
      return {
        ...verdict,
        problem: `\`git config ${setting}\` would change git for the main checkout too`,
      };
    }
  }
  const flag = rest.find((value) => DANGEROUS.some((option) => isShortFor(value, option)));
  if (flag !== undefined) return { ...verdict, problem: `\`${flag}\` reaches beyond this tree` };
  const stray = strayPattern(words, subcommand ?? '');
  if (stray !== undefined) {
    return { ...verdict, problem: `\`${stray}\` is no plain word for git` };
  }
  const taken =
    subcommand === undefined
      ? undefined
      : takesBranches({ subcommand, rest, operands: verdict.operands, whole });
  if (taken !== undefined) {
    return { ...verdict, problem: `\`git ${taken}\` may move a branch that others work on` };
  }
  if (!whole && subcommand !== undefined && TREE_WIDE.has(subcommand)) {
    return {
      ...verdict,
      problem: `\`git ${subcommand}\` changes files all over the repository, of which this agent works in one directory`,
    };
  }
  return subcommand === 'push' ? { ...verdict, push: rest } : verdict;
}

/**
 * A pattern where git takes names of branches, remotes or settings: a file by the name of `HEAD:main`
 * would be put in its place.
 */
function strayPattern(words: readonly ShellWord[], subcommand: string): string | undefined {
  const wild = words.findIndex((word) => word.pattern !== undefined);
  if (wild === -1) return undefined;
  const isEarly = wild <= words.findIndex((word) => word.value === subcommand);
  return isEarly || TAKES_NAMES.test(subcommand) ? words[wild]?.raw : undefined;
}

const TAKES_NAMES = /^(fetch|pull|push|branch|remote|switch|symbolic-ref|config|worktree)$/;

/** Without texts, and without options that have none attached. */
function operandsOf(rest: readonly string[]): readonly string[] {
  const operands: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const value = rest[at] ?? '';
    if (TAKES_TEXT.test(value)) at++;
    else if (/^(-m|--message=|--author=|--date=|--format=|--pretty=|--grep=)/.test(value)) continue;
    else operands.push(value);
  }
  return operands;
}

const CONFIG_READS =
  /^(--get|--get-all|--get-regexp|--get-urlmatch|--get-color|--get-colorbool|-l|--list)$/;
const CONFIG_OPTIONS =
  /^(--local|--worktree|--type(=[\w-]+)?|--bool|--int|--bool-or-int|-z|--null|--show-origin|--show-scope|--name-only|--includes|--no-includes|--default=.*)$/;
/** Only for looking: what they name is not this agent's to change. */
const CONFIG_PLACES = /^(--global|--system|-f|--file(=.*)?|--blob(=.*)?)$/;
const CONFIG_WRITES = /^(--add|--replace-all|--unset|--unset-all|--all|--append|--fixed-value)$/;

/** What a `git config` would change that counts elsewhere; undefined when it only looks, or is harmless. */
function configProblem(rest: readonly string[]): string | undefined {
  const options = rest.filter((value) => value.startsWith('-'));
  const operands = rest.filter((value) => !value.startsWith('-'));
  const [first] = operands;
  const isPlain = options.every((one) => CONFIG_OPTIONS.test(one) || CONFIG_PLACES.test(one));
  const isRead = (one: string): boolean =>
    CONFIG_READS.test(one) || CONFIG_OPTIONS.test(one) || CONFIG_PLACES.test(one);
  const reads = options.some((one) => CONFIG_READS.test(one)) && options.every(isRead);
  // A key alone is looked up.
  if (reads || (isPlain && (/^(get|list)$/.test(first ?? '') || operands.length === 1))) {
    return first === 'edit' ? first : undefined;
  }
  // fail-closed: an editor may write anything; so may an option that is not known.
  const odd = options.find((one) => !CONFIG_OPTIONS.test(one) && !CONFIG_WRITES.test(one));
  if (odd !== undefined) return odd;
  const [key, ...values] = first === 'set' || first === 'unset' ? operands.slice(1) : operands;
  if (key === undefined) return rest.length === 0 ? undefined : rest.join(' ');
  const settings = values.map((value) => `${key}=${value}`);
  return [key, ...settings].every(isHarmless) ? undefined : key;
}

/** Subcommands that put nothing into the working tree. */
const PLACES_NOTHING =
  /^(add|stage|rm|commit|push|fetch|branch|tag|config|remote|gc|prune|notes|init|fsck|maintenance|repack|update-index|update-ref|write-tree|commit-tree|hash-object|mktree|rerere|bundle|archive|ls-remote|grep|help|version|var|whatchanged|range-diff|cherry|diff-index|diff-files|show-branch|verify-commit|verify-tag|format-patch|request-pull)$/;

/** Whether files of the working tree, links among them, may be others afterwards. */
export function gitPlacesFiles(words: readonly ShellWord[]): boolean {
  const values = words.slice(1).map((word) => word.value);
  const { subcommand = '', rest } = readGit(values);
  if (
    PLACES_NOTHING.test(subcommand) ||
    readOnlyUse(['git', subcommand, ...rest].map(literalWord)) !== undefined
  ) {
    return false;
  }
  // A new branch of where the tree is already changes no file.
  const isNew =
    (subcommand === 'checkout' && rest[0] === '-b') ||
    (subcommand === 'switch' && rest[0] === '-c');
  return !(isNew && rest.length === 2);
}
