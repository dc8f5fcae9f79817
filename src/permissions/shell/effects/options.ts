import { literalWord, type ShellWord } from '../model.js';
import { type UnknownEffect, unknown } from './effect.js';

/**
 * What the value of an option is. `pattern`: the text that is searched for; `patterns`: a file of such;
 * `names`: a file with names of further files; `shell`: shell code; `run`: a program; `unsure`: what it does is not
 * modelled, as if the option were not listed.
 */
const KINDS = [
  'text',
  'read',
  'write',
  'pattern',
  'patterns',
  'names',
  'shell',
  'code',
  'run',
  'unsure',
] as const;
type ValueKind = (typeof KINDS)[number];

interface OptionSpec {
  readonly value: 'none' | 'attached' | 'required';
  readonly kind: ValueKind;
  readonly tag?: string;
}

/** The options of a program, as a closed list. */
export interface OptionTable {
  readonly short: ReadonlyMap<string, OptionSpec>;
  readonly long: ReadonlyMap<string, OptionSpec>;
  /** `-5` is a count. */
  readonly counts: boolean;
}

/**
 * Compiles a list such as `-abc -n: -f:read -rR=recursive -# color? output:write`. Behind a dash stand
 * letters of single options, without one a long name. `:` takes a value and `?` one that is attached, text
 * unless a kind follows; `=` gives a flag tags that the row of the program goes by; `-#` is a count.
 */
export function optionTable(text: string): OptionTable {
  const short = new Map<string, OptionSpec>();
  const long = new Map<string, OptionSpec>();
  let counts = false;
  for (const item of text.split(/\s+/)) {
    const [, dash, names = '', sign, rest = ''] =
      /^(-?)([^\s:?=]+)(?:([:?=])([\w+-]*))?$/.exec(item) ?? [];
    if (item === '-#') counts = true;
    if (item === '' || item === '-#') continue;
    const kind = KINDS.find((one) => one === rest);
    if (dash === undefined || (sign !== '=' && rest !== '' && kind === undefined)) {
      throw new Error(`not an option: ${item}`);
    }
    const spec: OptionSpec = {
      value: sign === ':' ? 'required' : sign === '?' ? 'attached' : 'none',
      kind: kind ?? 'text',
      ...(sign === '=' ? { tag: rest } : {}),
    };
    if (dash === '') long.set(names, spec);
    else for (const letter of names) short.set(letter, spec);
  }
  return { short, long, counts };
}

export interface GivenValue {
  /** A letter or a long name. */
  readonly option: string;
  readonly kind: ValueKind;
  readonly word: ShellWord;
  readonly value: string;
  /** How many operands stand in front of it. */
  readonly after: number;
}

export interface GivenOptions {
  readonly operands: readonly ShellWord[];
  /** Operands behind `--`; undefined when there is none. */
  readonly behind: readonly ShellWord[] | undefined;
  readonly flags: ReadonlySet<string>;
  /** Flags that were given more than once. */
  readonly repeated: ReadonlySet<string>;
  readonly tags: ReadonlySet<string>;
  readonly values: readonly GivenValue[];
  /** Options that are not in the table, and words that may be any. */
  readonly unknown: readonly UnknownEffect[];
}

/**
 * Reads the words behind a program's name. What is not in the table is reported and taken for a flag.
 * `leading`: options end at the first operand, as for programs that run others.
 */
export function parseOptions(
  words: readonly ShellWord[],
  table: OptionTable,
  { leading = false }: { readonly leading?: boolean } = {},
): GivenOptions {
  const parser = new OptionParser(table);
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    if (word.literal && word.value === '--') {
      parser.end(words.slice(at + 1));
      break;
    }
    if (!word.value.startsWith('-') || word.value === '-') {
      if (leading) {
        parser.operands.push(...words.slice(at));
        break;
      }
      parser.operand(word);
    } else at += parser.option(word, words[at + 1]);
  }
  return parser;
}

/** Whether one of these was given: letters, and long names that an abbreviation may stand for. */
export function hasFlag({ flags, values }: GivenOptions, names: string): boolean {
  return names
    .split(/\s+/)
    .some((name) => flags.has(name) || values.some(({ option }) => option === name));
}

/** Whether a word is one of these options, has it in its cluster, or may be short for it. */
export function isGiven(value: string, table: OptionTable): boolean {
  const option = /^--[\w-]+=?|^-[A-Za-z0-9]+/.exec(value)?.[0];
  if (option === undefined) return false;
  const { flags, values } = parseOptions([literalWord(option)], table);
  return values.length > 0 || [...flags].some((one) => table.short.has(one) || table.long.has(one));
}

export function valuesOf({ values }: GivenOptions, names: string): readonly string[] {
  const wanted = names.split(' ');
  return values.filter(({ option }) => wanted.includes(option)).map(({ value }) => value);
}

/** Patterns and scripts: every program takes whatever follows for their value. */
const TAKES_ANYTHING = new Set(['e', 'regexp', 'expression']);

class OptionParser implements GivenOptions {
  readonly operands: ShellWord[] = [];
  readonly flags = new Set<string>();
  readonly repeated = new Set<string>();
  readonly tags = new Set<string>();
  readonly values: GivenValue[] = [];
  readonly unknown: UnknownEffect[] = [];
  behind: readonly ShellWord[] | undefined;
  readonly #table: OptionTable;

  constructor(table: OptionTable) {
    this.#table = table;
  }

  operand(word: ShellWord): void {
    // fail-closed: what is decided at run time may be an option, or several words.
    if (!word.literal) this.unknown.push(unknown('word', word));
    this.operands.push(word);
  }

  end(words: readonly ShellWord[]): void {
    for (const word of words) {
      if (!word.literal) this.unknown.push(unknown('word', word));
    }
    this.operands.push(...words);
    this.behind = words;
  }

  /** How many further words it takes. */
  option(word: ShellWord, next: ShellWord | undefined): number {
    if (!word.literal || word.pattern !== undefined) this.unknown.push(unknown('word', word));
    if (this.#table.counts && /^-\d+$/.test(word.value)) return 0;
    const before = this.values.length;
    const taken = word.value.startsWith('--') ? this.#long(word, next) : this.#cluster(word, next);
    const isUnsure = this.values.slice(before).some(({ kind }) => kind === 'unsure');
    if (isUnsure) this.unknown.push(unknown('option', word));
    return taken;
  }

  #long(word: ShellWord, next: ShellWord | undefined): number {
    const cut = word.value.indexOf('=');
    const name = word.value.slice(2, cut === -1 ? undefined : cut);
    const exact = this.#table.long.get(name);
    if (exact === undefined) this.unknown.push(unknown('option', word));
    // Programs take long options that are cut short; which one is meant, only they know.
    const meant: readonly (readonly [string, OptionSpec | undefined])[] =
      exact === undefined
        ? [...this.#table.long].filter(([one]) => name !== '' && one.startsWith(name))
        : [[name, exact]];
    if (meant.length === 0) this.flags.add(name);
    const takesNext =
      cut === -1 && meant.length > 0 && meant.every(([, spec]) => spec?.value === 'required');
    for (const [option, spec] of meant) {
      if (cut !== -1) {
        if (exact?.value === 'none') this.unknown.push(unknown('option', word));
        this.#value(option, spec, { ...word, value: word.value.slice(cut + 1) });
      } else if (takesNext) this.#separate(option, spec, { word, next });
      else this.#flag(option, spec);
    }
    return takesNext ? 1 : 0;
  }

  #cluster(word: ShellWord, next: ShellWord | undefined): number {
    for (let at = 1; at < word.value.length; at++) {
      const letter = word.value.charAt(at);
      const spec = this.#table.short.get(letter);
      const attached = word.value.slice(at + 1);
      if (spec === undefined) this.unknown.push(unknown('option', word));
      if (spec?.value === 'attached') {
        this.#flag(letter, spec);
        if (attached !== '') this.#value(letter, spec, { ...word, value: attached });
        return 0;
      }
      if (spec?.value === 'required') {
        if (attached !== '') {
          this.#value(letter, spec, { ...word, value: attached });
          return 0;
        }
        this.#separate(letter, spec, { word, next });
        return 1;
      }
      this.#flag(letter, spec);
    }
    return 0;
  }

  #flag(option: string, spec: OptionSpec | undefined): void {
    if (this.flags.has(option)) this.repeated.add(option);
    this.flags.add(option);
    if (spec?.tag !== undefined) for (const tag of spec.tag.split('+')) this.tags.add(tag);
  }

  /** A value in the next word. */
  #separate(
    option: string,
    spec: OptionSpec | undefined,
    { word, next }: { readonly word: ShellWord; readonly next: ShellWord | undefined },
  ): void {
    // fail-closed: where a version of the program takes no value there, this would be an option.
    const isOption = /^-\D/.test(next?.value ?? '') && !TAKES_ANYTHING.has(option);
    if (next === undefined || isOption) this.unknown.push(unknown('option', word));
    // fail-closed: a wildcard may become several words.
    if (next !== undefined && (!next.literal || next.pattern !== undefined)) {
      this.unknown.push(unknown('word', next));
    }
    this.#value(option, spec, next ?? literalWord(''));
  }

  #value(option: string, spec: OptionSpec | undefined, word: ShellWord): void {
    const kind = spec?.kind ?? 'text';
    const { value } = word;
    this.values.push({ option, kind, word, value, after: this.operands.length });
  }
}
