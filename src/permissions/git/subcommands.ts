import { memoised } from '../../lib/memo.js';
import { own } from '../../lib/own.js';
import {
  type GivenOptions,
  hasFlag,
  optionTable,
  parseOptions,
  valuesOf,
} from '../shell/effects/options.js';
import { ALONE, HERE } from '../shell/effects/program.js';
import { leftOutBy } from '../shell/effects/recursion.js';
import { type TreeUse, treesOf } from '../shell/effects/uses.js';
import { literalWord, type ShellWord } from '../shell/model.js';
import { gitSubcommandAt, LOG } from '../shell/programs/git.js';

type Use = Partial<Pick<GitUse, 'tracked' | 'trees' | 'outside'>>;
type Subcommand = (words: readonly ShellWord[]) => Use | undefined;

const always = (): boolean => true;
const never = (): boolean => false;
const withoutRevision = ({ revisions }: { revisions: number }): boolean => revisions === 0;

const HISTORY_OPTIONS = `${LOG} -Ol: -X? cc combined-all-paths color-words? word-diff-regex: patch-with-raw binary
  remerge-diff dd dirstat? compact-summary cumulative no-index output: diff-algorithm: anchored:
  inter-hunk-context: find-object: skip-to: rotate-to: line-prefix: src-prefix: dst-prefix: no-prefix
  ws-error-highlight: ignore-matching-lines: diff-merges: ita-invisible-in-index stdin full-index check
  max-depth: min-parents: max-parents: encoding: notes? creation-factor: cover-letter start-number:
  output-directory: subject-prefix: base:`;
const HISTORY = optionTable(HISTORY_OPTIONS);

const PATCH = `p u U c L W patch unified cc combined-all-paths word-diff word-diff-regex color-words
  patch-with-stat patch-with-raw binary function-context remerge-diff dd check`.replace(
  /\s+/g,
  ' ',
);
const SUMMARY =
  `s q stat shortstat numstat dirstat X summary name-only name-status raw no-patch quiet
  compact-summary`.replace(/\s+/g, ' ');

/** Whether it prints lines of files. */
function printsLines(options: GivenOptions, { byDefault }: { byDefault: boolean }): boolean {
  if (hasFlag(options, PATCH)) return true;
  return byDefault && !hasFlag(options, SUMMARY);
}

/** fail-closed: an option that is taken back somewhere does not count. */
function isOn(options: GivenOptions, names: string): boolean {
  return hasFlag(options, names) && !names.split(' ').some((one) => options.flags.has(`no-${one}`));
}

/** Operands in front of `--` may be revisions, those behind it are paths. */
function shared(
  options: GivenOptions,
  first = 0,
): Pick<TrackedUse, 'open' | 'paths' | 'openAreRevisions'> {
  const { operands, behind = [] } = options;
  // Paths choose revisions only, or more of them come in by the input.
  if (hasFlag(options, 'full-diff stdin')) return { open: [], paths: [] };
  const lines = valuesOf(options, 'L').map((range) => literalWord(range.replace(/^.*:/s, '')));
  return {
    open: [...operands.slice(first, operands.length - behind.length), ...lines],
    paths: behind,
    openAreRevisions: options.behind !== undefined,
  };
}

const history =
  (byDefault: boolean, onlyChanged: TrackedUse['onlyChanged'] = never): Subcommand =>
  (words) => {
    const options = parseOptions(words, HISTORY);
    // Whatever is left out of a comparison, an object that is named is printed.
    const scope = printsLines(options, { byDefault }) ? 'all' : 'named';
    if (scope === 'named' && options.operands.length === 0) return undefined;
    return { tracked: [{ access: 'read', ...shared(options), scope, onlyChanged }] };
  };

/** It prints lines of files whatever its options are. */
const everything: Subcommand = (words) => {
  const options = parseOptions(words, HISTORY);
  return { tracked: [{ access: 'read', ...shared(options), scope: 'all', onlyChanged: never }] };
};

const diff: Subcommand = (words) => {
  const options = parseOptions(words, HISTORY);
  const trees = options.operands.map(
    (start): TreeUse => ({ start, access: 'read', follows: false }),
  );
  if (options.flags.has('no-index')) return { trees };
  const staged = hasFlag(options, 'cached staged merge-base');
  const use = history(true, staged ? never : withoutRevision)(words);
  return { ...use, outside: trees };
};

const GREP =
  optionTable(`-aIiwvhHEGPFnlLcopWqrz -ABCefm: -O? untracked no-index cached recurse-submodules no-exclude-standard
  exclude-standard text textconv no-textconv ignore-case word-regexp invert-match full-name
  extended-regexp basic-regexp perl-regexp fixed-strings line-number column files-with-matches
  name-only files-without-match open-files-in-pager? null only-matching count color? no-color break
  heading show-function context: after-context: before-context: function-context max-count: threads:
  and or not all-match quiet max-depth: recursive no-recursive`);

const grep: Subcommand = (words) => {
  const options = parseOptions(words, GREP);
  const given = hasFlag(options, 'e f');
  const { operands, behind = [] } = options;
  const isBehind = !given && operands.length === behind.length;
  const open = operands.slice(given ? 0 : 1, isBehind ? 1 : operands.length - behind.length);
  const paths = isBehind ? behind.slice(1) : behind;
  const starts = [...open, ...paths];
  const isLoose = hasFlag(options, 'no-index');
  const tree: Omit<TreeUse, 'start'> = {
    access: 'read',
    skips: isLoose || options.flags.has('no-exclude-standard') ? {} : { ignored: 'git' },
  };
  const trees =
    isLoose || options.flags.has('untracked')
      ? (starts.length === 0 ? [HERE] : starts).map((start) => ({ start, ...tree }))
      : [];
  const tracked: TrackedUse = { access: 'read', open, paths, scope: 'all', onlyChanged: never };
  return { trees, tracked: isLoose ? [] : [tracked] };
};

const ARCHIVE =
  optionTable(`-lv -o: format: output: prefix: remote: exec: add-file: add-virtual-file: list verbose
  worktree-attributes mtime:`);

const archive: Subcommand = (words) => {
  const options = parseOptions(words, ARCHIVE);
  const [revision, ...paths] = options.operands;
  const open = revision === undefined ? [] : [revision];
  return { tracked: [{ access: 'read', open, paths, scope: 'all', onlyChanged: never }] };
};

const catFile: Subcommand = (words) => {
  const options = parseOptions(
    words,
    optionTable(`-ptsez batch? batch-check? batch-command? textconv filters path: follow-symlinks batch-all-objects
    buffer unordered`),
  );
  const asks = hasFlag(options, 't s e batch-check') && !hasFlag(options, 'p batch batch-command');
  if (asks) return undefined;
  const scope = hasFlag(options, 'batch batch-command') ? 'all' : 'named';
  const use = { access: 'read', ...shared(options), scope, onlyChanged: never } as const;
  return { tracked: [{ ...use, byContent: true }] };
};

const STASH =
  optionTable(`${HISTORY_OPTIONS} -pukaqS -m: include-untracked all keep-index no-keep-index staged
  message: index pathspec-from-file: only-untracked`);

const stash: Subcommand = (words) => {
  const [first] = words;
  const isPush = first === undefined || /^(-.*|push|save)$/.test(first.value);
  if (first?.value === 'show') return history(false)(words.slice(1));
  if (first?.value === 'list') return history(false)(words.slice(1));
  if (!isPush) return undefined;
  const options = parseOptions(first?.value.startsWith('-') ? words : words.slice(1), STASH);
  // The rest of `save` is a message.
  const paths = first?.value === 'save' ? [] : options.operands;
  const takesMore = hasFlag(options, 'u a include-untracked all');
  return {
    tracked: [{ access: 'write', open: [], paths, scope: 'all', onlyChanged: always }],
    trees: takesMore ? removed(paths, { ignored: hasFlag(options, 'a all'), kept: [] }) : [],
  };
};

const clean: Subcommand = (words) => {
  const options = parseOptions(
    words,
    optionTable('-dfiqxX -e: force dry-run quiet interactive exclude:'),
  );
  if (isOn(options, 'n dry-run')) return undefined;
  const kept = valuesOf(options, 'e exclude');
  return { trees: removed(options.operands, { ignored: hasFlag(options, 'x X'), kept }) };
};

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

const checkout: Subcommand = (words) => {
  const options = parseOptions(
    words,
    optionTable(`-fqmtldp -bB: force quiet merge conflict: patch track? no-track detach orphan: ours theirs overlay
    no-overlay progress recurse-submodules pathspec-from-file: guess no-guess ignore-skip-worktree-bits
    ignore-other-worktrees overwrite-ignore`),
  );
  if (hasFlag(options, 'b B orphan')) return undefined;
  const listed = hasFlag(options, 'pathspec-from-file');
  const scope = listed || hasFlag(options, 'f force') ? 'all' : 'named';
  const onlyChanged: TrackedUse['onlyChanged'] = ({ revisions, paths }) =>
    revisions === 0 || (paths === 0 && !listed);
  return { tracked: [{ access: 'write', ...shared(options), scope, onlyChanged }] };
};

const restore: Subcommand = (words) => {
  const options = parseOptions(
    words,
    optionTable(`-SWpqm23 -s: source: staged worktree patch quiet progress ours theirs merge conflict: overlay
    no-overlay ignore-unmerged recurse-submodules pathspec-from-file:`),
  );
  if (hasFlag(options, 'S staged') && !hasFlag(options, 'W worktree')) return undefined;
  const listed = hasFlag(options, 'pathspec-from-file');
  const onlyChanged = hasFlag(options, 's source') ? never : always;
  const scope = listed ? 'all' : 'named';
  return { tracked: [{ access: 'write', open: [], paths: options.operands, scope, onlyChanged }] };
};

const reset: Subcommand = (words) => {
  const options = parseOptions(words, optionTable('-qpN hard soft mixed merge keep quiet patch'));
  if (!hasFlag(options, 'hard keep merge')) return undefined;
  return {
    tracked: [{ access: 'write', open: [], paths: [], scope: 'all', onlyChanged: always }],
  };
};

const rm: Subcommand = (words) => {
  const options = parseOptions(
    words,
    optionTable(
      `-rfqn cached dry-run force quiet ignore-unmatch sparse pathspec-from-file: pathspec-file-nul`,
    ),
  );
  if (isOn(options, 'cached') || isOn(options, 'n dry-run')) return undefined;
  const scope = hasFlag(options, 'pathspec-from-file') ? 'all' : 'named';
  const paths = options.operands;
  return { tracked: [{ access: 'write', open: [], paths, scope, onlyChanged: never }] };
};

const checkoutIndex: Subcommand = (words) => {
  const options = parseOptions(
    words,
    optionTable('-afnquz all force prefix: temp stage: stdin index'),
  );
  const elsewhere = hasFlag(options, 'prefix temp');
  const scope = hasFlag(options, 'a all stdin') ? 'all' : 'named';
  const access = elsewhere ? 'read' : 'write';
  const onlyChanged = elsewhere ? never : always;
  return { tracked: [{ access, open: [], paths: options.operands, scope, onlyChanged }] };
};

/** Interactive forms print what has changed. */
const asking: Subcommand = (words) => {
  const options = parseOptions(
    words,
    optionTable(`-pAuvnfeiaqs -mFCct: patch interactive edit dry-run verbose message: file: author: date: fixup:
    squash: cleanup: trailer: template: pathspec-from-file:`),
  );
  const prints = hasFlag(options, 'p i e patch interactive');
  const rehearses = hasFlag(options, 'dry-run') && hasFlag(options, 'v verbose');
  if (!prints && !rehearses) return undefined;
  const onlyChanged = rehearses ? never : always;
  const { operands } = options;
  return { tracked: [{ access: 'read', open: [], paths: operands, scope: 'all', onlyChanged }] };
};

const status: Subcommand = (words) =>
  hasFlag(parseOptions(words, optionTable('-sbuvz verbose')), 'v verbose')
    ? { tracked: [{ access: 'read', open: [], paths: [], scope: 'all', onlyChanged: never }] }
    : undefined;

const move: Subcommand = (words) => ({
  trees: treesOf([literalWord('mv'), ...words], ALONE),
});

const GIT_SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  show: history(true),
  log: history(false),
  reflog: history(false),
  whatchanged: history(false),
  diff,
  difftool: everything,
  'diff-tree': history(false),
  'diff-index': history(false),
  'diff-files': history(false),
  'format-patch': everything,
  'range-diff': everything,
  'merge-tree': everything,
  'fast-export': everything,
  'unpack-file': catFile,
  'cat-file': catFile,
  archive,
  grep,
  status,
  stash,
  clean,
  checkout,
  'checkout-index': checkoutIndex,
  restore,
  reset,
  rm,
  mv: move,
  add: asking,
  stage: asking,
  commit: asking,
};

const NONE = { tracked: [], trees: [], outside: [] };
const ELSEWHERE = /^--(git-dir|work-tree|bare|namespace)(=|$)/;
/** They change what a path on the command line means. */
const OTHER_PATHS = /^--(literal|glob|noglob|icase)-pathspecs$/;

/** Undefined when the command has no subcommand that is known to take files in. */
export const gitUseOf = memoised(useOf);

function useOf(words: readonly ShellWord[]): GitUse | undefined {
  const rest = words.slice(1);
  const at = gitSubcommandAt(rest);
  const use = own(GIT_SUBCOMMANDS, rest[at]?.value ?? '')?.(rest.slice(at + 1));
  if (use === undefined) return undefined;
  const leading = rest.slice(0, at).map(({ value }) => value);
  const moves = leading.filter((_, index) => leading[index - 1] === '-C');
  const elsewhere = leading.find((value) => ELSEWHERE.test(value) || OTHER_PATHS.test(value));
  return { ...NONE, ...use, moves, elsewhere };
}

/** What a git command does to the files that git keeps, in the working tree or in its store. */
export interface TrackedUse {
  readonly access: 'read' | 'write';
  /** Operands that are paths where such a path exists, and revisions where not. */
  readonly open: readonly ShellWord[];
  /** A `--` stands behind them: then they are revisions, whatever exists. */
  readonly openAreRevisions?: boolean;
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
