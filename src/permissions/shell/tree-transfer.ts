import { own } from '../../lib/own.js';
import { hasFlag, type OptionTable, optionTable, parseOptions } from './effects/options.js';
import type { ShellWord } from './model.js';
import type { TreeProgram, TreeUse } from './tree-use.js';

/** Options with a value that could be taken for a directory. */
const LONG = `recursive delete dry-run exclude: include: filter: files-from: exclude-from:
  include-from: filter-from: exclude-if-present: iexclude: iexclude-file: exclude-file: pattern:
  patterns-from: config: transfers: checkers: bwlimit: log-file: log-level: profile: region:
  endpoint-url: acl: storage-class: container: namespace: context: repo: tag: host: password-file:
  compression: project: quiet progress verbose no-progress follow-symlinks copy-links`;
const OPTIONS = optionTable(`-rRmnpPdvqaLc -xjJF: ${LONG}`);

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
  const options = parseOptions(words, kind?.options ?? OPTIONS);
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

export const TRANSFERRING_PROGRAMS: Readonly<Record<string, TreeProgram>> = Object.fromEntries(
  Object.keys(TRANSFERS).map((name) => [name, transfer]),
);
