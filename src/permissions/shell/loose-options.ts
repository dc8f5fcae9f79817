import { memoised } from '../../lib/memo.js';
import type { ShellWord } from './model.js';
import type { OptionSpec } from './options.js';

/**
 * Options as far as they can be told, for restrictions: what is not in the table is taken for a flag
 * and an abbreviation for all that it may stand for, where `parseOptions` would give up.
 */
export interface LooseOptions {
  readonly operands: readonly ShellWord[];
  /** Operands behind `--`; absent when there is none. */
  readonly behind?: readonly ShellWord[];
  readonly flags: ReadonlySet<string>;
  readonly values: readonly OptionValue[];
  /** Whether an option was seen that the table does not have. */
  readonly odd: boolean;
}

export interface OptionValue {
  readonly option: string;
  readonly value: string;
  /** How many operands stand in front of it. */
  readonly after: number;
}

export function looseOptions(words: readonly ShellWord[], spec: OptionSpec): LooseOptions {
  const read = new LooseReader(spec);
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    if (word.literal && word.value === '--') {
      const behind = words.slice(at + 1);
      read.operands.push(...behind);
      return { ...read.result(), behind };
    }
    if (!word.value.startsWith('-') || word.value === '-') read.operands.push(word);
    else at += read.option(word.value, words[at + 1]?.value);
  }
  return read.result();
}

/** Whether one of these was given: letters, and long names that an abbreviation may stand for. */
export function hasFlag({ flags, values }: LooseOptions, names: string): boolean {
  return names
    .split(' ')
    .some((name) => flags.has(name) || values.some(({ option }) => option === name));
}

export function valuesOf({ values }: LooseOptions, names: string): readonly string[] {
  const wanted = names.split(' ');
  return values.filter(({ option }) => wanted.includes(option)).map(({ value }) => value);
}

/** The tables are split once. */
const longNames = memoised((spec: OptionSpec): readonly string[] =>
  (spec.long ?? '').split(/\s+/).filter((name) => name !== ''),
);

class LooseReader {
  readonly operands: ShellWord[] = [];
  readonly #flags = new Set<string>();
  readonly #values: OptionValue[] = [];
  readonly #spec: OptionSpec;
  readonly #long: readonly string[];
  #odd = false;

  constructor(spec: OptionSpec) {
    this.#spec = spec;
    this.#long = longNames(spec);
  }

  result(): LooseOptions {
    const { operands } = this;
    return { operands, flags: this.#flags, values: this.#values, odd: this.#odd };
  }

  /** How many further words it takes. */
  option(word: string, next: string | undefined): number {
    return word.startsWith('--') ? this.#longOption(word, next) : this.#cluster(word, next);
  }

  #longOption(word: string, next: string | undefined): number {
    const cut = word.indexOf('=');
    const name = word.slice(2, cut === -1 ? undefined : cut);
    const meant = this.#meant(name);
    if (meant.length === 0) this.#odd = true;
    const bare = meant.length === 0 ? [name] : meant.map((one) => one.replace(/\[?=\]?$/, ''));
    const takesNext = meant.length > 0 && meant.every((one) => /[^[]=$/.test(one));
    for (const option of bare) {
      if (cut !== -1) this.#value(option, word.slice(cut + 1));
      else if (takesNext) this.#value(option, next ?? '');
      else this.#flags.add(option);
    }
    return cut === -1 && takesNext ? 1 : 0;
  }

  #meant(name: string): readonly string[] {
    const bare = (one: string): string => one.replace(/\[?=\]?$/, '');
    const exact = this.#long.filter((one) => bare(one) === name);
    return exact.length > 0 ? exact : this.#long.filter((one) => one.startsWith(name));
  }

  #cluster(word: string, next: string | undefined): number {
    const { flags = '', valued = '', optional = '' } = this.#spec;
    for (let at = 1; at < word.length; at++) {
      const letter = word.charAt(at);
      const attached = word.slice(at + 1);
      if (optional.includes(letter)) {
        this.#flags.add(letter);
        if (attached !== '') this.#value(letter, attached);
        return 0;
      }
      if (valued.includes(letter)) {
        this.#value(letter, attached === '' ? (next ?? '') : attached);
        return attached === '' ? 1 : 0;
      }
      if (!flags.includes(letter) && !/\d/.test(letter)) this.#odd = true;
      this.#flags.add(letter);
    }
    return 0;
  }

  #value(option: string, value: string): void {
    this.#values.push({ option, value, after: this.operands.length });
  }
}
