import type { Pipeline } from 'unbash';
import { memoised } from '../../../lib/memo.js';
import { own } from '../../../lib/own.js';
import { Budget } from '../../gate/budget.js';
import { parseOptions } from '../effects/options.js';
import { ALONE } from '../effects/program.js';
import { literalWord, maySplit, programOf, type ShellWord, UNKNOWN_WORD } from '../model.js';
import { commandsOfFd, RUNS } from '../programs/find.js';
import { factsOf, factsOfName } from '../programs/index.js';
import { ENV, isTransparent, WRAPPER_PROGRAMS } from '../programs/wrappers.js';
import { evaluatedIn, isCode } from '../syntax/evaluated-words.js';
import { builtinCode, codeOf, codeOfShell, type GivenCode, gitCode } from './shell-code.js';

interface Disguises {
  readonly views: readonly (readonly ShellWord[])[];
  /** Strings that a shell will read as code. */
  readonly scripts: readonly string[];
  /** Strings that a shell may read as code. */
  readonly suspects: readonly string[];
  /** Why it is not known what would run. */
  readonly opaque?: string;
}

/** What a command runs by way of other programs. `piped`: what another one prints is its input. */
export function disguisesOf(
  words: readonly ShellWord[],
  { piped, budget = new Budget() }: { readonly piped: boolean; readonly budget?: Budget } = {
    piped: false,
  },
): Disguises {
  const views = [words, ...innerCommands(words, budget)];
  // What one command is given comes again with each one inside of it.
  const scripts = new Set<string>();
  const suspects = new Set<string>();
  // What another program may run is no certain code of this command line.
  const program = programOf(words) ?? '';
  const isLaunched = !isWrapper(program) && !isFinder(words);
  let opaque: string | undefined;
  views.forEach((view, index) => {
    const code = shellCode(view);
    for (const text of suspectCode(view)) suspects.add(text);
    if (code.lookedUp !== undefined) suspects.add(canonicalText(code.lookedUp));
    for (const text of code.scripts) (index > 0 && isLaunched ? suspects : scripts).add(text);
    if (index === 0 || !isLaunched) opaque ??= code.opaque;
    opaque ??= hiddenInFound(view, budget);
  });
  opaque ??= hiddenHead(words) ?? evaluatedIn(words) ?? (piped ? runsInput(words) : undefined);
  const found = { views, scripts: [...scripts], suspects: [...suspects] };
  return opaque === undefined ? found : { ...found, opaque };
}

/** `time`, with its option, where a pipeline begins with it. */
export function timeIn({ prefixes }: Pipeline): readonly ShellWord[] | undefined {
  const found = prefixes.find((one) => one.type === 'Time');
  if (found === undefined) return undefined;
  return (found.posix === undefined ? ['time'] : ['time', '-p']).map(literalWord);
}

/** A command that another one may run is looked at as one of its own. */
const STEPS_OF_VIEW = 30;

/** Any later word may be the program that is run; options of wrappers are too many to know. */
function innerCommands(
  words: readonly ShellWord[],
  budget: Budget,
): readonly (readonly ShellWord[])[] {
  if (isFinder(words)) return foundCommands(words, budget);
  const from = firstRun(words);
  if (from === undefined) return runByOptions(words).map((word) => [word, UNKNOWN_WORD]);
  // Each view holds all words behind its own.
  budget.spend((words.length + STEPS_OF_VIEW) * (words.length - from));
  const fed = words.some(isFeeder);
  const known = fed ? withoutReplaced(words) : words;
  return known.flatMap(({ value }, at) => {
    if (at < from || value.startsWith('-')) return [];
    return [fed ? [...known.slice(at), UNKNOWN_WORD] : known.slice(at)];
  });
}

/** What find and fd run, and what that runs in turn. */
function foundCommands(
  words: readonly ShellWord[],
  budget: Budget,
): readonly (readonly ShellWord[])[] {
  const found = new Map<string, readonly ShellWord[]>();
  const take = (command: readonly ShellWord[]): void => {
    budget.spend(command.length);
    const key = JSON.stringify(command.map(({ value, literal }) => [value, literal]));
    if (found.has(key)) return;
    found.set(key, command);
    const inner = isFinder(command) ? launchedBy(command, budget) : innerCommands(command, budget);
    for (const one of inner) take(one);
  };
  for (const command of launchedBy(words, budget)) take(command);
  return [...found.values()].map((command) =>
    command.at(-1) === UNKNOWN_WORD ? command : [...command, UNKNOWN_WORD],
  );
}

function launchedBy(
  words: readonly ShellWord[],
  budget: Budget,
): readonly (readonly ShellWord[])[] {
  const program = programOf(words) ?? '';
  const isRun = (word: ShellWord): boolean =>
    (program === 'find' && RUNS.test(word.value)) || mayBeOption(word);
  budget.spend(words.filter(isRun).length * words.length);
  const found = words.flatMap((word, at) => (isRun(word) ? [words.slice(at + 1)] : []));
  const ofFd = program === 'find' ? [] : commandsOfFd(words).map(({ command }) => command);
  return [...ofFd, ...found];
}

/** `{}`, and what else fd puts parts of the names of files for. */
export const PLACEHOLDER = /\{(\/{0,2}|\.|\/\.)\}/;

/** A command that find or fd runs, its words as far as no name of a file is put into them. */
function withoutNames(words: readonly ShellWord[]): readonly ShellWord[] {
  return words.map((word) => {
    const at = word.value.search(PLACEHOLDER);
    return at === -1 ? word : { ...word, literal: false, value: word.value.slice(0, at) };
  });
}

/** Why it is not known what find or fd runs for the files that it finds. */
function hiddenInFound(words: readonly ShellWord[], budget: Budget): string | undefined {
  const program = programOf(words) ?? '';
  if (!isFinder(words)) return undefined;
  const given =
    program === 'find'
      ? words.flatMap(({ value }, at) => (RUNS.test(value) ? [words.slice(at + 1)] : []))
      : commandsOfFd(words).map(({ command }) => [...command, UNKNOWN_WORD]);
  budget.spend(given.length * words.length);
  const direct = given.map(withoutNames);
  const head = direct.map(hiddenHead).find((why) => why !== undefined);
  if (head !== undefined) return head;
  // What a name is put into is no code that was read.
  const all = direct.flatMap((one) => [one, ...innerCommands(one, budget)]);
  return all.map((one) => shellCode(one).opaque).find((why) => why !== undefined);
}

function baseOf({ value }: ShellWord): string {
  return value.slice(value.lastIndexOf('/') + 1);
}

function isFeeder(word: ShellWord): boolean {
  return factsOfName(baseOf(word)).wraps?.feeds === true;
}

/** What is decided at run time may be `-exec`, and a pattern may fit a file of that name. */
function mayBeOption({ value, literal, pattern }: ShellWord): boolean {
  return pattern === undefined ? !literal && /^-?$/.test(value.slice(0, 1)) : /^[-*?[]/.test(value);
}

/** With `xargs -I X` and `parallel` every `X` becomes what comes in by the input. */
function withoutReplaced(words: readonly ShellWord[]): readonly ShellWord[] {
  const marks = words.flatMap(({ value }, at) => {
    const given = /^-(?:I|i)(.*)$|^--replace=?(.*)$/s.exec(value);
    const attached = given?.[1] ?? given?.[2];
    return attached === '' ? [words[at + 1]?.value ?? '', '{}'] : (attached ?? []);
  });
  if (words.some((word) => baseOf(word) === 'parallel')) marks.push('{');
  return words.map((word, index) => {
    if (isMark(words, index) || word.value.startsWith('-')) return word;
    const found = marks.map((mark) => (mark === '' ? -1 : word.value.indexOf(mark)));
    const at = Math.min(...found.filter((one) => one >= 0));
    return at === Number.POSITIVE_INFINITY
      ? word
      : { ...word, literal: false, value: word.value.slice(0, at) };
  });
}

/** What is replaced, as an option names it. */
function isMark(words: readonly ShellWord[], index: number): boolean {
  return words[index - 1]?.value === '-I';
}

/** From which word on a program may name another one that it runs. */
function firstRun(words: readonly ShellWord[]): number | undefined {
  const { wraps, launches, runsAfter } = factsOf(words);
  if (wraps !== undefined || launches === true) return 1;
  if (runsAfter === undefined) return undefined;
  const at = words.findIndex((word, index) => index > 0 && runsAfter.test(word.value));
  return at === -1 ? undefined : at + 1;
}

function isWrapper(program: string): boolean {
  return factsOfName(program).wraps !== undefined;
}

function isFinder(words: readonly ShellWord[]): boolean {
  return factsOf(words).finds === true;
}

/** Options whose value is run as a command, by whichever program has them. */
const RUNS_VALUE =
  /^--(exec|pre|compress-p\w*|to-c\w*|use-comp[\w-]*|rsh|rsh-command|rsync-path|open-files-in-pager|unzip-command|upload-pack|receive-pack|checkpoint-a\w*|(tree|index|msg|env|commit|parent)-filter|run|command|call|pager|html|extcmd|sh-exec|filter|sendmail-cmd|(info|new-volume)-script|rmt-command|(pre|post)-invoke)$/;

/** `--exec=x`, `-x x` and `-H'x'`: values that are a program and its arguments, or a piece of shell code. */
function runByOptions(words: readonly ShellWord[]): readonly ShellWord[] {
  const { next, attached, leading } = factsOf(words).runsOption ?? {};
  if (leading?.test(words[1]?.value ?? '') === true) return words.slice(2);
  return words.slice(1).flatMap((word, index) => {
    const [, option = '', value] = /^(--[\w-]+)=(?:exec=)?(.+)$/s.exec(word.value) ?? [];
    const given = RUNS_VALUE.test(option) ? value : attached?.exec(word.value)?.[1];
    if (given !== undefined) return [{ ...word, value: given }];
    const isOption = RUNS_VALUE.test(word.value) || next?.test(word.value) === true;
    return isOption ? words.slice(index + 2, index + 3) : [];
  });
}

function shellCode(words: readonly ShellWord[]): GivenCode {
  const program = programOf(words) ?? '';
  if (factsOf(words).shell === true) return codeOfShell(words);
  const from = words[1]?.value === '--' ? 2 : 1;
  if (program === 'eval') return codeOf(words.slice(from), { joined: true });
  if (program === 'trap') return codeOf(words.slice(from, from + 1), { joined: false });
  if (program === 'source' || program === '.') {
    return { scripts: [], opaque: `${program} runs the content of a file in this shell` };
  }
  if (!isWrapper(program)) return { scripts: [] };
  const split = splitByEnv(words);
  // `env -S "…"`, `script -c "…"`, `watch "…"`, `flock f -c "…"`: an argument with blanks may be code.
  return { ...split, scripts: [...textsIn(words.slice(1)), ...split.scripts] };
}

/** `env -S` has escapes and variables of its own, and needs no blank to make several words of one. */
function splitByEnv(words: readonly ShellWord[]): GivenCode {
  if (programOf(words) !== 'env') return { scripts: [] };
  const { values } = parseOptions(words.slice(1), ENV);
  const texts = values.filter(({ kind }) => kind === 'shell').map(({ value }) => value);
  // fail-closed: it has no operators and no patterns, so these would be read for something else.
  if (texts.some((text) => /\$\{|[;&|<>()`*?[\]{}~#!]/.test(text))) {
    return { scripts: [], opaque: 'env puts a command together in a way of its own' };
  }
  return { scripts: texts.map((text) => text.replace(/\\[_nrtvf]/g, ' ')) };
}

/** Arguments of other programs that may be shell code too: `ssh h "…"`, `git -c alias.x="!…"`, `man -P "…"`. */
function suspectCode(words: readonly ShellWord[]): readonly string[] {
  const program = programOf(words) ?? '';
  const codes = [...builtinCode(program, words), ...(program === 'git' ? gitCode(words) : [])];
  const { wraps, shell } = factsOf(words);
  if (wraps !== undefined || shell === true) return codes;
  const run = runByOptions(words);
  const from = run.length > 0 || program === 'alias' ? 1 : firstRun(words);
  const texts = from === undefined ? [] : textsIn(words.slice(from));
  return [...codes, ...run.map(({ value }) => value), ...texts];
}

/** Arguments with blanks in them; of `name=value` the value. */
function textsIn(words: readonly ShellWord[]): readonly string[] {
  return words.flatMap((word) => {
    if (!word.literal || !/\s/.test(word.value)) return [];
    const value =
      /^[^\s=]+=(?:exec=|sh=)?["'[]*(.*?)["'\]]*$/s.exec(word.value)?.[1] ??
      /^(?:-[a-zA-Z]|\w*Command\s)(.+)$/s.exec(word.value)?.[1];
    return value === undefined ? [word.value] : [word.value, value];
  });
}

/** Whether a program runs commands that it reads: it is given no file or code to run instead. */
export function readsCommands(words: readonly ShellWord[]): boolean {
  const { runsInput } = factsOf(words);
  if (runsInput === undefined) return false;
  const { when } = runsInput;
  if (when !== undefined && !words.some(({ value }) => when.test(value))) return false;
  const rest = words.slice(1).filter(({ value }) => value !== '-');
  if (rest.some(({ value }) => runsInput.unless?.test(value) === true)) return false;
  return runsInput.bare !== true || rest.every(({ value, literal }) => literal && /^-/.test(value));
}

function runsInput(words: readonly ShellWord[]): string | undefined {
  // fail-closed: what another command prints is not known.
  return readsCommands(words)
    ? `${programOf(words)} runs what it reads from another command`
    : undefined;
}

/**
 * What `xargs` and `parallel` run with names out of their input; undefined for all other commands. What
 * they take out of it need not be what was printed: without `-0` a blank in a name makes two of it.
 */
export function fedCommand(words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const at = words.findIndex(isFeeder);
  if (at === -1 || !isWrapper(programOf(words) ?? '')) return undefined;
  const rest = words.slice(at + 1);
  const found = rest.findIndex(
    ({ value }, index) =>
      !value.startsWith('-') && !/^-[adEILnPs]$/.test(rest[index - 1]?.value ?? ''),
  );
  return found === -1 ? [] : rest.slice(found);
}

/** Whether the word behind an option may be its value; of an option that is not known it may. */
function mayTakeValue(option: string, wrapper: string): boolean {
  if (/^(--[\w-]+=|-[a-zA-Z]\d+$|-I.)/.test(option) || LONG_FLAG.test(option)) return false;
  const flags = factsOfName(wrapper).wraps?.flags ?? '';
  return option.startsWith('--') || ![...option.slice(1)].every((letter) => flags.includes(letter));
}

/** Long options of wrappers without a value. */
const LONG_FLAG =
  /^--(foreground|preserve-status|verbose|null|no-run-if-empty|ignore-environment|non-interactive|preserve-env)?$/;

const NAMED_LATER = 'the name of a command is decided at run time';

function takesOperand(wrapper: string): boolean {
  return factsOfName(wrapper).wraps?.operand === true;
}

/** A wrapper whose program is decided at run time. */
function hiddenHead(words: readonly ShellWord[]): string | undefined {
  if (words.length > 0 && programOf(words) === undefined) {
    return NAMED_LATER;
  }
  const program = programOf(words) ?? '';
  if (isFinder(words) && words.some(maySplit)) {
    return `${program} may be told at run time to run a command`;
  }
  if (!isWrapper(program)) return undefined;
  let wrapper = program;
  let mayBeValue = takesOperand(wrapper);
  for (const [index, word] of withoutReplaced(words).entries()) {
    if (index === 0) continue;
    if (isMark(words, index)) {
      mayBeValue = false;
      continue;
    }
    const [name = '', ...value] = word.value.split('=');
    if (value.length > 0 && isCode(name, { ...word, value: value.join('=') })) {
      return `the value of ${name} may be run as code`;
    }
    if (!word.literal || word.pattern !== undefined) {
      return NAMED_LATER;
    }
    const isOption = /^[-+]/.test(word.value);
    const isOptional = isOption || value.length > 0 || /^[\d.]+\w?$/.test(word.value);
    const base = baseOf(word);
    if (!isOptional && !isWrapper(base) && !mayBeValue) return undefined;
    if (!isOptional && isWrapper(base)) wrapper = base;
    mayBeValue = isOption
      ? mayTakeValue(word.value, wrapper)
      : wrapper === base && takesOperand(base);
  }
  const wrappers = words.filter((word) => isWrapper(baseOf(word)));
  // `xargs env`: the first word of the input is the program. `xargs` alone prints.
  return wrappers.some(isFeeder) && wrappers.length > 1 ? NAMED_LATER : undefined;
}

interface Unwrapped {
  readonly words: readonly ShellWord[];
  /** Further arguments come from the input. */
  readonly fed: boolean;
}

/**
 * The command behind wrappers that change nothing about what it does. For grants, so only forms
 * that are fully understood; anything else keeps its wrapper.
 */
export const unwrapForGrant = memoised(unwrap);

function unwrap(words: readonly ShellWord[]): Unwrapped {
  let rest = words;
  let fed = false;
  for (;;) {
    const name = rest[0]?.literal === true ? rest[0].value : '';
    const inner = isTransparent(name) ? wrappedBy(name, rest) : undefined;
    if (inner === undefined || inner.length === 0) return { words: rest, fed };
    fed ||= name === 'xargs';
    rest = inner;
  }
}

/** What a wrapper runs, by its row; undefined when its options are not plain. */
function wrappedBy(
  name: string,
  [, ...words]: readonly ShellWord[],
): readonly ShellWord[] | undefined {
  const row = own(WRAPPER_PROGRAMS, name);
  if (row === undefined || row.custom !== undefined) {
    return words[0]?.value.startsWith('-') === true ? undefined : words;
  }
  const given = parseOptions(words, row.options, { leading: true });
  const doubts = [...given.unknown, ...(row.also?.(given, ALONE) ?? [])];
  const inner = row.operands === 'skip-run' ? given.operands.slice(1) : given.operands;
  const before = words.slice(0, words.length - inner.length);
  // fail-closed: a word that is decided at run time may become several, and one of them the program.
  const isSure = before.every(({ literal, pattern }) => literal && pattern === undefined);
  return doubts.length === 0 && isSure ? inner : undefined;
}

/** The string a shell gets when words are put back together; words with blanks stay recognisable. */
export const canonicalText = memoised((words: readonly ShellWord[]): string =>
  words.map((word) => quoteIfNeeded(word.value)).join(' '),
);

function quoteIfNeeded(value: string): string {
  return value === '' || /[\s'"\\]/.test(value) ? `'${value.replaceAll("'", "'\\''")}'` : value;
}
