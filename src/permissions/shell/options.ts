/**
 * Options of a program, as a closed list. `flags` and `valued` are short options without and with
 * a value; `optional` those that take one only when it is attached; `long` holds long names, with a trailing `=` when they take a value. `paths` names the
 * valued options (`f`, `file`) whose value is a file.
 */
export interface OptionSpec {
  readonly flags?: string;
  readonly valued?: string;
  readonly optional?: string;
  readonly long?: string;
  readonly paths?: string;
  /** `-5` is a count. */
  readonly numeric?: boolean;
}

export interface ParsedOptions {
  readonly operands: readonly string[];
  readonly flags: ReadonlySet<string>;
  readonly values: readonly { readonly option: string; readonly value: string }[];
  /** Files among the option values. */
  readonly paths: readonly string[];
}

/** Undefined when an option is not in the list, abbreviations included: then nothing is known. */
export function parseOptions(
  words: readonly string[],
  spec: OptionSpec,
): ParsedOptions | undefined {
  const read = new OptionReader(spec);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') {
      read.operands.push(...words.slice(at + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      read.operands.push(word);
      continue;
    }
    const used = word.startsWith('--')
      ? read.long(word, words[at + 1])
      : read.short(word, words[at + 1]);
    if (used === undefined) return undefined;
    at += used;
  }
  return read;
}

class OptionReader implements ParsedOptions {
  readonly operands: string[] = [];
  readonly flags = new Set<string>();
  readonly values: { option: string; value: string }[] = [];
  readonly paths: string[] = [];
  readonly #spec: OptionSpec;
  readonly #names: OptionNames;

  constructor(spec: OptionSpec) {
    this.#spec = spec;
    this.#names = namesOf(spec);
  }

  /** How many further words it took. */
  long(word: string, next: string | undefined): number | undefined {
    const [name = '', ...rest] = word.slice(2).split('=');
    if (rest.length > 0) {
      const takes = this.#names.long.has(`${name}=`) || this.#names.long.has(`${name}[=]`);
      return takes ? this.#value(name, rest.join('='), 0) : undefined;
    }
    if (this.#names.long.has(name) || this.#names.long.has(`${name}[=]`)) {
      this.flags.add(name);
      return 0;
    }
    return this.#names.long.has(`${name}=`) ? this.#separate(name, next) : undefined;
  }

  short(word: string, next: string | undefined): number | undefined {
    if (this.#spec.numeric === true && /^-\d+$/.test(word)) return 0;
    for (let at = 1; at < word.length; at++) {
      const letter = word.charAt(at);
      if ((this.#spec.flags ?? '').includes(letter)) {
        this.flags.add(letter);
        continue;
      }
      const attached = word.slice(at + 1);
      if ((this.#spec.optional ?? '').includes(letter)) return this.#value(letter, attached, 0);
      if (!(this.#spec.valued ?? '').includes(letter)) return undefined;
      if (attached !== '') return this.#value(letter, attached, 0);
      return this.#separate(letter, next);
    }
    return 0;
  }

  /** A value in the next word. */
  #separate(option: string, next: string | undefined): number | undefined {
    // fail-closed: where a version of the program takes no value there, this would be an option.
    const isOption = /^-\D/.test(next ?? '') && !TAKES_ANYTHING.has(option);
    return next === undefined || isOption ? undefined : this.#value(option, next, 1);
  }

  #value(option: string, value: string, used: number): number {
    this.values.push({ option, value });
    if (this.#names.paths.has(option)) this.paths.push(value);
    return used;
  }
}

/**
 * Patterns and scripts, of which every program takes whatever follows. Not those of git (`-S`, `--grep`), which
 * goes through its options more than once, so that what follows may be gone by then.
 */
const TAKES_ANYTHING = new Set(['e', 'regexp', 'expression']);

interface OptionNames {
  readonly long: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

const compiled = new WeakMap<OptionSpec, OptionNames>();

function namesOf(spec: OptionSpec): OptionNames {
  const known = compiled.get(spec);
  if (known !== undefined) return known;
  const long = new Set((spec.long ?? '').split(/\s+/));
  const made = { long, paths: new Set((spec.paths ?? '').split(/\s+/)) };
  compiled.set(spec, made);
  return made;
}
