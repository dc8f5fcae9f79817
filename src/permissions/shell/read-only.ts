import { memoised } from '../../lib/memo.js';
import { own } from '../../lib/own.js';
import { readsOfFind } from './find.js';
import { readsOfGit } from './git.js';
import { nameOf, type ShellWord } from './model.js';
import { type OptionSpec, parseOptions } from './options.js';
import { assignsByFormat } from './printf.js';
import { READ_ONLY_PROGRAMS } from './read-only-table.js';
import { isPrintingScript } from './sed.js';

/** A command that changes nothing, and the files that it may look at. */
export interface ReadOnlyUse {
  /** As written, relative to the command's directory. */
  readonly reads: readonly string[];
  /** Words with wildcards that stand for files. */
  readonly patterns: readonly string[];
  /** Of directories among these it follows the links: that it only looks inside cannot be told. */
  readonly filesOnly?: true;
}

type Values = readonly string[];
type Special = (values: Values) => readonly string[] | undefined;

/**
 * Whether a command surely changes nothing. Undefined is no judgement, it only means that this
 * list does not know the program with these options.
 */
export function readOnlyUse(words: readonly ShellWord[]): ReadOnlyUse | undefined {
  return knownUse(words);
}

const knownUse = memoised(useOf);

function useOf(words: readonly ShellWord[]): ReadOnlyUse | undefined {
  const name = nameOf(words);
  if (name === undefined || words.some((word) => !word.literal)) return undefined;
  const values = words.slice(1).map((word) => word.value);
  const wild = words.slice(1).filter((word) => word.pattern !== undefined);
  const special = own(SPECIAL, name);
  if (special !== undefined) {
    const reads = wild.length > 0 ? undefined : special(values);
    return reads === undefined ? undefined : { reads, patterns: [] };
  }
  const program = own(READ_ONLY_PROGRAMS, name);
  if (program === undefined || (wild.length > 0 && program.wildcards !== true)) return undefined;
  const parsed = parseOptions(values, program);
  if (parsed === undefined) return undefined;
  const reads = [...parsed.paths];
  const { operands } = parsed;
  if (program.most !== undefined && operands.length > program.most) return undefined;
  if (program.operands === 'none' && operands.length > 0) return undefined;
  if (program.operands === 'paths') reads.push(...operands);
  if (program.operands === 'pattern-paths') {
    const given = parsed.values.some(({ option }) =>
      (program.patternOptions ?? '').split(' ').includes(option),
    );
    reads.push(...operands.slice(given || parsed.flags.has('files') ? 0 : 1));
  }
  const patterns = wild.flatMap((word) => word.pattern ?? []);
  const plain = new Set(wild.map((word) => word.value));
  const use = { reads: reads.filter((path) => path !== '-' && !plain.has(path)), patterns };
  const follows = program.filesOnly !== undefined && !parsed.flags.has(program.filesOnly);
  return follows ? { ...use, filesOnly: true } : use;
}

/** Programs whose arguments need a closer look. */
const SPECIAL: Readonly<Record<string, Special>> = {
  echo: () => [],
  printf: (values) =>
    values[0]?.startsWith('-') === true || assignsByFormat(values[0] ?? '') ? undefined : [],
  find: readsOfFind,
  git: readsOfGit,
  date: readsOfDate,
  sed: readsOfSed,
  jq: readsOfJq,
  xxd: readsOfXxd,
  test: readsOfTest,
  '[': (values) => (values.at(-1) === ']' ? readsOfTest(values.slice(0, -1)) : undefined),
  command: (values) => (/^-[vV]$/.test(values[0] ?? '') ? [] : undefined),
  exit: (values) => (values.length < 2 && /^\d*$/.test(values[0] ?? '') ? [] : undefined),
  hostname: (values) => (values.length === 0 ? [] : undefined),
  wait: (values) => (values.length === 0 ? [] : undefined),
  node: versionOnly('-v'),
  npm: versionOnly('-v'),
  python3: versionOnly('-V'),
  python: versionOnly('-V'),
  cargo: versionOnly('-V'),
  rustc: versionOnly('-V'),
  ruby: versionOnly('-v'),
};

/** The other case of the letter may mean "tell more", and then code is read from the input. */
function versionOnly(short: string): Special {
  return (values) =>
    values.length === 1 && (values[0] === '--version' || values[0] === short) ? [] : undefined;
}

const DATE: OptionSpec = {
  flags: 'uR',
  valued: 'd',
  long: 'utc universal rfc-3339= iso-8601[=] date= rfc-email',
};

const SED: OptionSpec = {
  flags: 'nErsuz',
  valued: 'e',
  long: 'quiet silent expression= regexp-extended separate unbuffered null-data',
};

const JQ: OptionSpec = {
  flags: 'rcnsSejaCMR',
  long: `raw-output compact-output null-input slurp sort-keys exit-status join-output ascii-output
    color-output monochrome-output tab indent= raw-input`,
};

/** An operand that is not a format sets the clock. */
function readsOfDate(values: Values): readonly string[] | undefined {
  const parsed = parseOptions(values, DATE);
  const bare = values.filter(
    (value) => value !== '-I' && !/^-I(date|hours|minutes|seconds|ns)$/.test(value),
  );
  const again = parsed ?? parseOptions(bare, { flags: 'uR', valued: 'd', long: 'utc date=' });
  return again?.operands.every((operand) => operand.startsWith('+')) === true ? [] : undefined;
}

function readsOfSed(values: Values): readonly string[] | undefined {
  const parsed = parseOptions(values, SED);
  if (parsed === undefined) return undefined;
  const scripts = parsed.values.map(({ value }) => value);
  const files = [...parsed.operands];
  if (scripts.length === 0) scripts.push(files.shift() ?? '');
  return scripts.every(isPrintingScript) ? files : undefined;
}

function readsOfJq(values: Values): readonly string[] | undefined {
  const rest: string[] = [];
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? '';
    // Behind it everything is a file, whatever it looks like.
    if (value === '--') {
      rest.push(...values.slice(at));
      break;
    }
    if (/^--arg(json)?$/.test(value)) at += 2;
    else rest.push(value);
    if (value === '--indent') rest.push(values[++at] ?? '');
  }
  const parsed = parseOptions(rest, JQ);
  const [filter = '', ...files] = parsed?.operands ?? [];
  // Modules come from other directories, and the environment holds secrets.
  const leaves =
    /\b(import|include|env|ENV|input_filename|get_search_list|modulemeta|__\w*)\b/.test(filter);
  return parsed === undefined || leaves ? undefined : files;
}

/** It takes two characters of a word for the option, so that letters in a bundle mean nothing to it. */
function readsOfXxd(values: Values): readonly string[] | undefined {
  const operands: string[] = [];
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? '';
    if (/^-[abeEiupC]$/.test(value) || /^-[clgos][-+]?(0x)?\d+$/.test(value)) continue;
    if (/^-[clgos]$/.test(value) && /^[-+]?\d+$/.test(values[at + 1] ?? '')) at++;
    else if (value.startsWith('-')) return undefined;
    else operands.push(value);
  }
  // A second operand would be written to.
  return operands.length > 1 ? undefined : operands;
}

/** `-v` and `-R` evaluate subscripts; operands that look like places elsewhere count as read. */
function readsOfTest(values: Values): readonly string[] | undefined {
  if (values.some((value) => /^-[vRt]$/.test(value))) return undefined;
  return values.filter((value) => value.includes('/') || value.startsWith('~'));
}
