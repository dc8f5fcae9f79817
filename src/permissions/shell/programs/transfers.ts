import { type Effect, reads, writes } from '../effects/effect.js';
import { hazards, type ProgramFacts } from '../effects/facts.js';
import {
  type GivenOptions,
  hasFlag,
  type OptionTable,
  optionTable,
  parseOptions,
  valuesOf,
} from '../effects/options.js';
import { custom, isElsewhere, type Program, program } from '../effects/program.js';
import { leftOutBy, type Recursion } from '../effects/recursion.js';
import type { ShellWord } from '../model.js';

const RSYNC = program(
  `-vqcbuldHpEAXogDtNSnWxyCzhiPFIOsUmj4680V -ra=recursive -LkK=follow -R=parents -BefM@: -T:write recursive=recursive
  archive=recursive delete del delete-before delete-during delete-delay delete-after delete-excluded
  copy-links=follow copy-unsafe-links=follow copy-dirlinks=follow links exclude: exclude-from: include:
  include-from: filter: files-from:names rsh: rsync-path: backup-dir:write suffix: compare-dest: copy-dest: link-dest:
  temp-dir:write log-file:write out-format: log-file-format: password-file: bwlimit: timeout: port: chmod: chown: usermap:
  groupmap: info: debug: max-size: min-size: partial-dir:write block-size: compress-level: modify-window: max-delete:
  dry-run list-only no-recursive no-links relative=parents verbose progress stats compress times perms owner
  group remove-source-files=changes checksum update existing ignore-existing inplace append whole-file dirs`,
  'copy',
  {
    remote: true,
    facts: {
      destroys: true,
      leavesOut: true,
      runsOption: { next: /^-\w*e$/ },
      hazards: hazards('-e rsh rsync-path write-batch only-write-batch log-file daemon dparam'),
    },
    walks: (given) => (given.tags.has('recursive') ? walkOfRsync(given) : undefined),
    also: (given) => {
      const target = given.operands.at(-1);
      const empties =
        given.tags.has('recursive') && [...given.flags].some((flag) => flag.startsWith('del'));
      if (!empties || target === undefined || isElsewhere(target)) return [];
      return [writes(target, { skips: walkOfRsync(given).skips ?? {} })];
    },
  },
);

function walkOfRsync(given: GivenOptions): Recursion {
  const filters = valuesOf(given, 'f filter include include-from').length > 0;
  return {
    follows: given.tags.has('follow'),
    skips: leftOutBy(filters ? [] : valuesOf(given, 'exclude')),
    leaveOut: (name) => `--exclude=${name}`,
  };
}

const SCP = program('-pqvCBT346AO -r=recursive -cFiJlDoPSX:', 'copy', {
  remote: true,
  facts: { destroys: true, launches: true, hazards: hazards('-SoFJD') },
  walks: ({ tags }) => (tags.has('recursive') ? { follows: true } : undefined),
});

/** Options with a value that could be taken for a directory. */
const LONG = `recursive delete dry-run exclude: include: filter: files-from: exclude-from:
  include-from: filter-from: exclude-if-present: iexclude: iexclude-file: exclude-file: pattern:
  patterns-from: config: transfers: checkers: bwlimit: log-file: log-level: profile: region:
  endpoint-url: acl: storage-class: container: namespace: context: repo: tag: host: password-file:
  compression: project: quiet progress verbose no-progress follow-symlinks copy-links`;
const TRANSFER_OPTIONS = optionTable(`-rRmnpPdvqaLc -xjJF: ${LONG}`);

const LEAVES_OUT =
  'x exclude include filter files-from exclude-from include-from filter-from exclude-if-present iexclude iexclude-file exclude-file pattern patterns-from';

/** Verbs that carry files to the place that is named last. */
const CARRIES = /(^| )(cp|copy|copyto|sync|move|moveto|mv|rsync|get|mirror)$/;

interface Transfer {
  /** Which words in front make it one. */
  readonly when: RegExp;
  /** Which of these take away what they have carried over. */
  readonly takes?: RegExp;
  /** Which of these make a place like another one, and remove what is too much there. */
  readonly mirrors?: RegExp;
  readonly options?: OptionTable;
  readonly facts?: ProgramFacts;
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
  aws: {
    when: /^s3 (cp|mv|sync)$/,
    takes: /mv$/,
    mirrors: /sync$/,
    facts: { subcommands: { words: 2, runs: /^ssm$/ } },
  },
  gsutil: { when: /^(cp|mv|rsync)$/, takes: /mv$/, mirrors: /rsync$/ },
  gcloud: {
    when: /^storage (cp|mv|rsync)$/,
    takes: /mv$/,
    mirrors: /rsync$/,
    facts: { subcommands: { words: 2, runs: /^ssh$/ } },
  },
  s3cmd: { when: /^(put|get|sync)$/ },
  mc: { when: /^(cp|mv|mirror)$/, takes: /mv$/, mirrors: /mirror$/ },
  podman: {
    ...COPY,
    facts: {
      runsImages: true,
      subcommands: { groups: /^(container|image)$/ },
      runsAfter: /^(run|exec)$/,
    },
  },
  nerdctl: { ...COPY, facts: { runsAfter: /^(run|exec)$/ } },
  kubectl: {
    ...COPY,
    facts: {
      subcommands: { groups: /^(config|rollout)$/ },
      runsAfter: /^(exec|run|debug)$/,
      hazards: hazards('-s kubeconfig server context'),
    },
  },
  oc: { when: /^(cp|rsync)$/, options: CLUSTER, facts: { runsAfter: /^(exec|rsh|run|debug)$/ } },
  lxc: { when: /^file push$/, facts: { runsAfter: /^exec$/ } },
  restic: { when: /^backup$/, options: REPOSITORY },
  borg: { when: /^create$/ },
  kopia: { when: /^(snapshot|snap) create$/ },
};

function effectsOfTransfer(kind: Transfer, words: readonly ShellWord[]): readonly Effect[] {
  const given = parseOptions(words, kind.options ?? TRANSFER_OPTIONS);
  const { operands } = given;
  const length = [1, 2].find((count) => kind.when.test(text(operands.slice(0, count))));
  if (length === undefined) return [];
  const verb = text(operands.slice(0, length));
  const places = operands.slice(length);
  const unsure = hasFlag(given, LEAVES_OUT) ? 'what it leaves out is not followed' : undefined;
  const isTarget = (place: ShellWord): boolean =>
    kind.mirrors?.test(verb) === true && places.length > 1 && place === places.at(-1);
  const local = places.filter((place) => !isElsewhere(place));
  const last = CARRIES.test(verb) ? local.filter((place) => place === places.at(-1)) : [];
  return [
    ...last.map((place) => writes(place, { made: true })),
    ...local.map((place) => {
      const changes = kind.takes?.test(verb) === true || isTarget(place);
      return (changes ? writes : reads)(place, { follows: true, unsure });
    }),
  ];
}

/** `docker cp`. */
export function effectsOfContainerCopy(words: readonly ShellWord[]): readonly Effect[] {
  return effectsOfTransfer(COPY, words);
}

function text(words: readonly ShellWord[]): string {
  return words.map(({ value }) => value).join(' ');
}

export const TRANSFERRING: Readonly<Record<string, Program>> = {
  rsync: RSYNC,
  scp: SCP,
  ...Object.fromEntries(
    Object.entries(TRANSFERS).map(([name, kind]) => [
      name,
      custom((words) => effectsOfTransfer(kind, words), { facts: kind.facts }),
    ]),
  ),
};
