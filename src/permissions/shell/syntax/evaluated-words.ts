import { own } from '../../../lib/own.js';
import { maySplit, nameOf, programOf, type ShellWord, type SimpleCommand } from '../model.js';

type Words = readonly ShellWord[];
type Check = (args: Words) => boolean;

/** Variables that bash counts out whatever they are given, subscripts and all. */
const COUNTED = /^(RANDOM|SRANDOM|OPTIND|HISTCMD|SECONDS|LINENO)$/;
const NUMBER = /^[-+]?\d+$/;
/** Text that runs a command once something counts it out: `a[$(…)]`. */
const RUNS_WHEN_COUNTED = /\w\[.*(\$[({]|`)|^\s*\(.*(\$[({]|`)/s;

/** Whether what is given to a variable of this name may run as code by that alone, or be kept for it. */
export function isCode(name: string, value: ShellWord): boolean {
  if (COUNTED.test(name)) return !value.literal || !NUMBER.test(value.value);
  // Bash expands it before each line that it traces.
  if (name === 'PS4') return !value.literal || /\$\(|`|@|\[/.test(value.value);
  // A shell expands it when it starts, to the name of a file that it runs first.
  if (name === 'BASH_ENV') return !value.literal || /[$`]/.test(value.value);
  if (name === 'ENV') return value.literal && /\$\(|`/.test(value.value);
  return value.literal && RUNS_WHEN_COUNTED.test(value.value);
}

/** Whether bash evaluates what it finds in a variable of this name. */
export function isEvaluated(name: string): boolean {
  return COUNTED.test(name) || name === 'PS4';
}

/** Builtins that run what stands behind them in this shell. `time` is a word of the language. */
const PASSES_ON = new Set(['command', 'builtin', 'time', 'coproc', 'noglob', 'nocorrect']);

/** The words behind those that only say how a command is run in this shell. */
export function ownWords(words: Words): Words {
  let mine = words;
  while (PASSES_ON.has(nameOf(mine) ?? '')) {
    const next = mine.findIndex((word, index) => index > 0 && !word.value.startsWith('-'));
    if (next === -1) return [];
    mine = mine.slice(next);
  }
  return mine;
}

/** Why a builtin may run text that it is given, other than by running a program of that name. */
export function evaluatedIn(words: Words): string | undefined {
  const mine = ownWords(words);
  const name = nameOf(mine) ?? '';
  const check = own(CHECKS, name);
  // fail-closed: what bash may count out or run later is not known to be harmless.
  return check?.(mine.slice(1)) === true
    ? `\`${name}\` evaluates text or changes what commands mean`
    : undefined;
}

const CHECKS: Readonly<Record<string, Check>> = {
  let: (args) => args.length > 0,
  bind: (args) => args.length > 0,
  enable: (args) => args.some((word) => !/^-[ap]+$/.test(word.value)),
  alias: (args) => args.some((word) => !word.literal || word.value.includes('=')),
  fc: (args) => !args.some((word) => /^-[lnr]*l[lnr]*$/.test(word.value)),
  jobs: (args) => hasFlag(args, /x/),
  hash: (args) => hasFlag(args, /p/),
  complete: (args) => hasFlag(args, /[CFW]/),
  compgen: (args) => hasFlag(args, /[CFW]/),
  set: (args) => turnsHistoryOn(args, /^[-+]\w*H/),
  shopt: (args) => turnsHistoryOn(args, /^$/),
  declare: (args) => declares(args, /[inaA]/),
  typeset: (args) => declares(args, /[inaA]/),
  local: (args) => declares(args, /[inaA]/),
  readonly: (args) => declares(args, /[aA]/),
  export: (args) => declares(args, /^$/),
  unset: (args) => args.some(isOddName),
  getopts: (args) => args.slice(1, 2).some(isOddName),
  read: (args) => behind(args, /^-[\w]*[dinNptu]$/).some(isOddName),
  mapfile: maps,
  readarray: maps,
  wait: (args) => {
    const hasOption = args.some(({ value }) => /^-|\w\[/.test(value));
    return args.some(isAllArguments) || (hasOption && args.some(isOddName));
  },
  // Behind its format it takes no option.
  printf: ([first, ...rest]) =>
    first !== undefined &&
    (isAllArguments(first) ||
      ((first.literal || /^"?\$\{?\w+\}?"?$/.test(first.raw)) &&
        looksUp([first, ...rest.slice(0, 1)], /^-v(.*)$/s))),
  test: tests,
  '[': tests,
};

/** An option with one of these letters, or a word that may be one. */
function hasFlag(args: Words, letters: RegExp): boolean {
  return args.some(
    (word) => !word.literal || (/^-\w/.test(word.value) && letters.test(word.value)),
  );
}

/** With it `!x` in a later line becomes a command of before. */
function turnsHistoryOn(args: Words, flag: RegExp): boolean {
  const end = args.findIndex((word) => /^--?$/.test(word.value));
  const options = end === -1 ? args : args.slice(0, end);
  return options.some(
    ({ literal, value }) => !literal || flag.test(value) || /^hist(ory|expand)$/.test(value),
  );
}

/** Not just a name: a subscript is evaluated, and what is decided at run time may have one. */
function isOddName({ literal, value }: ShellWord): boolean {
  return !literal || value.includes('[') || isEvaluated(value);
}

/** Whether `declare` and the like give a variable a nature that evaluates, or a value that is. */
function declares(args: Words, letters: RegExp): boolean {
  let options = true;
  return args.some((word) => {
    if (options && word.literal && /^[-+]/.test(word.value)) {
      options = word.value !== '--';
      return word.value.startsWith('-') && letters.test(word.value.slice(1));
    }
    const [, name, text = ''] = /^([^=]*?)\+?=(.*)$/s.exec(word.value) ?? [];
    if (name === undefined) return !word.literal || word.value.includes('[');
    // Text in brackets is read as a list when the variable is one, with all that is in it.
    const isList = word.literal && /^\s*\(.*\)\s*$/s.test(text) && /[$`[]/.test(text);
    return name.includes('[') || isCode(name, { ...word, value: text }) || isList;
  });
}

/** The operands; an option that fits has its value behind it. */
function behind(args: Words, valued: RegExp): Words {
  return args.filter(({ value }, at) => {
    const before = args[at - 1];
    const isValue = before?.literal === true && valued.test(before.value);
    return !isValue && value !== '--' && !/^-\w/.test(value);
  });
}

/** `-C` names code to run. */
function maps(args: Words): boolean {
  return (
    args.some(({ value }) => /^-\w*C/.test(value)) || behind(args, /^-\w*[dnOsuc]$/).some(isOddName)
  );
}

/** `"$@"`: any number of words. */
function isAllArguments({ literal, raw }: ShellWord): boolean {
  return !literal && /^"?\$\{?[@*]/.test(raw);
}

/** `-v` and `-R` look a variable up. */
function tests(args: Words): boolean {
  const operands = args.filter(({ value }) => value !== ']' && value !== '!');
  // Without quotes it becomes several words, an option and a name among them.
  const isSplit = operands.length === 1 && operands.some(({ raw }) => raw.startsWith('$'));
  return isSplit || args.some(isAllArguments) || looksUp(args, /^-[vR]()$/);
}

/** Whether an option names a variable oddly; a word that is not known may be that option. */
function looksUp(args: Words, option: RegExp): boolean {
  return args.some((word, at) => {
    const attached = option.exec(word.value)?.[1];
    const mayBeOption = attached !== undefined || (!word.literal && /^-?$/.test(word.value));
    const name = attached ? { ...word, value: attached } : args[at + 1];
    return mayBeOption && name !== undefined && isOddName(name);
  });
}

/** Builtins that look up a name which an option gives them, subscript and all. */
const LOOKS_UP = /^(test|\[|printf|wait)$/;

/**
 * Why one of these may be given `-v a[$(…)]` by a word without quotes, which the shell splits: the
 * command line itself holds what such text is made of.
 */
export function composedIn(commands: readonly SimpleCommand[]): string | undefined {
  const splitting = commands.find(({ words }) => {
    const [first, ...args] = ownWords(words);
    const isPrintf = first?.value === 'printf';
    const open = isPrintf ? args.slice(0, 1) : args;
    return LOOKS_UP.test(first?.value ?? '') && open.some(maySplit);
  });
  if (splitting === undefined || !commands.some(makesCode)) return undefined;
  // fail-closed: nobody follows what is put together on the way.
  return `\`${nameOf(ownWords(splitting.words))}\` takes words apart that may hold code`;
}

/** Text that becomes a substitution, whole or in part, or the number of one of its characters. */
const CODE = /\$[({]|\$$|`|\\(x24|x60|0?44|0?140|u0*24)|%c|%b/i;
/** The same in quotes, of a word that is not known as a whole. */
const QUOTED_CODE = /'[^']*(\$[({']|`|\\[x0-9u]|%[cb])|\\[$`]/i;
/** Programs that make other text of what they are given. */
const MAKES_TEXT =
  /^(base(32|64|nc)|xxd|uudecode|openssl|rev|perl|python[\d.]*|ruby|node|php|lua|zcat|gunzip|unxz|xzcat)$/;

function makesCode({ words, assignments, input }: SimpleCommand): boolean {
  if (MAKES_TEXT.test(programOf(words) ?? '') || CODE.test(input)) return true;
  return [...words, ...assignments.map(({ value }) => value)].some(({ literal, value, raw }) =>
    literal ? CODE.test(value) : QUOTED_CODE.test(raw),
  );
}
