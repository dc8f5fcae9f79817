import { nameOf, programOf, type ShellWord } from '../model.js';
import { modelOf } from '../programs/index.js';
import type { Effect, PathEffect } from './effect.js';
import { effectsOfWords } from './effects.js';
import { parseOptions } from './options.js';
import { effectsOfProgram, HERE, type Program } from './program.js';
import type { CommandContext } from './recursion.js';
import { isPath, type TreeUse, treesAmong } from './trees.js';

/** A command that changes nothing, and the files that it may look at. */
interface ReadOnlyUse {
  /** As written, relative to the command's directory. */
  readonly reads: readonly string[];
  /** Words with wildcards that stand for files. */
  readonly patterns: readonly string[];
  /** Of directories among these it follows the links, so that it may look anywhere. */
  readonly filesOnly?: true;
}

/**
 * Undefined: it may do more than look. `handsOn`: it may also hand files that it finds to a program that only looks
 * (`find -exec cat`), so that a link among them counts as followed.
 */
export function readOnlyUse(
  words: readonly ShellWord[],
  { handsOn = false }: { readonly handsOn?: boolean } = {},
): ReadOnlyUse | undefined {
  // fail-closed: what is decided at run time may be an option, or a file anywhere.
  if (words.some(({ literal, braced }) => !literal || braced)) return undefined;
  const effects = effectsOfWords(words);
  const hands = effects.some((effect) => effect.kind === 'run' && effect.fed !== undefined);
  if (words.length === 0 || (hands && !handsOn) || !effects.every(isLook)) return undefined;
  const targets = effects.filter(isPath);
  const named = targets.filter(({ target }) => target.pattern === undefined && target !== HERE);
  const use = {
    reads: named.map(({ target }) => target.value),
    patterns: targets.flatMap(({ target }) => target.pattern ?? []),
  };
  const follows = hands || targets.some(({ recursion }) => recursion?.follows === true);
  return follows ? { ...use, filesOnly: true } : use;
}

/** A program that reads as many files as it is given, and does nothing else with any option. */
export function takesAnyFiles(words: readonly ShellWord[]): boolean {
  const row = modelOf(nameOf(words));
  return row?.plain === true && row.most === undefined;
}

function isLook(effect: Effect): boolean {
  if (effect.kind === 'run') {
    return (
      effect.fed === undefined || (effect.fed === 'found-files' && takesAnyFiles(effect.words))
    );
  }
  return effect.kind === 'path' && effect.access === 'read';
}

/** What a command does to files, by the paths as written. */
export interface FileUse {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** The files of a command that does nothing but read, write and delete those that it names; else undefined. */
export function simpleFileUse(words: readonly ShellWord[]): FileUse | undefined {
  if (modelOf(nameOf(words))?.edits !== true) return undefined;
  const effects = effectsOfWords(words);
  const paths = effects.filter(isPath);
  const isPlain = effects.length === paths.length && paths.length > 0;
  const follows = paths.some(({ recursion }) => recursion?.follows === true);
  if (!isPlain || follows || words.some(({ pattern }) => pattern !== undefined)) return undefined;
  const of = (isMeant: (access: PathEffect['access']) => boolean): readonly string[] =>
    paths.filter(({ access }) => isMeant(access)).map(({ target }) => target.value);
  return { reads: of((access) => access === 'read'), writes: of((access) => access !== 'read') };
}

/** The operands of a program whose purpose it is to delete them, wherever the program lies. */
export function removals(words: readonly ShellWord[]): readonly ShellWord[] {
  const row = modelOf(programOf(words));
  return row?.operands === 'delete' ? parseOptions(words.slice(1), row.options).operands : [];
}

/** The trees that a command goes through and opens or changes files of. */
export function treesOf(words: readonly ShellWord[], context: CommandContext): readonly TreeUse[] {
  return treesAmong(effectsWherever(words, context), (run) => readOnlyUse(run) !== undefined);
}

/** Whether a command may go into directories, to list, open, change or make files there. */
export function goesThrough(words: readonly ShellWord[]): boolean {
  const context = { fed: false, names: () => true, mayBeSet: () => true };
  const effects = effectsWherever(words, context);
  return effects.some((effect) => effect.kind === 'path' && effect.recursion !== undefined);
}

/** What a program itself does, wherever it lies; nothing where the table has no row for it. */
export function effectsWherever(
  words: readonly ShellWord[],
  context?: CommandContext,
): readonly Effect[] {
  const row = rowOf(words);
  return row === undefined ? [] : effectsOfProgram(row, words.slice(1), context);
}

/** The row of a program wherever it lies. Some systems take `GREP` for `grep`. */
export function rowOf(words: readonly ShellWord[]): Program | undefined {
  return modelOf(programOf(words)?.toLowerCase());
}
