import { hasFlag, optionTable, parseOptions, valuesOf } from '../effects/options.js';
import { readOnlyUse } from '../effects/uses.js';
import { literalWord, programOf, type ShellWord, UNKNOWN_WORD } from '../model.js';
import { type FindReach, type NameTest, reachOf } from './find-reach.js';
import { type EntryTest, HERE, type TreeProgram, type TreeSkips, type TreeUse } from './use.js';

const RUNS = /^-(exec|execdir|ok|okdir)$/;

/** What a find does, taken apart. */
export interface FindCall {
  /** None: where it runs. */
  readonly starts: readonly ShellWord[];
  /** All but what it runs. */
  readonly values: readonly string[];
  readonly deletes: boolean;
  readonly follows: boolean;
  /** What it runs for what it finds, and the action that says so. */
  readonly commands: readonly FoundCommand[];
  readonly reach: FindReach;
}

export interface FoundCommand {
  readonly action: string;
  readonly words: readonly ShellWord[];
}

export function findCall(words: readonly ShellWord[]): FindCall {
  const { tests, commands } = apart(words);
  // What the shell makes of a word may be any other; a bracket makes no plain pattern.
  const values = tests.map(({ value, literal, pattern }) =>
    literal && pattern === undefined ? value : `${value}[`,
  );
  const first = tests.findIndex(({ value }) => /^-[^HLPOD-]|^[!(]/.test(value));
  const listed = values.some((value) => value.startsWith('-files0-from')) ? [UNKNOWN_WORD] : [];
  const starts = tests
    .slice(0, first === -1 ? tests.length : first)
    .filter(({ value }) => !value.startsWith('-'));
  return {
    starts: [...starts, ...listed],
    values,
    deletes: values.includes('-delete'),
    follows: values.some((value) => /^-(L|follow)$/.test(value)),
    commands,
    reach: reachOf(first === -1 ? [] : values.slice(first)),
  };
}

/** What happens to all that is found: it is removed, or a command is run for it. */
export const find: TreeProgram = (words) => {
  const call = findCall(words);
  const { deletes, values, reach } = call;
  const given = commandsGiven(call);
  if (!deletes && given.length === 0) return [];
  const reads = !deletes && given.every((one) => readOnlyUse(one.words) !== undefined);
  return findTrees(call, reach.actions).map((use) => ({
    ...use,
    access: reads ? 'read' : 'write',
    handsOn: given.length > 0,
    // What a program does with a file that it is given is its own affair.
    ...(deletes ? {} : { unsure: 'what is run for it may take it' }),
    ...(isPlain(values) ? {} : { unsure: 'which files it takes is not followed' }),
  }));
};

/** What it runs that may do more with a name than print it. */
export function commandsGiven({ commands }: FindCall): readonly FoundCommand[] {
  return commands.filter(({ words }) => !NAMES_ALONE.test(programOf(words) ?? ''));
}

/** Where a find goes, and which names count there: those that one of these tests may hold for. */
export function findTrees(
  call: FindCall,
  tests: readonly NameTest[],
): readonly Pick<TreeUse, 'start' | 'follows' | 'depth' | 'skips'>[] {
  const { follows, reach } = call;
  const reaches = (name: string, kind: 'file' | 'directory', path?: string): boolean =>
    tests.some((test) => test(name, kind, path) !== 'no');
  const itself: EntryTest = (name, path) => reaches(name, 'directory', path);
  const skips: TreeSkips = {
    // Where links are followed, one that leads to a directory is a directory.
    file: (name, path) => !reaches(name, 'file', path) && !(follows && itself(name, path)),
    directory: (name, path) => reach.prunes.some((test) => test(name, 'directory', path) === 'yes'),
    itself,
    // A command may be given a directory, with all that is in it.
    ...(commandsGiven(call).length > 0 ? { neverIn: itself } : {}),
  };
  // What is decided at run time may turn out empty.
  const from = call.starts.some(({ literal }) => literal) ? call.starts : [HERE, ...call.starts];
  return from.map((start) => ({ start, follows, depth: deepest(call), skips }));
}

/** `-maxdepth 2`; the greatest where there are several. */
function deepest({ values }: FindCall): number {
  const given = values.flatMap((value, at) =>
    value === '-maxdepth' ? [Number.parseInt(values[at + 1] ?? '', 10)] : [],
  );
  // fail-closed: one that is decided at run time may be any.
  return given.length === 0 || given.some(Number.isNaN)
    ? Number.POSITIVE_INFINITY
    : Math.max(...given);
}

/** Programs that do nothing but tell about the names that they are given. */
export const NAMES_ALONE = /^(echo|printf|true|false|:|basename|dirname|realpath|ls|stat|test|\[)$/;

/** The commands that are run, and everything else with one word for each of them. */
function apart(words: readonly ShellWord[]): {
  readonly tests: readonly ShellWord[];
  readonly commands: readonly FoundCommand[];
} {
  const tests: ShellWord[] = [];
  const commands: FoundCommand[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) continue;
    tests.push(word);
    if (!RUNS.test(word.value)) continue;
    const rest = words.slice(at + 1);
    const end = rest.findIndex(
      ({ value }, index) => value === ';' || (value === '+' && rest[index - 1]?.value === '{}'),
    );
    const command = end === -1 ? rest : rest.slice(0, end);
    commands.push({ action: word.value, words: command });
    at += command.length + 1;
  }
  return { tests, commands };
}

/** Primaries that take one value or none, and options: all of them together narrow it down. */
const PLAIN =
  /^-(name|type|maxdepth|mindepth|mtime|mmin|ctime|atime|size|empty|newer|delete|exec|execdir|ok|okdir|print0?|depth|xdev|mount|follow|[HLP])$/;

function isPlain(values: readonly string[]): boolean {
  return values.every((value) => !/^([-!(),]|\\[!(),])/.test(value) || PLAIN.test(value));
}

const FD =
  optionTable(`-HIusigapFlL0q1 -tedEcjSoO: hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted
  case-sensitive ignore-case glob regex fixed-strings absolute-path follow full-path max-depth:
  min-depth: exact-depth: exclude: prune type: extension: size: changed-within: changed-before: owner:
  threads: batch-size: ignore-file: color: search-path: base-directory: path-separator: max-results:
  one-file-system`);

/** The same by another program: what is run stands behind one option, up to the end or a `;`. */
export const fd: TreeProgram = (words) => {
  const [first] = commandsOfFd(words);
  if (first === undefined) return [];
  const { at, command } = first;
  // What is bundled with it counts too.
  const options = parseOptions([...words.slice(0, at), ...bundledWith(words[at])], FD);
  const given = valuesOf(options, 'search-path base-directory').map(literalWord);
  const starts = [...options.operands.slice(1), ...given];
  const unrestricted = hasFlag(options, 'u unrestricted');
  const endings = valuesOf(options, 'e extension').map((one) => `.${one.replace(/^\./, '')}`);
  const use: Omit<TreeUse, 'start'> = {
    access: readOnlyUse(command) === undefined ? 'write' : 'read',
    follows: hasFlag(options, 'L follow'),
    skips: {
      file: (name) => endings.length > 0 && !endings.some((one) => name.endsWith(one)),
      ...(unrestricted || hasFlag(options, 'H hidden') ? {} : { hidden: true }),
      ...(unrestricted || [...options.flags].some((flag) => /^(I|no-i)/.test(flag))
        ? {}
        : { ignored: 'search' as const }),
    },
    unsure: 'what is run for it may take it',
  };
  return (starts.length === 0 ? [HERE] : starts).map((start) => ({ start, ...use }));
};

/** The other options of `-Hx`. */
function bundledWith(word: ShellWord | undefined): readonly ShellWord[] {
  const letters = /^-([^-xX]+)[xX]/.exec(word?.value ?? '')?.[1];
  return letters === undefined ? [] : [literalWord(`-${letters}`)];
}

/** A command that fd runs for what it finds, and which word tells it to. */
interface FdCommand {
  readonly at: number;
  readonly command: readonly ShellWord[];
}

const LONG = /^--exec(?:-batch)?(?:=(.+))?$/s;
/** At the end of a bundle, its value perhaps attached; behind a letter that takes a value it is that value. */
const SHORT = /^-(?!-)[^tedEcjSoO=]*?[xX]=?(.*)$/s;

/** The words behind each option that runs something: up to the end, rather too many than too few. */
export function commandsOfFd(words: readonly ShellWord[]): readonly FdCommand[] {
  return words.flatMap((word, at) => {
    const found = LONG.exec(word.value) ?? SHORT.exec(word.value);
    if (found === null) return [];
    const attached = found[1] ?? '';
    const rest = words.slice(at + 1);
    return [{ at, command: attached === '' ? rest : [{ ...word, value: attached }, ...rest] }];
  });
}
