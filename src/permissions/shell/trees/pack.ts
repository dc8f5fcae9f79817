import { hasFlag, optionTable, parseOptions, valuesOf } from '../effects/options.js';
import { literalWord, type ShellWord, UNKNOWN_WORD } from '../model.js';
import { globMatcher, HERE, type TreeProgram, type TreeUse } from './use.js';

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

const tar: TreeProgram = (given, context) => {
  const words = dashed(given);
  const options = parseOptions(words, TAR);
  if (!hasFlag(options, 'c r u create append update')) return [];
  const use: Omit<TreeUse, 'start'> = {
    access: options.flags.has('remove-files') ? 'write' : 'read',
    follows: hasFlag(options, 'h dereference'),
    leaveOut: (name) => `--exclude=${name} in front of the directory`,
  };
  const changed = [...options.flags].some((flag) =>
    /^(no-)?(anchored|wild|ignore-case)/.test(flag),
  );
  const uses: TreeUse[] = [];
  const excluded: string[] = [];
  let left = globMatcher([]);
  let moves: readonly string[] = [];
  let next = 0;
  const starts = [...options.operands, ...valuesOf(options, 'add-file').map(literalWord)];
  for (const [at, start] of starts.entries()) {
    // An option counts for what stands behind it.
    for (; (options.values[next]?.after ?? Number.POSITIVE_INFINITY) <= at; next++) {
      const { option, value } = options.values[next] ?? { option: '', value: '' };
      if (/^(C|directory)$/.test(option)) moves = [...moves, value];
      if (option !== 'exclude' || changed) continue;
      excluded.push(value);
      left = globMatcher(excluded);
    }
    uses.push({ start, moves, skips: { file: left, directory: left }, ...use });
  }
  const listed = hasFlag(options, 'T files-from') || context.names('TAR_OPTIONS');
  return listed ? [...uses, { start: UNKNOWN_WORD, ...use }] : uses;
};

const ZIP =
  optionTable(`-rRymjqvuTDASFfdlogceJKkXwz@0123456789 -bntPOs: recurse-paths recurse-patterns symlinks output-file:
  temp-path: password: suffixes:`);

const zip: TreeProgram = (words, context) => {
  const options = parseOptions(words, ZIP);
  const isListed =
    context.names('ZIPOPT') || words.some(({ value }) => value === '-@' || value === '@');
  const follows = !hasFlag(options, 'y symlinks');
  // Moved into the archive: gone from where it was.
  const access = hasFlag(options, 'm move') ? 'write' : 'read';
  const use: Omit<TreeUse, 'start'> = { access, follows };
  const listed = isListed ? [{ start: UNKNOWN_WORD, ...use }] : [];
  const left = words.findIndex(({ value }) => /^-(x|i)$|^--(ex|in)clude$/.test(value));
  // What is left out goes by whole paths with other wildcards.
  const cut = left === -1 ? {} : { unsure: 'what it leaves out is not followed' };
  if (!hasFlag(options, 'r R recurse-paths recurse-patterns')) return listed;
  // With -R the operands are patterns for what is found from here on.
  const starts = hasFlag(options, 'R recurse-patterns') ? [HERE] : options.operands.slice(1);
  return [...starts.map((start) => ({ start, ...use, ...cut })), ...listed];
};

/** `7z a x.7z dir`: a command letter, an archive, and what goes into it. */
const sevenZip: TreeProgram = (words) => {
  const [command, ...rest] = words;
  if (!/^[au]$/.test(command?.value ?? '')) return [];
  const operands = rest.filter(({ value }) => !/^[-@]/.test(value)).slice(1);
  const isListed = rest.some(({ value }) => value.startsWith('@') || value.startsWith('-i'));
  const isCut = rest.some(({ value }) => /^-x/.test(value));
  const starts = operands.length === 0 && !isListed ? [HERE] : operands;
  const cut = isCut ? { unsure: 'what it leaves out is not followed' } : {};
  const all = isListed ? [...starts, UNKNOWN_WORD] : starts;
  return all.map((start) => ({ start, access: 'read', follows: true, ...cut }));
};

/** Everything that is not an option goes in: which operand is the archive does not matter. */
const other: TreeProgram = (words) =>
  words
    .filter(({ value, literal }) => literal && !value.startsWith('-'))
    .map((start) => ({ start, access: 'read', follows: true }));

/** Names come in by the input. */
const fromInput: TreeProgram = (words) => {
  const writes = words.some(({ value }) => /^-[a-zA-Z]*[op]|^--(create|pass-through)/.test(value));
  return writes ? [{ start: UNKNOWN_WORD, access: 'read' }] : [];
};

export const PACKING_PROGRAMS: Readonly<Record<string, TreeProgram>> = {
  tar,
  gtar: tar,
  bsdtar: tar,
  zip,
  '7z': sevenZip,
  '7za': sevenZip,
  '7zr': sevenZip,
  '7zz': sevenZip,
  rar: sevenZip,
  jar: other,
  pax: other,
  mksquashfs: other,
  cpio: fromInput,
};
