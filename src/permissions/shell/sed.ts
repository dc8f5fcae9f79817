import { own } from '../../lib/own.js';
import { type GivenOptions, optionTable, parseOptions } from './effects/options.js';
import { programOf, type ShellWord } from './model.js';

/** Whether a script of sed can do no more than change text. fail-closed: what cannot be followed may do more. */
export function isPlainScript(script: string): boolean {
  return isPlain(scanSed(script));
}

export function isPlain({ reads, writes, runs, broken }: SedUse): boolean {
  return !broken && reads.length + writes.length + runs.length === 0;
}

const OPTIONS = optionTable(
  // The later ones are harmless to a rule that allows sed with any script that only changes text.
  `-nErsuz -e:code -i? expression:code quiet silent regexp-extended separate unbuffered null-data in-place? -b=unsure
  debug=unsure posix=unsure sandbox=unsure zero-terminated=unsure binary=unsure follow-symlinks=unsure help=unsure
  version=unsure`,
);

interface SedCall {
  readonly given: GivenOptions;
  readonly scripts: readonly ShellWord[];
  readonly files: readonly ShellWord[];
  /** fail-closed: behind an option that is not known anything may be the script. */
  readonly isSure: boolean;
}

export function sedCall(words: readonly ShellWord[]): SedCall {
  const given = parseOptions(words, OPTIONS);
  const scripts = given.values.flatMap(({ kind, word }) => (kind === 'code' ? [word] : []));
  const isFirst = scripts.length === 0 ? 1 : 0;
  return {
    given,
    scripts: [...scripts, ...given.operands.slice(0, isFirst)],
    files: given.operands.slice(isFirst),
    isSure: given.unknown.every(({ why }) => why !== 'option'),
  };
}

/** What the scripts of a sed do; with every word for a script where an option is not known. */
export function sedUses(words: readonly ShellWord[]): readonly SedUse[] {
  if (!/^g?sed$/.test(programOf(words) ?? '')) return [];
  const rest = words.slice(1);
  const { scripts, isSure } = sedCall(rest);
  return (isSure ? scripts : rest).map(({ value }) => scanSed(value));
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

const ADDRESS = /\d+(?:~\d+)?|\$|[+~]\d+|/y;
/**
 * Commands without an argument, with a count, a text or a label. Labels are words of letters: versions of sed differ
 * in what ends others. `v` is none of them: what follows it runs.
 */
const PLAIN = /[=dDgGhHnNpPxzF]|[lLqQ][ \t]*\d*|[btT](?:[ \t]*[\w.-]+)?|:[ \t]*[\w.-]+/y;
/** What may follow such a command, and the flags of `s`. */
const END = /[ \t]*(?=[;\n}#]|$)/y;
/** Takes the rest of its line, and those behind it that a backslash joins. */
const TEXT = /[aic](?:\\.|[^\n\\])*|#[^\n]*/sy;
/** Commands with the name of a file, or a command, up to the end of the line. */
const NAMED = { r: 'reads', R: 'reads', w: 'writes', W: 'writes', e: 'runs' } as const;

class Scan {
  readonly found = { reads: [] as string[], writes: [] as string[], runs: [] as string[] };
  readonly #script: string;
  #at = 0;

  constructor(script: string) {
    this.#script = script;
  }

  /** False: something stands there that is no command. */
  toEnd(): boolean {
    for (;;) {
      this.#skip(/[ \t\n;]*/y);
      if (this.#at >= this.#script.length) return true;
      if (!this.#address()) return false;
      if (this.#skip(/[ \t]*,[ \t]*|/y) !== '' && !this.#address()) return false;
      this.#skip(/[ \t!]*/y);
      if (!this.#command()) return false;
    }
  }

  /** True also where there is none. */
  #address(): boolean {
    if (this.#skip(ADDRESS) !== '') return true;
    const delimiter = this.#skip(/\\[^\n\\]|\/|/y).slice(-1);
    if (delimiter === '') return true;
    const isClosed = this.#past(delimiter, { sets: true });
    this.#skip(/[IM]*/y);
    return isClosed;
  }

  #command(): boolean {
    if (this.#skip(/\{/y) !== '' || this.#skip(TEXT) !== '') return true;
    if (this.#skip(/\}/y) !== '' || this.#skip(PLAIN) !== '') return this.#isEnd();
    const name = this.#skip(/./sy);
    const kind = own(NAMED, name);
    if (kind !== undefined) this.found[kind].push(this.#line());
    if (name !== 's' && name !== 'y') return kind !== undefined;
    const delimiter = this.#skip(/[^\n\\]/y);
    if (!this.#past(delimiter, { sets: name === 's' })) return false;
    const start = this.#at;
    if (!this.#past(delimiter, { sets: false })) return false;
    if (name === 'y') return this.#isEnd();
    const replacement = this.#script.slice(start, this.#at - 1);
    if (this.#skip(/[gpiIemM\d]*/y).includes('e')) this.found.runs.push(replacement);
    if (this.#skip(/w/y) === '') return this.#isEnd();
    this.found.writes.push(this.#line());
    return true;
  }

  /** fail-closed: what is not surely the end of a command may be a part of the next one. */
  #isEnd(): boolean {
    END.lastIndex = this.#at;
    return END.test(this.#script);
  }

  /** Behind the next delimiter; in a set of characters (`[/]`) it is one of them. */
  #past(delimiter: string, { sets }: { readonly sets: boolean }): boolean {
    if (delimiter === '') return false;
    while (this.#at < this.#script.length) {
      const char = this.#script.charAt(this.#at);
      // fail-closed: with such a delimiter it is open where a set begins and where it ends.
      if (sets && char === '[' && /[[\]^:.=-]/.test(delimiter)) return false;
      const end = sets && char === '[' ? this.#setEnd() : undefined;
      if (sets && char === '[' && end === undefined) return false;
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
    for (; at < script.length; at++) {
      const char = script.charAt(at);
      if (char === ']') return at + 1;
      if (char === '\n') return undefined;
      const kind = char === '[' ? script.charAt(at + 1) : '';
      if (!/[:.=]/.test(kind)) continue;
      at = script.indexOf(`${kind}]`, at + 2) + 1;
      if (at === 0) return undefined;
    }
    return undefined;
  }

  #line(): string {
    return this.#skip(/[^\n]*/y).trim();
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#script)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }
}
