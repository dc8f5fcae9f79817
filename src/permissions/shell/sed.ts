import { optionTable, parseOptions } from './effects/options.js';
import type { ShellWord } from './model.js';

/** Whether a script of sed can do no more than change text. fail-closed: what cannot be followed may do more. */
export function isPlainScript(script: string): boolean {
  const { reads, writes, runs, broken } = scanSed(script);
  return !broken && reads.length + writes.length + runs.length === 0;
}

export const SED_OPTIONS = `-nErsuz -e:code -i? expression:code quiet silent regexp-extended separate unbuffered
  null-data in-place?`;

/** Grants know fewer: these are harmless to a rule that allows sed with any script that only changes text. */
const KNOWN_OPTIONS = optionTable(`${SED_OPTIONS} -b -l: debug posix sandbox zero-terminated binary
  follow-symlinks help version line-length:`);

/** The scripts among the arguments of sed, and options that are not known or name a file of commands. */
export function readSed(words: readonly ShellWord[]): {
  readonly scripts: readonly string[];
  readonly unknown: readonly ShellWord[];
} {
  const given = parseOptions(words, KNOWN_OPTIONS);
  const scripts = given.values.filter(({ kind }) => kind === 'code').map(({ value }) => value);
  const [first] = given.operands;
  return {
    scripts: scripts.length > 0 || first === undefined ? scripts : [first.value],
    unknown: given.unknown.flatMap(({ why, word }) =>
      why === 'option' && word !== undefined ? [word] : [],
    ),
  };
}

/** The scripts of sed; every word where an option is not known. */
export function scriptsOfSed(words: readonly ShellWord[]): readonly string[] {
  const { scripts, unknown } = readSed(words);
  return unknown.length === 0 ? scripts : words.map(({ value }) => value);
}

/** What a script of sed does besides changing text. */
interface SedUse {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Commands that it runs; an empty one is a line of the text. */
  readonly runs: readonly string[];
  /** It could not be followed to its end. */
  readonly broken: boolean;
}

/** Goes through a script as sed does: what follows `w`, `r` and `e` needs no blank in front of it. */
export function scanSed(script: string): SedUse {
  const scan = new Scan(script);
  if (scan.toEnd()) return { ...scan.found, broken: false };
  // fail-closed: where it cannot be followed, every word may be a file or a command, also right behind its letter.
  const words = script.match(/[^\s;{}[\]]+/g)?.flatMap((word) => [word, word.slice(1)]) ?? [];
  const { reads, writes, runs } = scan.found;
  return {
    reads: [...reads, ...words],
    writes: [...writes, ...words],
    runs: [...runs, ...words],
    broken: true,
  };
}

const LINE_ADDRESS = /^(?:\d+(?:~\d+)?|\$|[+~]\d+)/;
const SIMPLE = /^[=dDgGhHnNpPxzF{}]/;
const COUNTED = /^[lLqQ]\s*\d*/;

class Scan {
  readonly found = { reads: [] as string[], writes: [] as string[], runs: [] as string[] };
  readonly #script: string;
  readonly #lastClose: number;
  #at = 0;

  constructor(script: string) {
    this.#script = script;
    this.#lastClose = script.lastIndexOf(']');
  }

  /** False: something stands there that is no command. */
  toEnd(): boolean {
    for (;;) {
      this.#skip(/^[\s;]+/);
      if (this.#at >= this.#script.length) return true;
      if (!this.#address()) return false;
      if (this.#skip(/^\s*,\s*/) !== '' && !this.#address()) return false;
      this.#skip(/^[\s!]+/);
      if (!this.#command()) return false;
    }
  }

  /** True also where there is none. */
  #address(): boolean {
    if (this.#skip(LINE_ADDRESS) !== '') return true;
    const delimiter = this.#skip(/^\\[^\n\\]/).charAt(1) || this.#skip(/^\//);
    if (delimiter === '') return true;
    const isClosed = this.#past(delimiter, { sets: true });
    this.#skip(/^[IM]+/);
    return isClosed;
  }

  #command(): boolean {
    if (this.#skip(SIMPLE) !== '' || this.#skip(COUNTED) !== '') return true;
    const name = this.#skip(/^./s);
    switch (name) {
      case 's':
        return this.#substitution();
      case 'y': {
        const delimiter = this.#skip(/^[^\n\\]/);
        return this.#past(delimiter, { sets: false }) && this.#past(delimiter, { sets: false });
      }
      case 'a':
      case 'i':
      case 'c':
        this.#skip(/^(?:\\.|[^\n\\])*/s);
        return true;
      case 'b':
      case 't':
      case 'T':
      case ':':
        this.#skip(/^[ \t]*[^\s;]*/);
        return true;
      case 'v':
      case '#':
        this.#line();
        return true;
      case 'r':
      case 'R':
        this.found.reads.push(this.#line());
        return true;
      case 'w':
      case 'W':
        this.found.writes.push(this.#line());
        return true;
      case 'e':
        this.found.runs.push(this.#line());
        return true;
      default:
        return false;
    }
  }

  #substitution(): boolean {
    const delimiter = this.#skip(/^[^\n\\]/);
    if (!this.#past(delimiter, { sets: true })) return false;
    const start = this.#at;
    if (!this.#past(delimiter, { sets: false })) return false;
    const replacement = this.#script.slice(start, this.#at - 1);
    const flags = this.#skip(/^[gpiIemM\d]+/);
    if (flags.includes('e')) this.found.runs.push(replacement);
    if (this.#skip(/^w/) !== '') this.found.writes.push(this.#line());
    return true;
  }

  /** Behind the next delimiter; in a set of characters (`[/]`) it is one of them. */
  #past(delimiter: string, { sets }: { readonly sets: boolean }): boolean {
    if (delimiter === '') return false;
    while (this.#at < this.#script.length) {
      const char = this.#script.charAt(this.#at);
      // fail-closed: with such a delimiter it is open where a set begins and where it ends.
      if (sets && char === '[' && /[[\]^:.=-]/.test(delimiter)) return false;
      const end = sets && char === '[' ? this.#setEnd() : undefined;
      this.#at = end ?? this.#at + (char === '\\' ? 2 : 1);
      if (char === delimiter && end === undefined) return true;
    }
    return false;
  }

  /** Behind the set that begins here; undefined where it is not closed on its line. */
  #setEnd(): number | undefined {
    const script = this.#script;
    let at = this.#at + 1;
    if (script.charAt(at) === '^') at++;
    if (script.charAt(at) === ']') at++;
    while (at <= this.#lastClose) {
      const char = script.charAt(at);
      if (char === ']') return at + 1;
      if (char === '\n') return undefined;
      const kind = char === '[' ? script.charAt(at + 1) : '';
      const named = /[:.=]/.test(kind) ? script.indexOf(`${kind}]`, at + 2) : -1;
      at = named === -1 ? at + 1 : named + 2;
    }
    return undefined;
  }

  #line(): string {
    return this.#skip(/^[^\n]*/).trim();
  }

  #peek(pattern: RegExp): string {
    return pattern.exec(this.#script.slice(this.#at))?.[0] ?? '';
  }

  #skip(pattern: RegExp): string {
    const found = this.#peek(pattern);
    this.#at += found.length;
    return found;
  }
}
