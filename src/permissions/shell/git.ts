import { own } from '../../lib/own.js';
import { type OptionSpec, parseOptions } from './options.js';

export interface GitCommand extends OptionSpec {
  /** The operands it may have; absent: any revisions and paths. */
  readonly operands?: (operands: readonly string[], flags: ReadonlySet<string>) => boolean;
  /** The first operand is a subcommand: behind an option it would mean something else. */
  readonly leads?: boolean;
}

/** Settings without secrets. All others are shown of the repository alone: the user's files hold tokens. */
const PLAIN_SETTING =
  /^(user\.(name|email)|init\.defaultbranch|core\.\w+|(pull|push|fetch|merge|rebase)\.\w+|branch\.[\w./-]+|remote\.[\w./-]+\.(url|fetch))$/i;

const nothing = (operands: readonly string[]): boolean => operands.length === 0;

const HISTORY = `abbrev[=] abbrev-commit all author= before= branches cached cherry-pick color[=]
  date= decorate[=] diff-filter= find-renames[=] first-parent follow format[=] full-history graph
  grep= ignore-all-space ignore-space-change left-right max-count= merge-base merges
  minimal name-only name-status no-abbrev no-color no-decorate no-ext-diff no-merges no-patch
  no-renames no-textconv numstat oneline patch patch-with-stat patience pickaxe-regex pretty[=]
  raw regexp-ignore-case relative reverse shortstat show-signature since= skip= staged stat[=]
  summary tags text topo-order unified[=] until= after= walk-reflogs word-diff[=] exit-code
  quiet check remotes no-walk histogram function-context committer= simplify-by-decoration`;

const history: OptionSpec = {
  flags: 'pusbwaizgtcmMCRW',
  valued: 'nSGL',
  optional: 'U',
  numeric: true,
  long: HISTORY,
};

/** Subcommands that change nothing with these options, and run nothing that was named on the line. */
export const GIT_READ_ONLY: Readonly<Record<string, GitCommand>> = {
  status: {
    flags: 'sbuvz',
    long: 'short branch show-stash porcelain[=] long verbose untracked-files[=] ignored[=] column[=] no-column ahead-behind no-ahead-behind renames no-renames',
  },
  log: history,
  diff: history,
  show: history,
  'rev-list': { ...history, long: `${HISTORY} count objects` },
  'diff-tree': { ...history, flags: 'rpustz', long: `${HISTORY} root no-commit-id` },
  shortlog: { flags: 'nsec', long: 'numbered summary email all since= until=' },
  blame: {
    flags: 'bcefklnpstw',
    valued: 'L',
    optional: 'CM',
    long: 'porcelain line-porcelain show-email date= root show-name show-number',
  },
  branch: {
    flags: 'arvilq',
    long: 'all remotes list verbose show-current contains= no-contains= merged[=] no-merged[=] sort= format= color[=] no-color ignore-case points-at= column[=] no-column',
    operands: (operands, flags) => operands.length === 0 || flags.has('l') || flags.has('list'),
  },
  tag: {
    flags: 'lin',
    long: 'list sort= format= contains= points-at= merged[=] color[=] ignore-case',
    operands: (operands, flags) => operands.length === 0 || flags.has('l') || flags.has('list'),
  },
  remote: { flags: 'v', long: 'verbose', operands: nothing },
  'rev-parse': {
    flags: 'q',
    long: `abbrev-ref[=] short[=] verify quiet show-toplevel git-dir absolute-git-dir git-common-dir
      is-inside-work-tree is-inside-git-dir is-bare-repository show-prefix show-cdup symbolic
      symbolic-full-name all branches tags remotes show-superproject-working-tree`,
  },
  'ls-files': {
    flags: 'cdmostuzvr',
    valued: 'x',
    long: 'cached deleted modified others stage unmerged exclude= exclude-standard error-unmatch full-name directory eol ignored',
  },
  'ls-tree': { flags: 'drtlz', long: 'name-only name-status full-name full-tree long abbrev[=]' },
  'cat-file': { flags: 'ptse' },
  describe: {
    long: 'all tags always dirty[=] long abbrev[=] match= exclude= contains exact-match first-parent',
  },
  'merge-base': { flags: 'a', long: 'all is-ancestor fork-point octopus independent' },
  'name-rev': { long: 'name-only tags always' },
  'show-ref': { flags: 'dsq', long: 'head heads tags verify hash[=] abbrev[=] quiet' },
  'for-each-ref': {
    long: 'count= sort= format= points-at= merged[=] no-merged[=] contains[=] color[=]',
  },
  'check-ignore': { flags: 'vnqz', long: 'verbose non-matching quiet no-index' },
  'count-objects': { flags: 'vH', long: 'verbose human-readable', operands: nothing },
  reflog: { ...history, operands: (operands) => operands.length === 0 || operands[0] === 'show' },
  stash: {
    ...history,
    operands: (operands) => operands[0] === 'list' || operands[0] === 'show',
    leads: true,
  },
  worktree: {
    flags: 'vz',
    long: 'porcelain verbose',
    operands: (operands) => operands.join(' ') === 'list',
    leads: true,
  },
  config: {
    flags: 'lz',
    long: 'get get-all list name-only show-origin show-scope local null type=',
    operands: (operands, flags) => {
      if (flags.has('l') || flags.has('list')) return operands.length === 0 && flags.has('local');
      const [key = '', ...more] = operands;
      const isLookup = (flags.has('get') || flags.has('get-all')) && more.length === 0;
      return isLookup && (flags.has('local') || PLAIN_SETTING.test(key));
    },
  },
};

/**
 * The files that a git command looks at, or undefined when it may do more than look. Operands count
 * as files, since `git diff` compares any two; revisions resolve to names inside the directory.
 */
export function readsOfGit(values: readonly string[]): readonly string[] | undefined {
  const [name = '', ...rest] = values;
  if (name === '--version' && rest.length === 0) return [];
  // Options in front of the subcommand change the repository, its configuration or its pager.
  const command = own(GIT_READ_ONLY, name);
  const parsed = command === undefined ? undefined : parseOptions(rest, command);
  if (command === undefined || parsed === undefined) return undefined;
  // `git stash -m show` does not show anything: it puts everything away under this name.
  if (command.leads === true && rest[0] !== parsed.operands[0]) return undefined;
  const allowed = command.operands?.(parsed.operands, parsed.flags) ?? true;
  return allowed ? parsed.operands : undefined;
}
