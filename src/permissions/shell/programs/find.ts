import { deletes, type Effect, reads, unknown, writes } from '../effects/effect.js';
import { hazards } from '../effects/facts.js';
import { hasFlag, optionTable, parseOptions, valuesOf } from '../effects/options.js';
import { custom, HERE, type Program } from '../effects/program.js';
import type { EntryTest, Recursion, TreeSkips } from '../effects/recursion.js';
import { literalWord, programOf, type ShellWord, UNKNOWN_WORD } from '../model.js';
import { argumentsOfPrimary, type FindReach, type NameTest, reachOf } from './find-expression.js';

/** Actions that run what stands behind them. */
export const RUNS = /^-(exec|execdir|ok|okdir)$/;
const NAMES_FILE = /^-(newer|anewer|cnewer|samefile)$/;
const WRITES_FILE = /^-(fls|fprint|fprint0|fprintf)$/;

/** What a find does, taken apart. */
export interface FindCall {
  /** All but what it runs, from where the expression begins. */
  readonly tests: readonly ShellWord[];
  /** Options in front of it. */
  readonly options: readonly ShellWord[];
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
  // The expression begins behind options and starts.
  const found = tests.findIndex(({ value }) => /^-[^HLPOD-]|^[!(]/.test(value));
  const first = found === -1 ? tests.length : found;
  const leading = tests.slice(0, first);
  const isOption = ({ value }: ShellWord): boolean => value.startsWith('-');
  const listed = values.some((value) => value.startsWith('-files0-from')) ? [UNKNOWN_WORD] : [];
  return {
    tests: tests.slice(first),
    options: leading.filter(isOption),
    starts: [...leading.filter((word) => !isOption(word)), ...listed],
    values,
    deletes: values.includes('-delete'),
    follows: values.some((value) => /^-(L|follow)$/.test(value)),
    commands,
    reach: reachOf(values.slice(first)),
  };
}

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

function effectsOfFind(words: readonly ShellWord[]): readonly Effect[] {
  const call = findCall(words);
  const open = words.filter(({ literal, pattern }) => !literal || pattern !== undefined);
  const from = call.starts.length === 0 ? [HERE] : call.starts;
  return [
    ...open.map((word) => unknown('word', word)),
    ...from.map((start) => reads(start, { follows: call.follows, namesOnly: true })),
    // fail-closed: a link leads to names elsewhere.
    ...call.options.filter(({ value }) => value !== '-P').map((word) => unknown('option', word)),
    ...effectsOfTests(call),
    ...call.commands.map(
      ({ words: run }): Effect => ({ kind: 'run', words: run, fed: 'found-files' }),
    ),
    ...effectsOnFound(call),
  ];
}

/** Files that tests and actions name; what is not listed is unknown. */
function effectsOfTests({ tests }: FindCall): readonly Effect[] {
  const effects: Effect[] = [];
  for (let at = 0; at < tests.length; at++) {
    const primary = tests[at];
    const name = primary?.value ?? '';
    const next = tests[at + 1];
    const count = argumentsOfPrimary(name);
    if (RUNS.test(name) || name === '-delete') continue;
    const isWritten = WRITES_FILE.test(name);
    if ((count === undefined && !isWritten) || (count !== 0 && next === undefined)) {
      effects.push(unknown('option', primary));
    } else if (next !== undefined && NAMES_FILE.test(name)) effects.push(reads(next));
    else if (next !== undefined && isWritten) effects.push(writes(next));
    at += count ?? (isWritten ? (name === '-fprintf' ? 2 : 1) : 0);
  }
  return effects;
}

/** What happens to all that is found: it is removed, or a command is run for it. */
function effectsOnFound(call: FindCall): readonly Effect[] {
  const { values, reach } = call;
  const given = commandsGiven(call);
  if (!call.deletes && given.length === 0) return [];
  // What a program does with a file that it is given is its own affair.
  const handed = call.deletes ? undefined : 'what is run for it may take it';
  const unsure = isPlain(values) ? handed : 'which files it takes is not followed';
  const handedTo = given.map((one) => one.words);
  return findTrees(call, reach.actions).map(({ start, ...tree }) =>
    call.deletes
      ? deletes(start, { ...tree, handsOn: given.length > 0, unsure })
      : reads(start, { ...tree, handsOn: true, handedTo, unsure }),
  );
}

/** Programs that print what they are given. */
export const NAMES_ALONE = /^(echo|printf|true|false|:|basename|dirname|realpath|ls|stat|test|\[)$/;

/** What it runs that may do more with a name than print it. */
export function commandsGiven({ commands }: FindCall): readonly FoundCommand[] {
  return commands.filter(({ words }) => !NAMES_ALONE.test(programOf(words) ?? ''));
}

/** Where a find goes, and which names count there: those that one of these tests may hold for. */
export function findTrees(
  call: FindCall,
  tests: readonly NameTest[],
): readonly ({ readonly start: ShellWord } & Recursion)[] {
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
  const depth = deepest(call);
  return from.map((start) => ({ start, follows, depth, skips }));
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

/** Primaries that take one value or none, and options: all of them together narrow it down. */
const PLAIN =
  /^-(name|type|maxdepth|mindepth|mtime|mmin|ctime|atime|size|empty|newer|delete|exec|execdir|ok|okdir|print0?|depth|xdev|mount|follow|[HLP])$/;

function isPlain(values: readonly string[]): boolean {
  return values.every((value) => !/^([-!(),]|\\[!(),])/.test(value) || PLAIN.test(value));
}

const FD_OPTIONS =
  optionTable(`-HIusigapFlL0q1 -tedEcjSoO: hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted
  case-sensitive ignore-case glob regex fixed-strings absolute-path follow full-path max-depth:
  min-depth: exact-depth: exclude: prune type: extension: size: changed-within: changed-before: owner:
  threads: batch-size: ignore-file: color: search-path: base-directory: path-separator: max-results:
  one-file-system`);

/** The same by another program: what is run stands behind one option, up to the end or a `;`. */
function effectsOfFd(words: readonly ShellWord[]): readonly Effect[] {
  const [first] = commandsOfFd(words);
  const at = first?.at ?? words.length;
  // What is bundled with it counts too.
  const options = parseOptions([...words.slice(0, at), ...bundledWith(words[at])], FD_OPTIONS);
  const given = valuesOf(options, 'search-path base-directory').map(literalWord);
  const starts = [...options.operands.slice(1), ...given];
  const unrestricted = hasFlag(options, 'u unrestricted');
  const endings = valuesOf(options, 'e extension').map((one) => `.${one.replace(/^\./, '')}`);
  const how: Recursion = {
    follows: hasFlag(options, 'L follow'),
    skips: {
      file: (name) => endings.length > 0 && !endings.some((one) => name.endsWith(one)),
      hidden: !unrestricted && !hasFlag(options, 'H hidden'),
      ...(unrestricted || [...options.flags].some((flag) => /^(I|no-i)/.test(flag))
        ? {}
        : { ignored: 'search' as const }),
    },
    ...(first === undefined
      ? { namesOnly: true }
      : { handedTo: [first.command], unsure: 'what is run for it may take it' }),
  };
  return (starts.length === 0 ? [HERE] : starts).map((start) => reads(start, how));
}

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

export const FIND: Program = custom(effectsOfFind, {
  facts: {
    runsAnything: true,
    finds: true,
    opens: true,
    hazards: hazards('', /^-(exec|execdir|ok|okdir|delete|fls|fprint0?|fprintf|files0-from)$/),
  },
});
export const FD: Program = custom(effectsOfFd, {
  facts: { finds: true, hazards: hazards('-xX exec exec-batch') },
});
