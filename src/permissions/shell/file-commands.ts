import { memoised } from '../../lib/memo.js';
import { basename, dirname, join } from '../../platform/fs/paths.js';
import { gitCall } from '../git/subcommands.js';
import { withoutBraces } from './braces.js';
import type { Effect, PathEffect } from './effects/effect.js';
import { effectsOfProgram, type OperandForm, type Program } from './effects/program.js';
import { type FileUse, readOnlyUse, rowOf } from './effects/uses.js';
import { programOf, type ShellWord } from './model.js';
import { factsOf, isListed } from './programs/index.js';
import { IN_PLACE } from './programs/runtimes.js';

/** Forms of operands by which a program changes what it is given. */
const CHANGES: ReadonlySet<OperandForm> = new Set(['write', 'delete', 'move']);

/** Whether all that a command is given is text for it. */
export function takesText(words: readonly ShellWord[]): boolean {
  return factsOf(words).takesText === true;
}

/**
 * What any command may do to files, by all that can be seen: for restrictions, so rather too much
 * than too little. Operands, values of `--option=value` and of `key=value` count as files.
 */
export const possibleFileUse = memoised(fileUseOf);

type PossibleFileUse = FileUse & { readonly unknown: boolean };

function fileUseOf(words: readonly ShellWord[]): PossibleFileUse {
  const program = programOf(words) ?? '';
  const rest = words.slice(1);
  if (takesText(words)) return { reads: [], writes: [], unknown: false };
  const looks = readOnlyUse(words);
  if (looks !== undefined) return { reads: looks.reads, writes: [], unknown: false };
  if (program === 'git' && onlyForgets(rest)) return { reads: [], writes: [], unknown: false };
  const operands = rest
    .filter((word, at) => !isLeftOut(words, at) && (word.literal || knownPart(word) !== ''))
    .flatMap((word) => pathsIn(knownPart(word)));
  const takesFiles =
    isFileProgram(words) ||
    (program === 'git' && rest.some(({ value }) => value === 'rm' || value === 'mv'));
  const unknown =
    (takesFiles && rest.some((word) => !word.literal)) ||
    rest.some(hasManyBraces) ||
    rest.some(({ value }) => isUrlPattern(value));
  const writes = writesOf(words, operands, rowOf(words));
  const isCopy = program === 'cp' && rest.some(({ value }) => COPIES_AS_LINK.test(value));
  if (program !== 'ln' && !isCopy) return { reads: operands, writes, unknown };
  const behind = behindLinks(operands);
  if (behind === undefined) return { reads: operands, writes, unknown: true };
  // Through another name of it a file is written as well.
  return { reads: [...operands, ...behind], writes: [...writes, ...operands, ...behind], unknown };
}

const COPIES_AS_LINK = /^-[a-zA-Z]*[ls]|^--(link|sym)/;
const MOST_LINKS = 50;

/**
 * A link leads on from where it lies, not from where it is made: `ln -s ../secrets/key src/l`. Undefined:
 * there are too many to follow.
 */
function behindLinks(operands: readonly string[]): readonly string[] | undefined {
  if (operands.length > MOST_LINKS) return undefined;
  const targets = operands.filter((operand) => !operand.startsWith('/'));
  return operands.flatMap((place) =>
    targets
      .filter((target) => target !== place)
      .flatMap((target) => [join(dirname(place), target), join(place, target)]),
  );
}

/** `git rm --cached` takes names off git's list and leaves the files alone. */
function onlyForgets(rest: readonly ShellWord[]): boolean {
  // fail-closed: what is decided at run time may be an option that takes `--cached` back.
  if (rest.some(({ literal, pattern }) => !literal || pattern !== undefined)) return false;
  const [first, ...others] = rest.map(({ value }) => value);
  const options = others.filter((value) => value.startsWith('-'));
  return (
    first === 'rm' &&
    options.includes('--cached') &&
    options.every((option) =>
      /^(--cached|--|-[rfqn]+|--(force|quiet|ignore-unmatch))$/.test(option),
    )
  );
}

/** Names that a command is told to leave out are not names of what it takes. */
function isLeftOut(words: readonly ShellWord[], at: number): boolean {
  const program = programOf(words) ?? '';
  const rest = words.slice(1);
  const value = rest[at]?.value ?? '';
  const before = rest[at - 1]?.value ?? '';
  if (program === 'git')
    return rest[0]?.value === 'clean' && (before === '-e' || /^-e./.test(value));
  // `-not -path './.git/*'`
  if (program === 'find')
    return (
      /^-i?(name|path|wholename|regex)$/.test(before) &&
      /^(!|-not)$/.test(rest[at - 2]?.value ?? '')
    );
  if (factsOf(words).leavesOut !== true) return false;
  return /^--exclude(-dir)?=/.test(value) || /^--exclude(-dir)?$/.test(before);
}

/** By its row, and by options that mostly name a file to write; all operands where it is not known which. */
function writesOf(
  words: readonly ShellWord[],
  operands: readonly string[],
  row: Program | undefined,
): readonly string[] {
  const program = programOf(words) ?? '';
  const rest = words.slice(1);
  const effects = row === undefined ? [] : effectsOfProgram(row, rest);
  const written = effects.filter(isWritten).map(({ target }) => target.value);
  const outputs = rest.flatMap((word, at) => outputValue(word.value, rest[at + 1]?.value, row));
  const isOpen = row?.restrictsOnly === true || effects.some(({ kind }) => kind === 'unknown');
  const isLast = row?.operands === 'copy' || row?.operands === 'read-write';
  const named = !isOpen || row === undefined ? [] : isLast ? operands.slice(-1) : [];
  if (program === 'git') return [...gitWrites(words, operands), ...outputs];
  const changesAll =
    (isOpen && row !== undefined && CHANGES.has(row.operands)) ||
    effects.some(isFound) ||
    editsInPlace(words);
  const uploaded =
    program === 'curl' && rest.some(({ value }) => /^(-[a-zA-Z]*T|--upl)/.test(value))
      ? rest.flatMap(({ value }) => fileOfUrl(value) ?? [])
      : [];
  const kept = rest.flatMap(({ value }) => keptBeside(value, operands));
  return [...written, ...(changesAll ? operands : named), ...outputs, ...uploaded, ...kept];
}

/** `-i'old/*'` keeps each file as it was in another directory. */
function keptBeside(value: string, operands: readonly string[]): readonly string[] {
  const suffix = /^(?:-[a-zA-Z0-9]*?i|--in-pl[a-z]*=)(.*\/.*)$/s.exec(value)?.[1];
  if (suffix === undefined) return [];
  return [dirname(suffix), ...operands.map((name) => suffix.replaceAll('*', basename(name)))];
}

function isWritten(effect: Effect): effect is PathEffect {
  return effect.kind === 'path' && effect.access !== 'read';
}

/** What find removes, or hands to a program: its tests name it. */
function isFound(effect: Effect): boolean {
  if (effect.kind !== 'path' || effect.recursion?.skips?.itself === undefined) return false;
  return effect.access === 'delete' || effect.recursion.handedTo !== undefined;
}

function editsInPlace(words: readonly ShellWord[]): boolean {
  const { editsWith } = factsOf(words);
  return words
    .slice(1)
    .some(
      ({ value }) =>
        /^--(write|fix|in-place|inplace)(=|$)/.test(value) || editsWith?.test(value) === true,
    );
}

const LONG_TARGET =
  /^--(out|output|outdir|out-dir|outfile|outp\w*|output-[\w-]+|target-dir\w*|directory|directory-prefix|dir|dump-header|cookie-jar|trace|trace-ascii|stderr|hsts|hsts-file|etag-save|libcurl|save-cookies|warc-file|log-file|one-top-level|export-marks\w*|import-marks\w*)(?:=(.*))?$/is;

/** `-o file`, `-ofile`, `--output=file`, `-out file`, unless the row says what the option is. */
function outputValue(
  value: string,
  next: string | undefined,
  row: Program | undefined,
): readonly string[] {
  if (!value.startsWith('-')) return [];
  const long = LONG_TARGET.exec(value);
  if (long !== null) return row?.options.long.has(long[1] ?? '') ? [] : [long[2] ?? next ?? ''];
  if (/^-(out|outfile|outdir|keyout|MF|dumpdir)$/.test(value)) return [next ?? ''];
  const letters = [...'oO'].filter((letter) => row?.options.short.has(letter) !== true).join('');
  if (letters === '') return [];
  const short = new RegExp(`^-[^-/.=]*?[${letters}]=?(.*)$`, 's').exec(value);
  if (short === null) return [];
  return [short[1] === '' ? (next ?? '') : (short[1] ?? '')];
}

function pathsIn(value: string): readonly string[] {
  // Some programs have lists of their own.
  const { texts } = withoutBraces(value);
  if (texts.length > 1 || texts[0] !== value) return [value, ...texts.flatMap(pathsInPlain)];
  return pathsInPlain(value);
}

function pathsInPlain(value: string): readonly string[] {
  if (!value.startsWith('-')) {
    const key = /^[A-Za-z_][\w.-]*=[@<]?(.+)$/s.exec(value);
    const file = /^@(.+)$/s.exec(value)?.[1] ?? fileOfUrl(value);
    return [value, ...(key === null ? [] : [key[1] ?? '']), ...(file === undefined ? [] : [file])];
  }
  const long = /^--[\w-]+=(.+)$/s.exec(value);
  if (long !== null) return [long[1] ?? ''];
  // Lines of a file: `-L1,9:file`.
  const lines = /^-L[^:]*:(?:.*:)?(.+)$/s.exec(value)?.[1];
  if (lines !== undefined) return [lines];
  return /^-[^-].+/s.test(value) ? [value.slice(2)] : [];
}

/** A word that is open only for its braces, as it stands; the shell spells it out. */
function bracesOf({ literal, raw }: ShellWord): string | undefined {
  return literal || /[$`<>(]/.test(raw) || !raw.includes('{')
    ? undefined
    : raw.replace(/["'\\]/g, '');
}

/** What the shell makes of a word with braces, else the word as far as it is known. */
export function spelledOut(word: ShellWord): readonly string[] {
  const text = bracesOf(word);
  return text === undefined ? [word.value] : withoutBraces(text).texts;
}

function knownPart(word: ShellWord): string {
  return bracesOf(word) ?? word.value;
}

/** fail-closed: what is not spelled out here may be any name. */
function hasManyBraces(word: ShellWord): boolean {
  const text = bracesOf(word);
  return text !== undefined && (/[*?[]|\.\./.test(text) || withoutBraces(text).isCut);
}

/** The file that an address of this machine leads to. */
function fileOfUrl(value: string): string | undefined {
  const path = /^file:(?:\/\/(?:localhost|127\.0\.0\.1)?(?=\/))?(.+)$/is.exec(value)?.[1];
  if (path === undefined) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    // What cannot be decoded stands for itself.
    return path;
  }
}

/** curl has patterns of its own in addresses, and nobody here spells them out. */
function isUrlPattern(value: string): boolean {
  return /^file:.*[[\]{}]/is.test(value);
}

/** Whether it is known which of its operands a program reads and writes. */
function isFileProgram(words: readonly ShellWord[]): boolean {
  const { editsWith, opens } = factsOf(words);
  const row = rowOf(words);
  if (row === undefined) return editsWith !== undefined;
  if (row.custom !== undefined) return opens === true;
  return FILE_FORMS.has(row.operands) && opens !== false;
}

/**
 * The command of a program of which no row says what it does with the files that it is given: then it may write
 * them. Of words that only may be a program, those count that look like a name.
 */
export function unknownProgram(words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const program = programOf(words) ?? '';
  if (!/^[A-Za-z_][\w.+-]*$/.test(program) || takesText(words)) return undefined;
  const { wraps, launches, shell, builtin, interprets, opens, ...facts } = factsOf(words);
  const isForeign = interprets !== undefined && interprets !== 'transfers';
  if (isForeign && (isListed(program) || facts.runsAnything === true)) {
    const runsScripts = facts.runsAnything === true && facts.runsInput?.bare === true;
    return runsScripts ? scriptOf(words) : undefined;
  }
  const row = rowOf(words);
  if (row !== undefined && row.partial !== true) return undefined;
  const isKnown = wraps !== undefined || [launches, shell, builtin, opens].includes(true);
  return isKnown ? undefined : words;
}

/** The script that an interpreter runs, and what that is given. */
function scriptOf(words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const operand = words.findIndex(({ value }, at) => at > 0 && !value.startsWith('-'));
  const options = words.slice(1, operand === -1 ? undefined : operand);
  const isInline = options.some(({ value }) =>
    /^-(-?(eval|print)|[a-zA-Z0]*[ceEpnrm])/.test(value),
  );
  return operand === -1 || isInline ? undefined : words.slice(operand);
}

const WRITE_FORMS: ReadonlySet<OperandForm> = new Set([...CHANGES, 'copy', 'read-write']);
const FILE_FORMS: ReadonlySet<OperandForm> = new Set([...WRITE_FORMS, 'read', 'pattern-read']);

/** Whether a program that is known to write does so where that is decided at run time. */
export function mayWriteUnknown(words: readonly ShellWord[]): boolean {
  const program = programOf(words) ?? '';
  const row = rowOf(words);
  const { editsWith } = factsOf(words);
  const edits = editsWith ?? (/^g?sed$/.test(program) ? IN_PLACE : undefined);
  const writes =
    (row !== undefined && (WRITE_FORMS.has(row.operands) || program === 'xxd')) ||
    (edits !== undefined && words.some(({ value }) => edits.test(value)));
  return words.slice(1).some((word, at) => {
    if (word.literal && word.braced !== true) return false;
    const before = words[at]?.value ?? '';
    const isFile = /^(git|g?tar|bsdtar)$/.test(program) && ENDS_FILE.test(before);
    return writes || isFile || NAMES_OUTPUT.test(word.value) || ENDS_OUTPUT.test(before);
  });
}

/** An option that names a file to write, with its value in the same word or the next. */
const NAMES_OUTPUT = /^(of=|-[oO]|--out[\w-]*=)/;
const ENDS_OUTPUT = /^(-[a-zA-Z]*[oO]|--out[\w-]*)$/;
const ENDS_FILE = /^(-?[a-zA-Z]*f|--file)$/;

/** Where a program that is known to write does so; empty for the others. */
export function knownWrites(words: readonly ShellWord[]): readonly string[] {
  if (readOnlyUse(words) !== undefined || takesText(words)) return [];
  return possibleFileUse(words).writes;
}

/** Files that git writes because it is told to. */
function gitWrites(words: readonly ShellWord[], operands: readonly string[]): readonly string[] {
  const { row } = gitCall(words);
  return [...(row.writes === true ? operands : []), ...(row.also?.(words.slice(1)) ?? [])];
}
