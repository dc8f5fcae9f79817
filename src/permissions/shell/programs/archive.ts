import { type Effect, reads, writes } from '../effects/effect.js';
import { hasFlag, optionTable, parseOptions, valuesOf } from '../effects/options.js';
import { custom, HERE, type Program, program, rows } from '../effects/program.js';
import { type CommandContext, globMatcher, type Recursion } from '../effects/recursion.js';
import { literalWord, type ShellWord, UNKNOWN_WORD } from '../model.js';

const restrictsOnly = true as const;

const TAR =
  optionTable(`-cruAxtdjzJZahlpPvwWkmOSsUBnioM -fCTXbIFKLNVgH: create append update concatenate catenate extract
  get list diff compare delete file: directory: files-from: exclude: exclude-from: exclude-vcs
  exclude-vcs-ignores exclude-caches exclude-backups exclude-tag: anchored no-anchored wildcards
  no-wildcards wildcards-match-slash no-wildcards-match-slash ignore-case no-ignore-case add-file:
  dereference hard-dereference transform: xform: owner: group: mode: mtime: sort: format:
  blocking-factor: use-compress-program: newer: newer-mtime: after-date: listed-incremental: label:
  strip-components: starting-file: tape-length: totals verbose gzip bzip2 xz zstd lzma auto-compress
  recursion no-recursion one-file-system numeric-owner absolute-names null verbatim-files-from
  checkpoint? warning: to-command: rsh-command: info-script: suffix: backup? index-file: record-size:
  volno-file:`);

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

/** What goes into an archive; options count for what stands behind them. */
function effectsOfTar(words: readonly ShellWord[], context: CommandContext): readonly Effect[] {
  const given = parseOptions(dashed(words), TAR);
  if (!hasFlag(given, 'c r u create append update')) {
    const into = given.values.filter(({ option }) => /^(C|directory)$/.test(option));
    return into.map(({ word }) => writes(word, { made: true }));
  }
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
      .filter(({ option }) => /^(C|directory)$/.test(option))
      .map(({ word }) => word);
    const excluded = before.filter(({ option }) => option === 'exclude' && !changed);
    const left = globMatcher(excluded.map(({ value }) => value));
    return { ...take(start, { ...how, skips: { file: left, directory: left } }), moves };
  });
  const isListed = hasFlag(given, 'T files-from') || context.names('TAR_OPTIONS');
  return isListed ? [...effects, take(UNKNOWN_WORD, how)] : effects;
}

const ZIP =
  optionTable(`-ryjqvuTDASFfdlogceJKkXwz@0123456789 -R=patterns -m=changes -bntPOs: recurse-paths
  recurse-patterns=patterns symlinks output-file: temp-path: password: suffixes: move=changes`);

function effectsOfZip(words: readonly ShellWord[], context: CommandContext): readonly Effect[] {
  const given = parseOptions(words, ZIP);
  const values = words.map(({ value }) => value);
  const isListed = context.names('ZIPOPT') || values.some((value) => /^-?@$/.test(value));
  // Moved into the archive: gone from where it was.
  const take = given.tags.has('changes') ? writes : reads;
  const how: Recursion = { follows: !hasFlag(given, 'y symlinks') };
  const listed = isListed ? [take(UNKNOWN_WORD, how)] : [];
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
  if (!/^[au]$/.test(command?.value ?? '')) return [];
  const operands = rest.filter(({ value }) => !/^[-@]/.test(value)).slice(1);
  const isListed = rest.some(({ value }) => value.startsWith('@') || value.startsWith('-i'));
  const isCut = rest.some(({ value }) => /^-x/.test(value));
  const starts = operands.length === 0 && !isListed ? [HERE] : operands;
  const unsure = isCut ? 'what it leaves out is not followed' : undefined;
  const all = isListed ? [...starts, UNKNOWN_WORD] : starts;
  return all.map((start) => reads(start, { follows: true, unsure }));
}

/** Names come in by the input. */
function effectsOfCpio(words: readonly ShellWord[]): readonly Effect[] {
  const isMade = words.some(({ value }) => /^-\w*[op]|^--(create|pass-through)/.test(value));
  return isMade ? [reads(UNKNOWN_WORD, {})] : [];
}

const COMPRESS_OPTIONS = `-adehimnNqRTvVzLH0123456789 -r=recursive -f=follow -cktl=keeps -SopDMBb: recursive=recursive
  keep=keeps stdout=keeps to-stdout=keeps decompress uncompress compress force=follow test=keeps list=keeps quiet
  verbose rm=changes suffix: fast best output-dir-flat: output-dir-mirror: filelist: exclude-compressed no-name
  name processes: blocksize:`;

/** Programs that put a packed file in the place of each file: the source is gone, unless it is kept. */
const REPLACING = program(COMPRESS_OPTIONS, 'write', {
  restrictsOnly,
  walks: ({ tags }, context) =>
    tags.has('recursive') || context.names('GZIP') ? { follows: tags.has('follow') } : undefined,
});

export const ARCHIVE: Readonly<Record<string, Program>> = {
  ...rows('tar gtar bsdtar', custom(effectsOfTar, { restrictsOnly })),
  zip: custom(effectsOfZip, { restrictsOnly }),
  ...rows('7z 7za 7zr 7zz rar', custom(effectsOfSevenZip, { restrictsOnly })),
  // Everything that is not an option goes in: which operand is the archive does not matter.
  ...rows(
    'jar pax mksquashfs',
    program('', 'read', { restrictsOnly, walks: () => ({ follows: true }) }),
  ),
  cpio: custom(effectsOfCpio, { restrictsOnly }),
  ...rows('gzip gunzip pigz unpigz compress uncompress', REPLACING),
  // They put it beside the file, which stays unless they are told otherwise.
  ...rows(
    'zstd zstdmt unzstd pzstd lz4 unlz4',
    program(COMPRESS_OPTIONS, 'read', {
      restrictsOnly,
      walks: ({ tags }) => (tags.has('recursive') ? {} : undefined),
    }),
  ),
};
