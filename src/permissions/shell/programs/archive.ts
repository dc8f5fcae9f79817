import { type Effect, reads, writes } from '../effects/effect.js';
import { hazards, type ProgramFacts } from '../effects/facts.js';
import {
  type GivenOptions,
  hasFlag,
  optionTable,
  parseOptions,
  valuesOf,
} from '../effects/options.js';
import { custom, HERE, type Program, program, rows } from '../effects/program.js';
import { type CommandContext, globMatcher, type Recursion } from '../effects/recursion.js';
import { literalWord, type ShellWord, UNKNOWN_WORD } from '../model.js';

const TAR =
  optionTable(`-cruAxtdjzJZahlpPvwWkmOSsUBnioM -fCTXbIFKLNVH: -g:write create append update concatenate catenate extract
  get list diff compare delete file: directory: cd: files-from: exclude: exclude-from: exclude-vcs
  exclude-vcs-ignores exclude-caches exclude-backups exclude-tag: anchored no-anchored wildcards
  no-wildcards wildcards-match-slash no-wildcards-match-slash ignore-case no-ignore-case add-file:
  dereference hard-dereference transform: xform: owner: group: mode: mtime: sort: format:
  blocking-factor: use-compress-program: newer: newer-mtime: after-date: listed-incremental:write label:
  strip-components: starting-file: tape-length: totals verbose gzip bzip2 xz zstd lzma auto-compress
  recursion no-recursion one-file-system numeric-owner absolute-names null verbatim-files-from
  checkpoint? warning: to-command: rsh-command: info-script: suffix: backup? index-file:write record-size:
  volno-file:write one-top-level?write`);

/** Options may stand together in front, without a dash: `tar cf x .`. */
function dashed(words: readonly ShellWord[]): readonly ShellWord[] {
  const [first, ...rest] = words;
  if (first === undefined || first.value.startsWith('-') || !first.literal) return words;
  const takesValue = (letter: string): boolean => TAR.short.get(letter)?.value === 'required';
  const valued = [...first.value].filter(takesValue);
  const flags = [...first.value].filter((letter) => !takesValue(letter)).join('');
  // Their values follow in the order of the letters.
  const pairs = valued.flatMap((letter, at) => [literalWord(`-${letter}`), rest[at] ?? HERE]);
  return [literalWord(`-${flags}`), ...pairs, ...rest.slice(valued.length)];
}

function effectsOfTar(words: readonly ShellWord[], context: CommandContext): readonly Effect[] {
  const given = parseOptions(dashed(words), TAR);
  const of = (option: RegExp): readonly ShellWord[] =>
    given.values.filter((one) => option.test(one.option)).map(({ word }) => word);
  const effects = given.values
    .filter(({ kind }) => kind === 'write')
    .map(({ word }) => writes(word));
  effects.push(...of(/^(C|cd|directory)$/).map((word) => writes(word, { made: true })));
  const isPacked = hasFlag(given, 'c r u create append update');
  const isChanged = isPacked || hasFlag(given, 'A catenate concatenate delete');
  effects.push(...of(/^(f|file)$/).map((word) => (isChanged ? writes : reads)(word)));
  if (isPacked) return [...effects, ...packedByTar(given, context)];
  if (!hasFlag(given, 'x extract get')) return effects;
  const renamed = words.flatMap((word, at) => namesOfRenaming(word, words[at + 1]));
  return [...effects, ...[...given.operands, ...renamed].map((word) => writes(word))];
}

const RENAMES = /^(?:--(?:transform|xform)(?:=(.*))?|-s(.*))$/s;

/** What `--transform s,from,to,` puts in: any part of it. */
function namesOfRenaming(word: ShellWord, next: ShellWord | undefined): readonly ShellWord[] {
  const found = RENAMES.exec(word.value);
  if (found === null) return [];
  const script = found[1] ?? (found[2] || (next?.value ?? ''));
  const delimiter = script.charAt(script.startsWith('s') ? 1 : 0);
  const plain = script.replaceAll(`\\${delimiter}`, delimiter === '/' ? '\0' : delimiter);
  return plain
    .split(delimiter)
    .map((part) => literalWord(part.replaceAll('\0', '/').replace(/^\^/, '')))
    .filter(({ value }) => value !== '');
}

/** What goes into an archive; options count for what stands behind them. */
function packedByTar(given: GivenOptions, context: CommandContext): readonly Effect[] {
  const take = given.flags.has('remove-files') ? writes : reads;
  const how: Recursion = {
    follows: hasFlag(given, 'h dereference'),
    leaveOut: (name) => `--exclude=${name} in front of the directory`,
  };
  const changed = [...given.flags].some((flag) => /^(no-)?(anchored|wild|ignore-case)/.test(flag));
  const starts = [...given.operands, ...valuesOf(given, 'add-file').map(literalWord)];
  const effects = starts.map((start, at): Effect => {
    const before = given.values.filter(({ after }) => after <= at);
    const moves = before
      .filter(({ option }) => /^(C|cd|directory)$/.test(option))
      .map(({ word }) => word);
    const excluded = before.filter(({ option }) => option === 'exclude' && !changed);
    const left = globMatcher(excluded.map(({ value }) => value));
    return { ...take(start, { ...how, skips: { file: left, directory: left } }), moves };
  });
  const isListed = hasFlag(given, 'T files-from') || context.names('TAR_OPTIONS');
  return isListed ? [...effects, take(UNKNOWN_WORD, how)] : effects;
}

const ZIP =
  optionTable(`-ryjqvuTDASFfdlogceJKkXwz@0123456789 -R=patterns -m=changes -bntPs: -O:write recurse-paths
  recurse-patterns=patterns symlinks output-file:write temp-path: password: suffixes: move=changes`);

function effectsOfZip(words: readonly ShellWord[], context: CommandContext): readonly Effect[] {
  const given = parseOptions(words, ZIP);
  const values = words.map(({ value }) => value);
  const isListed = context.names('ZIPOPT') || values.some((value) => /^-?@$/.test(value));
  // Moved into the archive: gone from where it was.
  const take = given.tags.has('changes') ? writes : reads;
  const how: Recursion = { follows: !hasFlag(given, 'y symlinks') };
  const listed: Effect[] = isListed ? [take(UNKNOWN_WORD, how)] : [];
  const out = given.values.filter(({ kind }) => kind === 'write').map(({ word }) => word);
  listed.push(...[...given.operands.slice(0, 1), ...out].map((word) => writes(word)));
  if (given.tags.has('changes')) listed.push(...given.operands.map((word) => writes(word)));
  const isPatterns = given.tags.has('patterns');
  if (!isPatterns && !hasFlag(given, 'r recurse-paths')) return listed;
  // What is left out goes by whole paths with other wildcards.
  const isCut = values.some((value) => /^-(x|i)$|^--(ex|in)clude$/.test(value));
  const unsure = isCut ? 'what it leaves out is not followed' : undefined;
  // With -R the operands are patterns for what is found from here on.
  const starts = isPatterns ? [HERE] : given.operands.slice(1);
  return [...starts.map((start) => take(start, { ...how, unsure })), ...listed];
}

/** `7z a x.7z dir`: a command letter, an archive, and what goes into it. */
function effectsOfSevenZip(words: readonly ShellWord[]): readonly Effect[] {
  const [command, ...rest] = words;
  const named = rest.filter(({ value }) => !/^[-@]/.test(value));
  // The archive, or what is taken out of it.
  const written = named.map((word) => writes(word));
  if (!/^[au]$/.test(command?.value ?? '')) return written;
  const operands = named.slice(1);
  const isListed = rest.some(({ value }) => value.startsWith('@') || value.startsWith('-i'));
  const isCut = rest.some(({ value }) => /^-x/.test(value));
  const starts = operands.length === 0 && !isListed ? [HERE] : operands;
  const unsure = isCut ? 'what it leaves out is not followed' : undefined;
  const all = isListed ? [...starts, UNKNOWN_WORD] : starts;
  return [...written.slice(0, 1), ...all.map((start) => reads(start, { follows: true, unsure }))];
}

/** Names come in by the input. */
function effectsOfCpio(words: readonly ShellWord[]): readonly Effect[] {
  const isMade = words.some(({ value }) => /^-\w*[op]|^--(create|pass-through)/.test(value));
  const taken = words.filter(({ value }) => !value.startsWith('-')).map((word) => writes(word));
  return isMade ? [reads(UNKNOWN_WORD, {}), ...taken] : taken;
}

const COMPRESS_OPTIONS = `-adehimnNqRTvVzLH0123456789 -r=recursive -f=follow -cktl=keeps -SpDMBb: -o:write recursive=recursive
  keep=keeps stdout=keeps to-stdout=keeps decompress uncompress compress force=follow test=keeps list=keeps quiet
  verbose rm=changes suffix: fast best output-dir-flat: output-dir-mirror: filelist: exclude-compressed no-name
  name processes: blocksize:`;

/** What comes out of `name.gz` is written to `name`. */
export function unpacked({ operands }: GivenOptions): readonly Effect[] {
  return operands.flatMap((word) => {
    const name = word.value.replace(/\.\w+$/, '');
    return name === word.value ? [] : [writes({ ...word, value: name })];
  });
}

/** Programs that put a packed file in the place of each file: the source is gone, unless it is kept. */
const REPLACING = program(COMPRESS_OPTIONS, 'write', {
  also: unpacked,
  walks: ({ tags }, context) =>
    tags.has('recursive') || context.names('GZIP') ? { follows: tags.has('follow') } : undefined,
});

const TAR_FACTS: ProgramFacts = {
  aliases: /^[bg]?(sd)?tar$/,
  opens: true,
  leavesOut: true,
  // Letters without a dash have their values behind them, in their order: `tar cIf program x y`.
  runsOption: { next: /^-\w*[IF]$/, leading: /^[A-Za-z]*[IF]/ },
  hazards: hazards(
    `-IFP checkpoint-action use-compress-program to-command rsh-command rmt-command
    new-volume-script info-script absolute-names`,
    // An archive `host:name` is on another machine, by a program that connects to it.
    /^(-\w*f|--file=)?[^-/:=][^/:=]*:/,
    { also: (word, at) => at === 0 && /^[^-]*[IFP]/.test(word) },
  ),
};

export const ARCHIVE: Readonly<Record<string, Program>> = {
  ...rows('tar gtar bsdtar', custom(effectsOfTar, { facts: TAR_FACTS })),
  zip: custom(effectsOfZip, {
    facts: {
      opens: true,
      runsOption: { next: /^-TT$/, attached: /^-TT(.+)$/is },
      hazards: hazards('unzip-command test', /^-[a-zA-Z]*T|^-lf./),
    },
  }),
  ...rows('7z 7za 7zr 7zz rar', custom(effectsOfSevenZip)),
  // Everything that is not an option goes in: which operand is the archive does not matter.
  ...rows(
    'jar pax mksquashfs',
    program('', 'read', {
      walks: () => ({ follows: true }),
      // One of them is the archive, or they are what is taken out of it.
      also: ({ operands }) => operands.map((word) => writes(word)),
    }),
  ),
  ...rows(
    'unzip unrar',
    program('-o -d:write', 'text', {
      facts: { hazards: hazards('-d', /^-[^-]*:/) },
      also: ({ operands }) => operands.slice(1).map((word) => writes(word)),
    }),
  ),
  cpio: custom(effectsOfCpio),
  ...rows('gzip gunzip pigz unpigz compress uncompress', REPLACING),
  // They put it beside the file, which stays unless they are told otherwise.
  ...rows(
    'zstd zstdmt unzstd pzstd lz4 unlz4',
    program(COMPRESS_OPTIONS, 'read', {
      walks: ({ tags }) => (tags.has('recursive') ? {} : undefined),
      also: (given) => [...given.operands.map((word) => writes(word)), ...unpacked(given)],
    }),
  ),
};
