import {
  type GivenOptions,
  hasFlag,
  optionTable,
  parseOptions,
  valuesOf,
} from '../shell/effects/options.js';
import { effectsOfProgram, HERE } from '../shell/effects/program.js';
import { leftOutBy } from '../shell/effects/recursion.js';
import { type TreeUse, treesAmong } from '../shell/effects/trees.js';
import { literalWord, type ShellWord } from '../shell/model.js';
import { MV } from '../shell/programs/coreutils.js';

/** Options of all commands that compare or list revisions. */
export const COMPARES = `-nSGL: -U? -# abbrev? abbrev-commit all author: before: branches cached cherry-pick color?
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
export const LOG = `-pusbwaizgtcmMCRW ${COMPARES}`;

/** What a git command does to the files that git keeps, in the working tree or in its store. */
export interface TrackedUse {
  readonly access: 'read' | 'write';
  /** Operands that are paths where such a path exists, and revisions where not. */
  readonly open: readonly ShellWord[];
  /** A `--` stands behind them: then they are revisions, whatever exists. */
  readonly openAreRevisions?: boolean;
  /** Unless stated, a path among them leaves out all others. */
  readonly openNarrows?: boolean;
  readonly paths: readonly ShellWord[];
  /** Without a path: everything, or only what is named in another way. */
  readonly scope: 'all' | 'named';
  /** An operand that is decided at run time may be the name of any content. */
  readonly byContent?: true;
  /** Whether only files are touched that differ from what git has. */
  readonly onlyChanged: (given: { revisions: number; paths: number }) => boolean;
}

export interface GitUse {
  /** Directories of `-C`. */
  readonly moves: readonly string[];
  /** An option that leads it to another repository. */
  readonly elsewhere?: string;
  readonly tracked: readonly TrackedUse[];
  /** What it goes through on the disk. */
  readonly trees: readonly TreeUse[];
  /** What it goes through outside of any repository. */
  readonly outside: readonly TreeUse[];
}

/** What a subcommand takes in; undefined: nothing of what git keeps. */
export type Taken = Partial<Pick<GitUse, 'tracked' | 'trees' | 'outside'>>;
export type Takes = (words: readonly ShellWord[]) => Taken | undefined;

/** A subcommand by its options, and what it takes in with those that were given. */
function subcommand(options: string, use: (given: GivenOptions) => Taken | undefined): Takes {
  const table = optionTable(options);
  return (words) => {
    const given = parseOptions(words, table);
    const taken = use(given);
    return mayNameValue(words, given) ? withoutNarrowing(taken, given) : taken;
  };
}

/** Whether an option that is not in the table may have the next word for its value. */
function mayNameValue(words: readonly ShellWord[], { unknown }: GivenOptions): boolean {
  const options = new Set(unknown.flatMap(({ why, word }) => (why === 'option' ? word : [])));
  return words.some((word, at) => options.has(word) && /^[^-]/.test(words[at + 1]?.value ?? ''));
}

/** fail-closed: what may be the value of an option is no path that the rest is limited to. */
function withoutNarrowing(
  taken: Taken | undefined,
  { behind = [] }: GivenOptions,
): Taken | undefined {
  return {
    ...taken,
    tracked: taken?.tracked?.map((use) => ({
      ...use,
      open: [...use.open, ...use.paths.filter((word) => !behind.includes(word))],
      paths: use.paths.filter((word) => behind.includes(word)),
      openNarrows: false,
    })),
  };
}

const always = (): boolean => true;
const never = (): boolean => false;

/** Files of the index, by default all that are named, whether they have changed or not. */
function tracked(
  access: TrackedUse['access'],
  use: Partial<TrackedUse> & { readonly isAll?: boolean },
): Taken {
  const { isAll = false, ...more } = use;
  const scope = isAll ? 'all' : 'named';
  return { tracked: [{ access, open: [], paths: [], onlyChanged: never, scope, ...more }] };
}

const PATCH = `p u U c L W patch unified cc combined-all-paths word-diff word-diff-regex color-words
  patch-with-stat patch-with-raw binary function-context remerge-diff dd check`;
const SUMMARY = `s q stat shortstat numstat dirstat X summary name-only name-status raw no-patch quiet
  compact-summary`;

/** fail-closed: an option that is taken back somewhere does not count. */
function isOn(given: GivenOptions, names: string): boolean {
  return hasFlag(given, names) && !names.split(' ').some((one) => given.flags.has(`no-${one}`));
}

/** Operands in front of `--` may be revisions, those behind it are paths. */
function shared(given: GivenOptions): Pick<TrackedUse, 'open' | 'paths' | 'openAreRevisions'> {
  const { operands, behind = [] } = given;
  // Paths choose revisions only, or more of them come in by the input.
  if (hasFlag(given, 'full-diff stdin')) return { open: [], paths: [] };
  const lines = valuesOf(given, 'L').map((range) => literalWord(range.replace(/^.*:/s, '')));
  return {
    open: [...operands.slice(0, operands.length - behind.length), ...lines],
    paths: behind,
    openAreRevisions: given.behind !== undefined,
  };
}

const HISTORY = `${LOG} -Olo: -X? stdin creation-factor: cover-letter start-number: output-directory:
  subject-prefix: base:`;

/** What a comparison prints. `byDefault`: lines of files, unless it is told to sum up. */
function history(
  given: GivenOptions,
  { byDefault = false, onlyChanged = never }: Partial<HistoryUse> = {},
): Taken | undefined {
  // Whatever is left out of a comparison, an object that is named is printed.
  const isAll = hasFlag(given, PATCH) || (byDefault && !hasFlag(given, SUMMARY));
  if (!isAll && given.operands.length === 0) return undefined;
  return tracked('read', { ...shared(given), isAll, onlyChanged });
}

interface HistoryUse {
  readonly byDefault: boolean;
  readonly onlyChanged: TrackedUse['onlyChanged'];
}

export const listed = subcommand(HISTORY, history);

/** It prints lines of files whatever its options are. */
export const everything = subcommand(HISTORY, (given) =>
  tracked('read', { ...shared(given), isAll: true }),
);

/** Of what it writes into mails some options have other values than in a list. */
export const formatPatch = subcommand(
  `${HISTORY} -v: cc: to: in-reply-to: add-header: signature: suffix: reroll-count: stdout`,
  (given) => tracked('read', { ...shared(given), isAll: true }),
);

export const requestPull = subcommand('-p', (given) =>
  hasFlag(given, 'p') ? tracked('read', { isAll: true }) : undefined,
);

export const diff = subcommand(HISTORY, (given) => {
  const trees = given.operands.map((start): TreeUse => ({ start, access: 'read', follows: false }));
  if (given.flags.has('no-index')) return { trees };
  const staged = hasFlag(given, 'cached staged merge-base');
  const onlyChanged: TrackedUse['onlyChanged'] = ({ revisions }) => !staged && revisions === 0;
  return { ...history(given, { byDefault: true, onlyChanged }), outside: trees };
});

export const grep = subcommand(
  `-aIiwvhHEGPFnlLcopWqrz -ABCefm: -O? untracked no-index cached recurse-submodules no-exclude-standard
  exclude-standard text textconv no-textconv ignore-case word-regexp invert-match full-name
  extended-regexp basic-regexp perl-regexp fixed-strings line-number column files-with-matches
  name-only files-without-match open-files-in-pager? null only-matching count color? no-color break
  heading show-function context: after-context: before-context: function-context max-count: threads:
  and or not all-match quiet max-depth: recursive no-recursive`,
  (given) => {
    const isGiven = hasFlag(given, 'e f');
    const { operands, behind = [], flags } = given;
    const isBehind = !isGiven && operands.length === behind.length;
    const open = operands.slice(isGiven ? 0 : 1, isBehind ? 1 : operands.length - behind.length);
    const paths = isBehind ? behind.slice(1) : behind;
    const starts = open.length + paths.length === 0 ? [HERE] : [...open, ...paths];
    const isLoose = flags.has('no-index');
    const skips: TreeUse['skips'] =
      isLoose || flags.has('no-exclude-standard') ? {} : { ignored: 'git' };
    const trees =
      isLoose || flags.has('untracked')
        ? starts.map((start): TreeUse => ({ start, access: 'read', skips }))
        : [];
    return { ...(isLoose ? {} : tracked('read', { open, paths, isAll: true })), trees };
  },
);

export const archive = subcommand(
  `-lv -# -o: format: output: prefix: remote: exec: add-file: add-virtual-file: list verbose
  worktree-attributes mtime:`,
  ({ operands }) =>
    tracked('read', { open: operands.slice(0, 1), paths: operands.slice(1), isAll: true }),
);

export const catFile = subcommand(
  `-ptsez batch? batch-check? batch-command? textconv filters path: follow-symlinks batch-all-objects
  buffer unordered`,
  (given) => {
    const isAll = hasFlag(given, 'batch batch-command');
    const asks = hasFlag(given, 't s e batch-check') && !isAll && !hasFlag(given, 'p');
    return asks ? undefined : tracked('read', { ...shared(given), isAll, byContent: true });
  },
);

const stashed = (isMessage: boolean): Takes =>
  subcommand(
    `${HISTORY} -pukaqS -m: include-untracked all keep-index no-keep-index staged message: index
    pathspec-from-file: only-untracked`,
    (given) => {
      const paths = isMessage ? [] : given.operands;
      const takesMore = hasFlag(given, 'u a include-untracked all');
      const ignored = hasFlag(given, 'a all');
      return {
        ...tracked('write', { paths, isAll: true, onlyChanged: always }),
        trees: takesMore ? removed(paths, { ignored, kept: [] }) : [],
      };
    },
  );
const pushed = stashed(false);
/** The rest of `save` is a message. */
const saved = stashed(true);

export const stash: Takes = (words) => {
  const [first, ...rest] = words;
  if (first === undefined || first.value.startsWith('-')) return pushed(words);
  if (/^(show|list)$/.test(first.value)) return listed(rest);
  if (first.value === 'push') return pushed(rest);
  return first.value === 'save' ? saved(rest) : undefined;
};

export const clean = subcommand('-dfiqxX -e: force dry-run quiet interactive exclude:', (given) => {
  if (isOn(given, 'n dry-run')) return undefined;
  const kept = valuesOf(given, 'e exclude');
  return { trees: removed(given.operands, { ignored: hasFlag(given, 'x X'), kept }) };
});

/** Files that git does not know. */
function removed(
  paths: readonly ShellWord[],
  { ignored, kept }: { readonly ignored: boolean; readonly kept: readonly string[] },
): readonly TreeUse[] {
  const skips = { ...leftOutBy(kept), tracked: true };
  return (paths.length === 0 ? [HERE] : paths).map((start) => ({
    start,
    access: 'write',
    skips: ignored ? skips : { ...skips, ignored: 'git' },
    leaveOut: (name: string) => `-e ${name}`,
  }));
}

export const checkout = subcommand(
  `-fqmtldp -bB: force quiet merge conflict: patch track? no-track detach orphan: ours theirs overlay
  no-overlay progress recurse-submodules pathspec-from-file: guess no-guess ignore-skip-worktree-bits
  ignore-other-worktrees overwrite-ignore`,
  (given) => {
    if (hasFlag(given, 'b B orphan')) return undefined;
    const isListed = hasFlag(given, 'pathspec-from-file');
    return tracked('write', {
      ...shared(given),
      isAll: isListed || hasFlag(given, 'f force'),
      onlyChanged: ({ revisions, paths }) => revisions === 0 || (paths === 0 && !isListed),
    });
  },
);

export const restore = subcommand(
  `-SWpqm23 -s: source: staged worktree patch quiet progress ours theirs merge conflict: overlay
  no-overlay ignore-unmerged recurse-submodules pathspec-from-file:`,
  (given) => {
    if (hasFlag(given, 'S staged') && !hasFlag(given, 'W worktree')) return undefined;
    const isAll = hasFlag(given, 'pathspec-from-file');
    const onlyChanged = hasFlag(given, 's source') ? never : always;
    return tracked('write', { paths: given.operands, isAll, onlyChanged });
  },
);

export const reset = subcommand('-qpN hard soft mixed merge keep quiet patch', (given) =>
  hasFlag(given, 'hard keep merge')
    ? tracked('write', { isAll: true, onlyChanged: always })
    : undefined,
);

export const rm = subcommand(
  `-rfqn cached dry-run force quiet ignore-unmatch sparse pathspec-from-file: pathspec-file-nul`,
  (given) => {
    if (isOn(given, 'cached') || isOn(given, 'n dry-run')) return undefined;
    const isAll = hasFlag(given, 'pathspec-from-file');
    return tracked('write', { paths: given.operands, isAll });
  },
);

export const checkoutIndex = subcommand(
  '-afnquz all force prefix: temp stage: stdin index',
  (given) => {
    const paths = given.operands;
    const isAll = hasFlag(given, 'a all stdin');
    return hasFlag(given, 'prefix temp')
      ? tracked('read', { paths, isAll })
      : tracked('write', { paths, isAll, onlyChanged: always });
  },
);

/** Interactive forms print what has changed. */
export const asking = subcommand(
  `-pAuvnfeiaqs -mFCct: patch interactive edit dry-run verbose message: file: author: date: fixup:
  squash: cleanup: trailer: template: pathspec-from-file:`,
  (given) => {
    const rehearses = hasFlag(given, 'dry-run') && hasFlag(given, 'v verbose');
    if (!rehearses && !hasFlag(given, 'p i e patch interactive')) return undefined;
    const onlyChanged = rehearses ? never : always;
    return tracked('read', { paths: given.operands, isAll: true, onlyChanged });
  },
);

export const show = subcommand(HISTORY, (given) => history(given, { byDefault: true }));

export const status = subcommand('-sbuvz verbose', (given) =>
  hasFlag(given, 'v verbose') ? tracked('read', { isAll: true }) : undefined,
);

export const mv: Takes = (words) => ({
  trees: treesAmong(effectsOfProgram(MV, words), () => false),
});
