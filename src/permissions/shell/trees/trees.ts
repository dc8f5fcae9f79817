import { own } from '../../../lib/own.js';
import { hasFlag, type OptionTable, optionTable, parseOptions } from '../effects/options.js';
import { programOf, type ShellWord } from '../model.js';
import { COPYING_PROGRAMS } from './copy.js';
import { fd, find } from './find.js';
import { PACKING_PROGRAMS } from './pack.js';
import { SEARCHING_PROGRAMS } from './search.js';
import type { TreeContext, TreeProgram, TreeUse } from './use.js';

const REMOVE = optionTable(
  `-rRfidvIPWx recursive force interactive? one-file-system no-preserve-root preserve-root? dir verbose`,
);

const MODES =
  optionTable(`-RcfvhHLPndbk -mMxXtulr: recursive reference: changes silent quiet verbose dereference
  no-dereference from: modify: set: remove: set-file: modify-file: remove-file: default restore:
  preserve-root no-preserve-root user: role: type: range: logical physical`);

/** A mode may begin with a dash: `-x`. */
const OWNERS =
  optionTable(`-RcfvhHLPrwxXstugo recursive reference: changes silent quiet verbose dereference no-dereference
  from: preserve-root no-preserve-root`);

const changes =
  (spec: OptionTable, how: { readonly always?: true; readonly takesAway?: true }): TreeProgram =>
  (words) => {
    const options = parseOptions(words, spec);
    const { always, ...more } = how;
    if (always !== true && !hasFlag(options, 'r R recursive')) return [];
    const follows = hasFlag(options, 'L logical');
    return options.operands
      .filter(({ literal }) => literal)
      .map((start) => ({ start, access: 'write', follows, ...more }));
  };

const rm = changes(REMOVE, { takesAway: true });
const modes = changes(MODES, {});
const owners = changes(OWNERS, {});
const trash = changes(optionTable(''), { always: true, takesAway: true });

const LISTED_MODES = 'setfacl chattr chcon';
const OWNER_PROGRAMS = 'chmod chown chgrp gchmod gchown gchgrp';

const CHANGING_PROGRAMS: Readonly<Record<string, TreeProgram>> = {
  rm,
  grm: rm,
  srm: rm,
  trash,
  'trash-put': trash,
  rimraf: trash,
  find,
  fd,
  fdfind: fd,
  ...Object.fromEntries(LISTED_MODES.split(' ').map((name) => [name, modes])),
  ...Object.fromEntries(OWNER_PROGRAMS.split(' ').map((name) => [name, owners])),
};

const COMPRESS_OPTIONS =
  optionTable(`-acdefhiklLmnNqrRtTvVzH0123456789 -SopDMBb: recursive keep stdout to-stdout decompress uncompress
  compress force test list quiet verbose rm suffix: fast best output-dir-flat: output-dir-mirror:
  filelist: exclude-compressed no-name name processes: blocksize:`);

/** Programs that put a packed file in the place of each file: the source is gone, unless it is kept. */
const replacing: TreeProgram = (words, context) => {
  const options = parseOptions(words, COMPRESS_OPTIONS);
  if (!hasFlag(options, 'r recursive') && !context.names('GZIP')) return [];
  const keeps = hasFlag(options, 'c k t l stdout to-stdout keep test list');
  const access = keeps ? 'read' : 'write';
  return options.operands.map((start) => ({ start, access, follows: hasFlag(options, 'f force') }));
};

/** Programs that put it beside the file, which stays unless they are told otherwise. */
const keeping: TreeProgram = (words) => {
  const options = parseOptions(words, COMPRESS_OPTIONS);
  if (!hasFlag(options, 'r recursive')) return [];
  const access = options.flags.has('rm') ? 'write' : 'read';
  return options.operands.map((start) => ({ start, access }));
};

const COMPRESSING_PROGRAMS: Readonly<Record<string, TreeProgram>> = {
  ...Object.fromEntries(
    'gzip gunzip pigz unpigz compress uncompress'.split(' ').map((name) => [name, replacing]),
  ),
  ...Object.fromEntries(
    'zstd zstdmt unzstd pzstd lz4 unlz4'.split(' ').map((name) => [name, keeping]),
  ),
};

/** Options with a value that could be taken for a directory. */
const LONG = `recursive delete dry-run exclude: include: filter: files-from: exclude-from:
  include-from: filter-from: exclude-if-present: iexclude: iexclude-file: exclude-file: pattern:
  patterns-from: config: transfers: checkers: bwlimit: log-file: log-level: profile: region:
  endpoint-url: acl: storage-class: container: namespace: context: repo: tag: host: password-file:
  compression: project: quiet progress verbose no-progress follow-symlinks copy-links`;
const TRANSFER_OPTIONS = optionTable(`-rRmnpPdvqaLc -xjJF: ${LONG}`);

const LEAVES_OUT =
  'x exclude include filter files-from exclude-from include-from filter-from exclude-if-present iexclude iexclude-file exclude-file pattern patterns-from';

interface Transfer {
  /** Which words in front make it one. */
  readonly when: RegExp;
  /** Which of these take away what they have carried over. */
  readonly takes?: RegExp;
  /** Which of these make a place like another one, and remove what is too much there. */
  readonly mirrors?: RegExp;
  readonly options?: OptionTable;
}

/** Where `-r` and the like take a value. */
const REPOSITORY = optionTable(`-vqx -rpohe: ${LONG}`);
const CLUSTER = optionTable(`-hv -ncsH: ${LONG}`);

const COPY: Transfer = { when: /^(compose |image |container )?cp$/, options: CLUSTER };

/** Programs that carry directories to another place, mostly another machine. */
const TRANSFERS: Readonly<Record<string, Transfer>> = {
  rclone: {
    when: /^(copy|copyto|sync|move|moveto|bisync|check|cat|delete|purge|serve \w+)$/,
    takes: /^(move|moveto|delete|purge|bisync)$/,
    mirrors: /^(sync|bisync)$/,
  },
  aws: { when: /^s3 (cp|mv|sync)$/, takes: /mv$/, mirrors: /sync$/ },
  gsutil: { when: /^(cp|mv|rsync)$/, takes: /mv$/, mirrors: /rsync$/ },
  gcloud: { when: /^storage (cp|mv|rsync)$/, takes: /mv$/, mirrors: /rsync$/ },
  s3cmd: { when: /^(put|sync)$/ },
  mc: { when: /^(cp|mv|mirror)$/, takes: /mv$/, mirrors: /mirror$/ },
  docker: COPY,
  podman: COPY,
  nerdctl: COPY,
  kubectl: COPY,
  oc: { when: /^(cp|rsync)$/, options: CLUSTER },
  lxc: { when: /^file push$/ },
  restic: { when: /^backup$/, options: REPOSITORY },
  borg: { when: /^create$/ },
  kopia: { when: /^(snapshot|snap) create$/ },
};

const transfer: TreeProgram = (words, _context, name) => {
  const kind = own(TRANSFERS, name);
  const options = parseOptions(words, kind?.options ?? TRANSFER_OPTIONS);
  const { operands } = options;
  const length = [1, 2].find((count) => kind?.when.test(text(operands.slice(0, count))) === true);
  if (kind === undefined || length === undefined) return [];
  const verb = text(operands.slice(0, length));
  const places = operands.slice(length).filter(({ literal }) => literal);
  const isCut = hasFlag(options, LEAVES_OUT);
  const cut = isCut ? { unsure: 'what it leaves out is not followed' } : {};
  const takes = kind.takes?.test(verb) === true;
  const mirrors = kind.mirrors?.test(verb) === true;
  return places.filter(isLocal).map((start): TreeUse => {
    const isTarget = mirrors && places.length > 1 && start === places.at(-1);
    return { start, access: takes || isTarget ? 'write' : 'read', follows: true, ...cut };
  });
};

/** `host:path`, `pod:path`, `s3://bucket`, `repository::archive`. */
function isLocal({ value }: ShellWord): boolean {
  return !/^[^/]+:/.test(value);
}

function text(words: readonly ShellWord[]): string {
  return words.map(({ value }) => value).join(' ');
}

const TRANSFERRING_PROGRAMS: Readonly<Record<string, TreeProgram>> = Object.fromEntries(
  Object.keys(TRANSFERS).map((name) => [name, transfer]),
);

const PROGRAMS: Readonly<Record<string, TreeProgram>> = {
  ...SEARCHING_PROGRAMS,
  ...PACKING_PROGRAMS,
  ...COPYING_PROGRAMS,
  ...COMPRESSING_PROGRAMS,
  ...TRANSFERRING_PROGRAMS,
  ...CHANGING_PROGRAMS,
};

/** The trees that a command goes through; programs that are not in the tables go through none. */
export function treesOf(words: readonly ShellWord[], context: TreeContext): readonly TreeUse[] {
  // Some systems take `GREP` for `grep`.
  const name = programOf(words)?.toLowerCase() ?? '';
  return own(PROGRAMS, name)?.(words.slice(1), context, name) ?? [];
}

/** Whether the program may go through directories by itself. */
export function mayTakeTree(words: readonly ShellWord[]): boolean {
  const name = programOf(words)?.toLowerCase() ?? '';
  return name === 'git' || Object.hasOwn(PROGRAMS, name);
}
