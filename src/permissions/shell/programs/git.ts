import { type Effect, reads, unknown } from '../effects/effect.js';
import type { GivenOptions } from '../effects/options.js';
import { custom, effectsOfProgram, type Program, program } from '../effects/program.js';
import type { ShellWord } from '../model.js';

/** Settings without secrets. All others are shown of the repository alone: the user's files hold tokens. */
const PLAIN_SETTING =
  /^(user\.(name|email)|init\.defaultbranch|core\.\w+|(pull|push|fetch|merge|rebase)\.\w+|branch\.[\w./-]+|remote\.[\w./-]+\.(url|fetch))$/i;

const HISTORY = `-nSGL: -U? -# abbrev? abbrev-commit all author: before: branches cached cherry-pick color?
  date: decorate? diff-filter: find-renames? first-parent follow format? full-history graph grep:
  ignore-all-space ignore-space-change left-right max-count: merge-base merges minimal name-only name-status
  no-abbrev no-color no-decorate no-ext-diff no-merges no-patch no-renames no-textconv numstat oneline patch
  patch-with-stat patience pickaxe-regex pretty? raw regexp-ignore-case relative reverse shortstat
  show-signature=unsure since: skip: staged stat? summary tags text topo-order unified? until: after: walk-reflogs
  word-diff? exit-code quiet check remotes no-walk histogram function-context committer: simplify-by-decoration
  cc combined-all-paths color-words? word-diff-regex: patch-with-raw binary remerge-diff dd dirstat?
  compact-summary cumulative output:write diff-algorithm: anchored: inter-hunk-context: find-object: skip-to:
  rotate-to: line-prefix: src-prefix: dst-prefix: no-prefix ws-error-highlight: ignore-matching-lines:
  diff-merges: ita-invisible-in-index full-index max-depth: min-parents: max-parents: encoding: notes?
  ignore-submodules? indent-heuristic no-indent-heuristic find-copies? break-rewrites? source
  full-diff boundary left-only right-only cherry-mark log-size clear-decorations decorate-refs:
  ignore-blank-lines ignore-cr-at-eol ignore-space-at-eol ext-diff=unsure textconv=unsure no-index=unsure`;
export const LOG = `-pusbwaizgtcmMCRW ${HISTORY}`;

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

/** Subcommands that change nothing with these options, and run nothing that was named on the line. */
export const GIT_LOOKS: Readonly<Record<string, Program>> = {
  status:
    looks(`-sbuvz short branch show-stash porcelain? long verbose untracked-files? ignored? column? no-column
    ahead-behind no-ahead-behind renames no-renames`),
  log: looks(LOG),
  diff: looks(LOG),
  show: looks(LOG),
  'rev-list': looks(`${LOG} count objects`),
  'diff-tree': looks(`-rpustz ${HISTORY} root no-commit-id`),
  shortlog: looks('-nsec numbered summary email all since: until:'),
  blame: looks(
    '-bcefklnpstw -L: -CM? porcelain line-porcelain show-email date: root show-name show-number',
  ),
  branch: looks(
    `-arvilq all remotes list verbose show-current contains: no-contains: merged? no-merged? sort: format: color?
    no-color ignore-case points-at: column? no-column`,
    listed,
  ),
  tag: looks('-lin list sort: format: contains: points-at: merged? color? ignore-case', listed),
  remote: program('-v verbose', 'none'),
  'rev-parse':
    looks(`-q abbrev-ref? short? verify quiet show-toplevel git-dir absolute-git-dir git-common-dir
    is-inside-work-tree is-inside-git-dir is-bare-repository show-prefix show-cdup symbolic symbolic-full-name
    all branches tags remotes`),
  'ls-files':
    looks(`-cdmostuzvr -x: cached deleted modified others stage unmerged exclude: exclude-standard
    error-unmatch full-name directory eol ignored`),
  'ls-tree': looks('-drtlz name-only name-status full-name full-tree long abbrev?'),
  'cat-file': looks('-ptse'),
  describe: looks(
    'all tags always dirty? long abbrev? match: exclude: contains exact-match first-parent',
  ),
  'merge-base': looks('-a all is-ancestor fork-point octopus independent'),
  'name-rev': looks('name-only tags always'),
  'show-ref': looks('-dsq head heads tags verify hash? abbrev? quiet'),
  'for-each-ref': looks('count: sort: format: points-at: merged? no-merged? contains? color?'),
  'check-ignore': looks('-vnqz verbose non-matching quiet no-index'),
  'count-objects': program('-vH verbose human-readable', 'none'),
  reflog: looks(
    LOG,
    only(([first]) => first === undefined || first === 'show'),
  ),
  stash: looks(
    LOG,
    only(([first]) => first === 'list' || first === 'show'),
  ),
  worktree: looks(
    '-vz porcelain verbose',
    only((operands) => operands.join(' ') === 'list'),
  ),
  config: looks(
    '-lz get get-all list name-only show-origin show-scope local null type:',
    only(([key, ...more], flags) => {
      if (flags.has('l') || flags.has('list')) return key === undefined && flags.has('local');
      // A name alone is looked up, too.
      const isLookup = more.length === 0 && [...flags].every((flag) => LOOKUP.has(flag));
      // A word without a dot is a subcommand of newer versions.
      if (!(key ?? '').includes('.')) return false;
      return isLookup && (flags.has('local') || PLAIN_SETTING.test(key ?? ''));
    }),
  ),
};

const LOOKUP = new Set(['get', 'get-all', 'local', 'z', 'null', 'show-origin', 'show-scope']);

/** Options in front of a subcommand that take the next word. */
const VALUED =
  /^(-[cC]|--(git-dir|work-tree|exec-path|namespace|super-prefix|config-env|attr-source))$/;

/** Where the subcommand stands among the words behind `git`; -1: there is none. */
export function gitSubcommandAt(rest: readonly ShellWord[]): number {
  return rest.findIndex(
    ({ value }, at) => !value.startsWith('-') && !VALUED.test(rest[at - 1]?.value ?? ''),
  );
}

/** Behind an option the first operand would mean something else: `git stash -m show` stashes. */
const LEADS = new Set(['stash', 'worktree']);

function effectsOfGit(words: readonly ShellWord[]): readonly Effect[] {
  const [first, ...rest] = words;
  const name = first?.literal === true && first.pattern === undefined ? first.value : '';
  if (name === '--version' && rest.length === 0) return [];
  const doubts: Effect[] = words
    .filter(({ literal, pattern }) => !literal || pattern !== undefined)
    .map((word) => unknown('word', word));
  const row = Object.hasOwn(GIT_LOOKS, name) ? GIT_LOOKS[name] : undefined;
  // Options in front of the subcommand change the repository, its configuration or its pager.
  if (row === undefined) {
    return [...doubts, unknown('subcommand', first), ...rest.map((word) => reads(word))];
  }
  const isBehind = LEADS.has(name) && (rest[0]?.value ?? '-').startsWith('-');
  return [
    ...doubts,
    ...(isBehind ? [unknown('operand', rest[0])] : []),
    ...effectsOfProgram(row, rest),
  ];
}

export const GIT: Program = custom(effectsOfGit, {
  facts: {
    subcommands: {
      groups: /^(notes|remote|stash|worktree)$/,
      runs: /^(bisect|config|filter-branch|submodule)$/,
    },
  },
});
