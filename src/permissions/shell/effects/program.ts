import { unreachable } from '../../../lib/result.js';
import { type ShellWord, UNKNOWN_WORD } from '../model.js';
import { deletes, type Effect, reads, unknown, writes } from './effect.js';
import type { ProgramFacts } from './facts.js';
import {
  type GivenOptions,
  type GivenValue,
  type OptionTable,
  optionTable,
  parseOptions,
} from './options.js';
import type { CommandContext, Recursion, TreeTarget } from './recursion.js';

/**
 * What operands are. `pattern-read`: a text to search for, unless an option gives it, and files;
 * `read-write`: a file to read and one to write; `copy` and `move`: the last one is where the others go;
 * `run`: a program and its arguments; `skip-run`: the same behind one word of the wrapper's own.
 */
export type OperandForm =
  | 'none'
  | 'text'
  | 'read'
  | 'pattern-read'
  | 'write'
  | 'delete'
  | 'copy'
  | 'move'
  | 'read-write'
  | 'run'
  | 'skip-run';

/** A row of the table: what the words of a program mean. */
export interface Program {
  readonly facts?: ProgramFacts;
  /** Only facts are known: what its words do is not modelled. */
  readonly unmodelled?: true;
  readonly options: OptionTable;
  readonly operands: OperandForm;
  /** No option of it, listed or not, writes a file or runs a program. */
  readonly plain?: true;
  /** Not all of its harmless options are listed, only those with which it is sure to look. */
  readonly partial?: true;
  /** A simple file command, which the mode acceptEdits lets through. */
  readonly edits?: true;
  /** Grants take it for a program without a row: it may do more than the row says. */
  readonly restrictsOnly?: true;
  /** Without an operand it works on the directory that it runs in. */
  readonly here?: true | 'unless-fed';
  /** Operands such as `host:path` are places on other machines. */
  readonly remote?: true;
  /** The form of operands that are known. */
  readonly only?: RegExp;
  /** Most operands that it may have. */
  readonly most?: number;
  /** Where it goes by itself; by the tags `recursive` and `follow` unless stated. */
  readonly walks?: (given: GivenOptions, context: CommandContext) => Recursion | undefined;
  /** What it does besides. */
  readonly also?: (given: GivenOptions, context: CommandContext) => readonly Effect[];
  /** Its arguments follow rules of their own. */
  readonly custom?: (words: readonly ShellWord[], context: CommandContext) => readonly Effect[];
  /** The first operand names what is done; by its row. */
  readonly subcommands?: Readonly<Record<string, Program>>;
}

export function program(
  options: string,
  operands: OperandForm,
  more: Partial<Omit<Program, 'options' | 'operands'>> = {},
): Program {
  return { options: optionTable(options), operands, ...more };
}

export function custom(
  effects: NonNullable<Program['custom']>,
  more: Pick<Program, 'edits' | 'facts'> = {},
): Program {
  return program('', 'none', { ...more, custom: effects });
}

/** The row of a program of which only facts are known. */
export function unmodelled(facts: ProgramFacts): Program {
  return { ...program('', 'none'), unmodelled: true, facts };
}

/** A command by itself. */
export const ALONE: CommandContext = { fed: false, names: () => false, mayBeSet: () => false };

/** The same row for several programs. */
export function rows(names: string, row: Program): Readonly<Record<string, Program>> {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, row]));
}

/** An option behind an operand belongs to the program that runs; systems differ on whether `uniq a -u` writes a file. */
const ENDS_OPTIONS: ReadonlySet<OperandForm> = new Set(['run', 'skip-run', 'read-write']);

/** What the words behind the name of a program do. */
export function effectsOfProgram(
  row: Program,
  words: readonly ShellWord[],
  context: CommandContext = ALONE,
): readonly Effect[] {
  if (row.custom !== undefined) return row.custom(words, context);
  if (row.subcommands !== undefined) return effectsOfSubcommand(row, words, context);
  const leading = ENDS_OPTIONS.has(row.operands);
  const given = parseOptions(words, row.options, { leading });
  const { operands } = given;
  const effects: Effect[] = [...doubtsOf(row, given), ...optionEffects(given)];
  if (row.most !== undefined && operands.length > row.most) {
    effects.push(unknown('operand', operands[row.most]));
  }
  const odd = operands.filter(({ value }) => row.only?.test(value) === false);
  effects.push(...odd.map((word) => unknown('operand', word)));
  effects.push(...wildcardDoubts(row, operands), ...operandEffects(row, given, context));
  return [...effects, ...(row.also?.(given, context) ?? [])];
}

/**
 * The words of a command that a rule for its beginning does not cover: options that are not in the row, and
 * those by which it runs a program, writes a file or takes names from one.
 */
export function uncoveredOptions(row: Program, words: readonly ShellWord[]): readonly ShellWord[] {
  const isListed = row.partial !== true && row.restrictsOnly !== true;
  if (!isListed || row.custom !== undefined) return [];
  if (row.subcommands !== undefined) {
    const [first, ...rest] = words;
    const inner = Object.hasOwn(row.subcommands, first?.value ?? '')
      ? row.subcommands[first?.value ?? '']
      : undefined;
    return inner === undefined ? [] : uncoveredOptions(inner, rest);
  }
  const leading = ENDS_OPTIONS.has(row.operands);
  const given = parseOptions(words, row.options, { leading });
  const unlisted = given.unknown.flatMap(({ why, word }) =>
    why === 'option' && word !== undefined ? [word] : [],
  );
  if (row.edits === true) return unlisted;
  const values = given.values.filter(({ kind }) => REACHES.has(kind));
  const optionOf = ({ option, word }: GivenValue): ShellWord =>
    words.find(({ value }) => value.startsWith('-') && value.includes(option)) ?? word;
  const unsure = given.tags.has('unsure') ? words.filter(({ value }) => value.startsWith('-')) : [];
  return [...unlisted, ...values.map(optionOf), ...unsure];
}

const REACHES: ReadonlySet<GivenValue['kind']> = new Set([
  'write',
  'run',
  'shell',
  'code',
  'names',
]);

/** Of a program without dangerous options a wildcard can only become further files. */
function doubtsOf(row: Program, { unknown: doubts }: GivenOptions): readonly Effect[] {
  if (row.plain !== true) return doubts;
  return doubts.map((doubt) => {
    const { word, why } = doubt;
    const isWild = why === 'word' && word?.literal === true && word.pattern !== undefined;
    return isWild ? reads(word) : doubt;
  });
}

function effectsOfSubcommand(
  row: Program,
  words: readonly ShellWord[],
  context: CommandContext,
): readonly Effect[] {
  const given = parseOptions(words, row.options, { leading: true });
  const [first, ...rest] = given.operands;
  const effects: Effect[] = [...given.unknown, ...optionEffects(given)];
  if (first === undefined)
    return [...effects, ...(row.also?.(given, context) ?? [unknown('subcommand')])];
  const name = first.literal && first.pattern === undefined ? first.value : '';
  const found = Object.hasOwn(row.subcommands ?? {}, name) ? row.subcommands?.[name] : undefined;
  if (found === undefined) return [...effects, unknown('subcommand', first), ...rest.map(mayRead)];
  return [...effects, ...effectsOfProgram(found, rest, context)];
}

function mayRead(word: ShellWord): Effect {
  return reads(word);
}

function optionEffects({ values, tags }: GivenOptions): readonly Effect[] {
  // What such an option does is known to be more than the model tells.
  const unsure = tags.has('unsure') ? [unknown('option')] : [];
  return [...unsure, ...values.flatMap(effectsOfValue)];
}

function effectsOfValue({ kind, word }: GivenValue): readonly Effect[] {
  switch (kind) {
    case 'text':
    case 'pattern':
    case 'unsure':
      return [];
    case 'read':
    case 'patterns':
      return isInput(word) ? [] : [reads(word)];
    case 'write':
      return [writes(word)];
    case 'names':
      return [reads(word), unknown('script', word), reads(UNKNOWN_WORD, {})];
    case 'shell':
      return [{ kind: 'shell', code: word }];
    case 'code':
      return [{ kind: 'code', text: word }];
    case 'run':
      return [{ kind: 'run', words: [word], fed: 'input' }];
    default:
      return unreachable(kind);
  }
}

/** fail-closed: a wildcard may become an option, and more operands than there are words. */
function wildcardDoubts(row: Program, operands: readonly ShellWord[]): readonly Effect[] {
  const wild = operands.filter(({ pattern }) => pattern !== undefined);
  // Wherever it stands, it becomes names of files, and what was meant for one operand is another.
  const found = wild.map((word) => reads(word));
  if (row.plain === true && !COUNTED.has(row.operands)) return found;
  const isOpen = COUNTED.has(row.operands) || row.most !== undefined;
  const doubted = wild.filter(({ pattern }) => isOpen || /^[*?[]/.test(pattern ?? ''));
  return [...found, ...doubted.map((word) => unknown('word', word))];
}

/** Forms in which the place of an operand says what it is. */
const COUNTED: ReadonlySet<OperandForm> = new Set([
  'copy',
  'move',
  'read-write',
  'run',
  'skip-run',
]);

/** The directory that a program works on when it is given none. */
export const HERE: ShellWord = { value: '.', literal: true, raw: '' };

function operandEffects(
  row: Program,
  given: GivenOptions,
  context: CommandContext,
): readonly Effect[] {
  const { operands, tags } = given;
  const recursion = recursionOf(row, given, context);
  const read = (word: ShellWord): Effect => (tags.has('changes') ? writes : reads)(word, recursion);
  const files = (words: readonly ShellWord[]): readonly Effect[] => {
    const isFed = row.here === 'unless-fed' && context.fed;
    // An option that is not known may have taken what looks like an operand.
    const isDoubtful = recursion !== undefined && given.unknown.some(({ why }) => why === 'option');
    const isHere = row.here !== undefined && !isFed && (words.length === 0 || isDoubtful);
    return [...words.filter(isFile), ...(isHere ? [HERE] : [])].map(read);
  };
  switch (row.operands) {
    case 'none':
      return operands.slice(0, 1).map((word) => unknown('operand', word));
    case 'text':
      return [];
    case 'read':
      return files(operands);
    case 'pattern-read': {
      const isGiven =
        tags.has('no-pattern') || given.values.some(({ kind }) => kind.startsWith('pattern'));
      const named = operands.slice(isGiven ? 0 : 1);
      return recursion === undefined ? named.filter(isFile).map(read) : files(named);
    }
    case 'write':
      return orUnknown(operands, 1).concat(
        operands.map((word) => (tags.has('keeps') ? reads : writes)(word, recursion)),
      );
    case 'delete':
      return orUnknown(operands, 1).concat(operands.map((word) => deletes(word, recursion)));
    case 'read-write':
      return operands.flatMap((word, at) =>
        isFile(word) ? [at === 0 ? reads(word) : writes(word)] : [],
      );
    case 'copy':
    case 'move':
      return transfers(row, given, recursion);
    case 'run':
      return operands.length === 0 ? [unknown('operand')] : [{ kind: 'run', words: operands }];
    case 'skip-run':
      return operands.length < 2
        ? [unknown('operand')]
        : [{ kind: 'run', words: operands.slice(1) }];
  }
}

function recursionOf(
  { walks, operands }: Program,
  given: GivenOptions,
  context: CommandContext,
): Recursion | undefined {
  if (walks !== undefined) return walks(given, context);
  if (operands === 'move') return {};
  const { tags } = given;
  return tags.has('recursive') ? { follows: tags.has('follow') } : undefined;
}

/** fail-closed: what is not given here may come from elsewhere. */
function orUnknown(operands: readonly ShellWord[], least: number): readonly Effect[] {
  return operands.length < least ? [unknown('operand')] : [];
}

/** The last operand, or the value of `-t`, may be a directory, and then holds what is given by its name. */
function transfers(
  row: Program,
  { operands, values, tags }: GivenOptions,
  recursion: Recursion | undefined,
): readonly Effect[] {
  const isLocal = (word: ShellWord): boolean => row.remote !== true || !isElsewhere(word);
  const into = values.findLast(({ option }) => /^(t|target-directory)$/.test(option))?.word;
  const sources = (into === undefined ? operands.slice(0, -1) : operands).filter(isLocal);
  const target = into ?? operands.at(-1);
  const isKnown = target?.literal === true && isLocal(target);
  const taken = sources.flatMap((word): readonly Effect[] => {
    const onto = isKnown ? targetOf(word, target, { tags, isInto: into !== undefined }) : undefined;
    const isChanged = row.operands !== 'move' && tags.has('changes');
    const taken = [
      isChanged ? writes(word, recursion) : reads(word, recursion),
      ...(row.operands === 'move' ? [deletes(word, recursion)] : []),
    ];
    return taken.map((effect) => ({ ...effect, onto }));
  });
  if (target === undefined || sources.length === 0) return [...taken, unknown('operand')];
  if (!isLocal(target)) return [...taken, { kind: 'network' }];
  const below = sources.map((word) =>
    within(target, tags.has('parents') ? word.value : nameIn(word)),
  );
  const made: Recursion | undefined =
    recursion === undefined || row.operands === 'move'
      ? undefined
      : { follows: recursion.follows === true, made: true };
  return [...taken, ...[target, ...below].map((word) => writes(word, made))];
}

/** Under which name a copy of a directory begins. */
function targetOf(
  source: ShellWord,
  target: ShellWord,
  { tags, isInto }: { readonly tags: ReadonlySet<string>; readonly isInto: boolean },
): TreeTarget {
  const { pattern } = target;
  // What stands behind `dir/.` is the content of the directory.
  const isBare = /(^|\/)\.{1,2}\/?$/.test(source.value);
  if (tags.has('parents')) {
    const path = isBare ? target.value : `${target.value}/${source.value}`;
    const wild = source.pattern && `${pattern ?? target.value}/${source.pattern}`;
    return { path, pattern: wild ?? pattern, named: 'never' };
  }
  const isExact = tags.has('exact') || isBare;
  return {
    path: target.value,
    pattern,
    named: isExact ? 'never' : isInto ? 'always' : 'in-directory',
  };
}

/** `host:path`, `pod:path`, `s3://bucket`, `repository::archive`. */
export function isElsewhere({ value }: ShellWord): boolean {
  return /^[^/]+:/.test(value);
}

function within(directory: ShellWord, name: string): ShellWord {
  return { ...directory, value: `${directory.value}/${name}` };
}

function nameIn({ value }: ShellWord): string {
  return value.replace(/\/+$/, '').replace(/^.*\//s, '');
}

function isFile(word: ShellWord): boolean {
  return !isInput(word);
}

function isInput({ value, literal }: ShellWord): boolean {
  return literal && value === '-';
}
