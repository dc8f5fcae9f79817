import { type Effect, reads, unknown, writes } from '../effects/effect.js';
import { hazards } from '../effects/facts.js';
import { type GivenValue, optionTable, parseOptions } from '../effects/options.js';
import { custom, type Program, program, rows } from '../effects/program.js';
import type { ShellWord } from '../model.js';
import { isPlain, scanSed, sedCall } from '../sed.js';
import { IN_PLACE } from './runtimes.js';

/** Its script says which files it reads, writes and what it runs. */
function effectsOfSed(words: readonly ShellWord[]): readonly Effect[] {
  const { given, scripts, files, isSure } = sedCall(words);
  const { flags, operands, tags, values } = given;
  const inPlace = flags.has('i') || flags.has('in-place');
  // What is attached to it is the ending of a copy, or a directory for copies.
  const copies = values.filter(({ option }) => option === 'i' || option === 'in-place');
  const named = (isSure ? files : operands).filter(({ value }) => value !== '-');
  return [
    ...given.unknown,
    ...wild(words),
    ...(tags.has('unsure') ? [unknown('option')] : []),
    ...(scripts.length === 0 ? [unknown('operand')] : scripts.flatMap(effectsOfScript)),
    ...copies.map(({ word }) => unknown('operand', word)),
    ...named.flatMap((word) => (inPlace ? [reads(word), writes(word)] : [reads(word)])),
  ];
}

function effectsOfScript(script: ShellWord): readonly Effect[] {
  const found = scanSed(script.value);
  if (isPlain(found)) return [];
  const word = (value: string): ShellWord => ({ ...script, value });
  return [
    unknown('script', script),
    ...found.reads.map((name) => reads(word(name))),
    ...found.writes.map((name) => writes(word(name))),
    ...found.runs.map((code): Effect => ({ kind: 'shell', code: word(code) })),
  ];
}

/** fail-closed: a wildcard may become an option, or the script. */
function wild(words: readonly ShellWord[]): readonly Effect[] {
  return words.filter(({ pattern }) => pattern !== undefined).map((word) => unknown('word', word));
}

const AWK = optionTable('-F: -v: field-separator: assign:');

/** By which code of awk may do more than print: files, pipes, commands, the environment, other arguments. */
const AWK_REACHES = /[>|@]|\bsystem\b|getline|ENVIRON|PROCINFO|ARG[VCI]|SYMTAB|FUNCTAB|\bclose\b/;

export function effectsOfAwk(words: readonly ShellWord[]): readonly Effect[] {
  // Behind the script `-F` and `-v` are names of files.
  const given = parseOptions(words, AWK, { leading: true });
  const [script, ...files] = given.operands;
  const open = given.operands.filter(({ literal }) => !literal).map((one) => unknown('word', one));
  const doubts = [...given.unknown, ...open, ...wild(words)];
  if (script === undefined) return [...doubts, unknown('operand')];
  // A value with a backslash in it is read as code of the language would be.
  const codes = [script, ...given.values.map(({ word }) => word), ...files.filter(isAssignment)];
  const reaching = codes.filter(({ value }) => AWK_REACHES.test(value));
  return [
    ...doubts,
    ...reaching.flatMap((text): readonly Effect[] => [
      { kind: 'code', text },
      unknown('script', text),
    ]),
    ...files.filter((word) => !isAssignment(word) && word.value !== '-').map((word) => reads(word)),
  ];
}

const AWK_PROGRAM = custom(effectsOfAwk, {
  facts: { runsAnything: true, interprets: 'quoted', opens: true, editsWith: IN_PLACE },
});

function isAssignment({ value }: ShellWord): boolean {
  return /^[A-Za-z_]\w*=/.test(value);
}

const JQ =
  optionTable(`-rcnsSejaCMR raw-output compact-output null-input slurp sort-keys exit-status join-output
  ascii-output color-output monochrome-output tab indent: raw-input`);

function effectsOfJq(words: readonly ShellWord[]): readonly Effect[] {
  const rest: ShellWord[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) continue;
    if (word.value === '--') {
      rest.push(...words.slice(at));
      break;
    }
    // A name and a value follow.
    if (/^--arg(json)?$/.test(word.value)) at += 2;
    else rest.push(word);
    const next = words[at + 1];
    if (word.value === '--indent' && next !== undefined) {
      rest.push(next);
      at++;
    }
  }
  const given = parseOptions(rest, JQ);
  const [filter, ...files] = given.operands;
  // Modules come from other directories, and the environment holds secrets.
  const reaches =
    /\b(import|include|env|ENV|input_filename|get_search_list|modulemeta|__\w*)\b/.test(
      filter?.value ?? '',
    );
  const doubts = [...given.unknown, ...wild(words)];
  if (filter === undefined) doubts.push(unknown('operand'));
  if (reaches) doubts.push(unknown('script', filter));
  return [...doubts, ...files.map((word) => reads(word))];
}

/** xxd reads two characters of a word as the option, and behind a file no option at all. */
function effectsOfXxd(words: readonly ShellWord[]): readonly Effect[] {
  const effects: Effect[] = [...wild(words)];
  const operands: ShellWord[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) continue;
    if (!word.literal) effects.push(unknown('word', word));
    if (operands.length > 0) {
      operands.push(word);
      continue;
    }
    if (/^-[abeEiupC]$/.test(word.value) || /^-[clgos][-+]?(0x)?\d+$/.test(word.value)) continue;
    if (/^-[clgos]$/.test(word.value) && /^[-+]?\d+$/.test(words[at + 1]?.value ?? '')) at++;
    else if (word.value.startsWith('-') && word.value !== '-')
      effects.push(unknown('option', word));
    else operands.push(word);
  }
  const files = operands.flatMap((word, at) =>
    word.value === '-' ? [] : [at === 0 ? reads(word) : writes(word)],
  );
  return [...effects, ...files];
}

const DATE = optionTable('-uR -d: -I? utc universal rfc-3339: iso-8601? date: rfc-email');

/** An operand that is not a format sets the clock. */
function effectsOfDate(words: readonly ShellWord[]): readonly Effect[] {
  const given = parseOptions(words, DATE);
  const sets = given.operands.filter(({ value }) => !value.startsWith('+'));
  return [...given.unknown, ...wild(words), ...sets.map((word) => unknown('operand', word))];
}

/** `-v` and `-R` evaluate subscripts; operands that look like places elsewhere count as read. */
function effectsOfTest(words: readonly ShellWord[]): readonly Effect[] {
  const odd = words.filter(({ value }) => /^-[vRt]$/.test(value));
  const open = words.filter(({ literal }) => !literal);
  return [
    ...odd.map((word) => unknown('option', word)),
    ...open.map((word) => unknown('word', word)),
    ...wild(words),
    ...words.filter(({ value }) => /\/|^~/.test(value)).map((word) => reads(word)),
  ];
}

function effectsOfBracket(words: readonly ShellWord[]): readonly Effect[] {
  const last = words.at(-1);
  if (last?.value !== ']') return [unknown('operand', last)];
  return effectsOfTest(words.slice(0, -1));
}

/** A format that begins with a dash, or that stores a count, sets a variable. */
function effectsOfPrintf(words: readonly ShellWord[]): readonly Effect[] {
  const [format] = words;
  const open = words.filter(({ literal }) => !literal).map((word) => unknown('word', word));
  const sets = format?.value.startsWith('-') === true || assignsByFormat(format?.value ?? '');
  return [...open, ...wild(words), ...(sets ? [unknown('operand', format)] : [])];
}

/** Where ps cannot read its options it takes all of them for BSD's, and an `e` among those shows environments. */
function mayShowEnvironments(flags: ReadonlySet<string>, values: readonly GivenValue[]): boolean {
  const lists = values.filter(({ option }) => /^[puCt]$/.test(option));
  const isDoubtful =
    flags.has('x') || lists.some(({ option, value }) => option !== 'C' && /[^\d,]/.test(value));
  return isDoubtful && (flags.has('e') || lists.some(({ value }) => value.includes('e')));
}

export const TEXT: Readonly<Record<string, Program>> = {
  sed: custom(effectsOfSed, {
    edits: true,
    facts: { destroys: true, interprets: 'quoted', opens: true },
  }),
  ...rows('awk gawk mawk', AWK_PROGRAM),
  jq: custom(effectsOfJq, {
    facts: { opens: true, hazards: hazards('-L rawfile slurpfile from-file') },
  }),
  xxd: custom(effectsOfXxd, { facts: { opens: true } }),
  date: custom(effectsOfDate),
  test: custom(effectsOfTest, { facts: { names: true } }),
  '[': custom(effectsOfBracket, { facts: { names: true } }),
  printf: custom(effectsOfPrintf, {
    facts: { names: true, takesText: true },
  }),
  ps: program('-eflFAaxw -pouCt: pid: user: sort: no-headers headers forest', 'text', {
    // `e` in these letters shows the environments of processes.
    only: /^[auxfwlj]+$/,
    also: ({ flags, values }) => [
      ...values
        .filter(({ word }) => /env/i.test(word.value))
        .map(({ word }) => unknown('option', word)),
      ...(mayShowEnvironments(flags, values) ? [unknown('option')] : []),
    ],
  }),
  man: program('', 'text', {
    only: /^[A-Za-z0-9][\w.+-]*$/,
    facts: {
      interprets: 'bare',
      runsOption: { next: /^-[PH]$/, attached: /^-[PH](.+)$/is },
      hazards: hazards('-PHCl pager html config-file local-file'),
    },
  }),
};

export const OTHER_TEXT: Readonly<Record<string, Program>> = {
  gsed: custom(effectsOfSed, { facts: { interprets: 'quoted', opens: true } }),
  nawk: AWK_PROGRAM,
};

/** Whether a format of printf stores a number in the variable that an argument names: `%n`, in bash. */
export function assignsByFormat(format: string): boolean {
  return /%[-+ #0'*\d.$hlLjzt]*n/.test(format.replaceAll('%%', ''));
}
