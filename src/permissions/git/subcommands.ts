import { memoised } from '../../lib/memo.js';
import { own } from '../../lib/own.js';
import { type Effect, unknown } from '../shell/effects/effect.js';
import { type GivenOptions, type OptionTable, optionTable } from '../shell/effects/options.js';
import { type Program, program } from '../shell/effects/program.js';
import type { ShellWord } from '../shell/model.js';
import { configWrites, hooksOfTemplate, isPlainSetting } from './settings.js';
import * as takes from './takes.js';

/** What a subcommand of git does. */
export interface GitSubcommand {
  /** With these options and operands it changes nothing, and runs nothing that was named on the line. */
  readonly looks?: Program;
  /** Which files it takes in or changes, of those that git keeps and of those in the working tree. */
  readonly takes?: takes.Takes;
  /** It writes the files that its words name. */
  readonly writes?: true;
  /** Further files that it writes, by all words behind `git`. */
  readonly also?: (words: readonly ShellWord[]) => readonly string[];
  /** It changes files all over the working tree. */
  readonly wide?: true;
  /** The files of the working tree, links among them, are the same afterwards. */
  readonly keepsTree?: true;
  /** It moves branches, or changes what all worktrees share: always, or with such a word. */
  readonly shared?: true | RegExp;
  /** Its words are names of branches, remotes or settings. */
  readonly names?: true;
  /** Short options by which it starts a program or writes elsewhere. */
  readonly startsBy?: OptionTable;
  /** It is not known by which options it does so. */
  readonly unlisted?: true;
}

/** Without an operand, or with one that only looks. */
const only =
  (isFine: (operands: readonly string[], flags: ReadonlySet<string>) => boolean) =>
  ({ operands, flags }: GivenOptions): readonly Effect[] =>
    isFine(
      operands.map(({ value }) => value),
      flags,
    )
      ? []
      : [unknown('operand', operands[0])];
const listed = only(
  (operands, flags) => operands.length === 0 || flags.has('l') || flags.has('list'),
);

/** Operands count as files, since `git diff` compares any two; revisions are names inside the directory. */
const looks = (options: string, also: NonNullable<Program['also']> = () => []): Program =>
  program(options, 'read', {
    also: (given, context) => [...signatures(given), ...also(given, context)],
  });

/** `%G?` and `%(signature)` start gpg. */
const signatures = ({ values }: GivenOptions): readonly Effect[] =>
  values
    .filter(({ value }) => /%[-+ ]?G|%\(\*?signature/.test(value))
    .map(({ word }) => unknown('option', word));

/** The same row for several subcommands. */
function same(names: string, row: GitSubcommand): Readonly<Record<string, GitSubcommand>> {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, row]));
}

const LOOKUP = new Set(['get', 'get-all', 'local', 'z', 'null', 'show-origin', 'show-scope']);

/** The one table of git: a row for each subcommand of which more is known than its name. */
const SUBCOMMANDS: Readonly<Record<string, GitSubcommand>> = {
  status: {
    looks: looks(
      `-sbuvz short branch show-stash porcelain? long verbose untracked-files? ignored? column? no-column ahead-behind no-ahead-behind renames no-renames`,
    ),
    takes: takes.status,
  },
  log: { looks: looks(takes.LOG), takes: takes.listed },
  diff: { looks: looks(takes.LOG), takes: takes.diff },
  show: { looks: looks(takes.LOG), takes: takes.show },
  'rev-list': { looks: looks(`${takes.LOG} count objects`) },
  'diff-tree': { looks: looks(`-rpustz ${takes.COMPARES} root no-commit-id`), takes: takes.listed },
  shortlog: { looks: looks('-nsec numbered summary email all since: until:') },
  blame: {
    looks: looks(
      '-bcefklnpstw -L: -CM? porcelain line-porcelain show-email date: root show-name show-number',
    ),
  },
  branch: {
    looks: looks(
      `-arvilq all remotes list verbose show-current contains: no-contains: merged? no-merged? sort: format: color? no-color ignore-case points-at: column? no-column`,
      listed,
    ),
    keepsTree: true,
    names: true,
  },
  tag: {
    looks: looks('-lin list sort: format: contains: points-at: merged? color? ignore-case', listed),
    keepsTree: true,
  },
  remote: { looks: program('-v verbose', 'none'), keepsTree: true, names: true },
  'rev-parse': {
    looks: looks(
      `-q abbrev-ref? short? verify quiet show-toplevel git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository show-prefix show-cdup symbolic symbolic-full-name all branches tags remotes`,
    ),
  },
  'ls-files': {
    looks: looks(
      `-cdmostuzvr -x: cached deleted modified others stage unmerged exclude: exclude-standard error-unmatch full-name directory eol ignored`,
    ),
  },
  'ls-tree': { looks: looks('-drtlz name-only name-status full-name full-tree long abbrev?') },
  'cat-file': { looks: looks('-ptse'), takes: takes.catFile },
  describe: {
    looks: looks(
      'all tags always dirty? long abbrev? match: exclude: contains exact-match first-parent',
    ),
  },
  'merge-base': { looks: looks('-a all is-ancestor fork-point octopus independent') },
  'name-rev': { looks: looks('name-only tags always') },
  'show-ref': { looks: looks('-dsq head heads tags verify hash? abbrev? quiet') },
  'for-each-ref': {
    looks: looks('count: sort: format: points-at: merged? no-merged? contains? color?'),
  },
  'check-ignore': { looks: looks('-vnqz verbose non-matching quiet no-index') },
  'count-objects': { looks: program('-vH verbose human-readable', 'none') },
  reflog: {
    looks: looks(
      takes.LOG,
      only(([first]) => first === undefined || first === 'show'),
    ),
    takes: takes.listed,
    shared: /^(expire|delete|drop|write)$/,
  },
  stash: {
    looks: looks(
      takes.LOG,
      only(([first]) => first === 'list' || first === 'show'),
    ),
    takes: takes.stash,
    writes: true,
    wide: true,
  },
  worktree: {
    looks: looks(
      '-vz porcelain verbose',
      only((operands) => operands.join(' ') === 'list'),
    ),
    writes: true,
    names: true,
  },
  config: {
    looks: looks(
      '-lz get get-all list name-only show-origin show-scope local null type:',
      only(([key, ...more], flags) => {
        if (flags.has('l') || flags.has('list')) return key === undefined && flags.has('local');
        // A name alone is looked up, too.
        const isLookup = more.length === 0 && [...flags].every((flag) => LOOKUP.has(flag));
        // A word without a dot is a subcommand of newer versions.
        if (!(key ?? '').includes('.')) return false;
        return isLookup && (flags.has('local') || isPlainSetting(key ?? ''));
      }),
    ),
    also: configWrites,
    keepsTree: true,
    names: true,
  },
  whatchanged: { takes: takes.listed, keepsTree: true },
  difftool: { takes: takes.everything, startsBy: optionTable('-x:shell') },
  'diff-index': { takes: takes.listed, keepsTree: true },
  'diff-files': { takes: takes.listed, keepsTree: true },
  'format-patch': { takes: takes.formatPatch, keepsTree: true, startsBy: optionTable('-o') },
  'range-diff': { takes: takes.everything, keepsTree: true },
  'merge-tree': { takes: takes.everything },
  'fast-export': { takes: takes.everything, unlisted: true },
  'unpack-file': { takes: takes.catFile, unlisted: true },
  'request-pull': { takes: takes.requestPull, keepsTree: true },
  archive: { takes: takes.archive, keepsTree: true, startsBy: optionTable('-o remote') },
  grep: { takes: takes.grep, keepsTree: true, startsBy: optionTable('-O?shell') },
  clean: { takes: takes.clean, writes: true, wide: true },
  checkout: { takes: takes.checkout, writes: true, wide: true, shared: /^-[a-zA-Z]*B/ },
  'checkout-index': { takes: takes.checkoutIndex, writes: true, wide: true },
  restore: { takes: takes.restore, writes: true, wide: true },
  reset: { takes: takes.reset, writes: true, wide: true },
  rm: { takes: takes.rm, writes: true, keepsTree: true },
  mv: { takes: takes.mv, writes: true },
  add: { takes: takes.asking, writes: true, keepsTree: true },
  stage: { takes: takes.asking, writes: true, keepsTree: true, unlisted: true },
  commit: { takes: takes.asking, keepsTree: true },
  switch: { writes: true, wide: true, shared: /^(-[a-zA-Z]*C|--force-)/, names: true },
  pull: {
    wide: true,
    shared: /^(-[a-zA-Z0-9]*u|--update-h)/,
    names: true,
    startsBy: optionTable('-s'),
  },
  subtree: { wide: true, shared: /^push$/, unlisted: true },
  fetch: { keepsTree: true, shared: /^(-[a-zA-Z0-9]*u|--update-h)/, names: true },
  'symbolic-ref': { shared: /^(-[a-z]*d|--d)/, names: true },
  ...same(`am apply read-tree revert submodule`, { writes: true, wide: true }),
  // Hooks of a template go into the repository that is there.
  init: { writes: true, also: hooksOfTemplate, keepsTree: true },
  bundle: { writes: true, keepsTree: true },
  clone: { writes: true, startsBy: optionTable('-u:shell -c') },
  ...same(`interpret-trailers mailinfo merge-file pack-objects`, { writes: true }),
  ...same(`credential-store mailsplit`, { writes: true, unlisted: true }),
  'index-pack': { writes: true, shared: true },
  'fast-import': { writes: true, shared: true, unlisted: true },
  merge: { wide: true, startsBy: optionTable('-s') },
  rebase: { wide: true, startsBy: optionTable('-x:shell -s') },
  ...same(`cherry-pick sparse-checkout bisect`, { wide: true }),
  ...same(`filter-branch filter-repo`, { wide: true, shared: true, unlisted: true }),
  push: { keepsTree: true, names: true },
  ...same(`gc prune repack update-ref`, { keepsTree: true, shared: true }),
  maintenance: { keepsTree: true, shared: true, unlisted: true },
  help: { keepsTree: true, startsBy: optionTable('-w web') },
  ...same(
    `notes fsck update-index write-tree commit-tree hash-object mktree rerere ls-remote version var cherry show-branch verify-commit verify-tag`,
    { keepsTree: true },
  ),
  ...same('replace unpack-objects', { shared: true }),
  ...same(
    `receive-pack send-pack replay prune-packed pack-refs pack-redundant multi-pack-index refs`,
    { shared: true, unlisted: true },
  ),
  ...same(
    `annotate check-attr check-mailmap check-ref-format column commit-graph mktag send-email
    show-index stripspace verify-pack`,
    {},
  ),
};

/** Options with which git runs a program, writes a file or leaves its place; their abbreviations count too. */
export const HAZARDOUS_OPTIONS: OptionTable =
  optionTable(`config-env exec-path git-dir work-tree namespace output ext-diff textconv template no-index contents
  paginate strategy open-files-in-pager?shell upload-pack:shell receive-pack:shell exec:shell extcmd:shell
  sendmail-cmd:shell to-cmd:shell cc-cmd:shell header-cmd:shell smtp-server:shell tree-filter:shell
  index-filter:shell msg-filter:shell env-filter:shell commit-filter:shell parent-filter:shell unsafe-paths
  expire-to filter-to object-dir export-marks`);

/** Those that run unasked with the options of these rows. */
export const GIT_LOOKS: Readonly<Record<string, Program>> = Object.fromEntries(
  Object.entries(SUBCOMMANDS).flatMap(([name, { looks: row }]) =>
    row === undefined ? [] : [[name, row]],
  ),
);

/** What is known of a subcommand; nothing of an alias or a program of its own. */
export function gitSubcommand(name: string): GitSubcommand {
  return own(SUBCOMMANDS, name) ?? { unlisted: true };
}

/** A git command apart from the options in front of its subcommand. */
export interface GitCall {
  /** Empty where there is none. */
  readonly name: string;
  readonly row: GitSubcommand;
  readonly leading: readonly ShellWord[];
  readonly rest: readonly ShellWord[];
  /** Directories of `-C`. */
  readonly moves: readonly string[];
}

/** Options in front of a subcommand that take the next word. */
const VALUED =
  /^(-[cC]|--(git-dir|work-tree|exec-path|namespace|super-prefix|config-env|attr-source))$/;

/** Where the subcommand stands among the words behind `git`; -1: there is none. */
function gitSubcommandAt(rest: readonly ShellWord[]): number {
  return rest.findIndex(
    ({ value }, at) => !value.startsWith('-') && !VALUED.test(rest[at - 1]?.value ?? ''),
  );
}

export function gitCall([, ...words]: readonly ShellWord[]): GitCall {
  const found = gitSubcommandAt(words);
  const at = found === -1 ? words.length : found;
  const name = words[at]?.value ?? '';
  const leading = words.slice(0, at);
  return {
    name,
    row: gitSubcommand(name),
    leading,
    rest: words.slice(at + 1),
    moves: leading.flatMap(({ value }, index) => {
      if (leading[index - 1]?.value === '-C') return [value];
      return value.startsWith('-C') && value !== '-C' ? [value.slice(2)] : [];
    }),
  };
}

const NONE = { tracked: [], trees: [], outside: [] };
const ELSEWHERE = /^--(git-dir|work-tree|bare|namespace)(=|$)/;
/** They change what a path on the command line means. */
const OTHER_PATHS = /^--(literal|glob|noglob|icase)-pathspecs$/;

/** Undefined when the command has no subcommand that is known to take files in. */
export const gitUseOf = memoised((words: readonly ShellWord[]): takes.GitUse | undefined => {
  const { row, leading, rest, moves } = gitCall(words);
  const taken = row.takes?.(rest);
  if (taken === undefined) return undefined;
  const values = leading.map(({ value }) => value);
  const elsewhere = values.find((value) => ELSEWHERE.test(value) || OTHER_PATHS.test(value));
  return { ...NONE, ...taken, moves, elsewhere };
});
