import { refuse } from './refusal.js';

/** Text with its escapes resolved. */
export interface Unescaped {
  readonly text: string;
  /** The same with a backslash in the place of all that a backslash quotes: what may still have a meaning. */
  readonly plain: string;
}

/** Unquoted text; the parser must have read the same. */
export function unescaped(raw: string, expected: string): Unescaped {
  return same(resolve(raw, /\\(\n|[\s\S]|$)/gu), expected);
}

/** In double quotes and here-documents a backslash quotes few characters, and stands for itself before others. */
export function unescapedInQuotes(
  raw: string,
  expected: string | undefined,
  { document }: { document: boolean },
): string {
  const found = resolve(raw, document ? /\\([\n$`\\])/g : /\\([\n$`\\"])/g);
  if (document ? /`/.test(found.plain) : /[`"]/.test(found.plain)) {
    refuse('ambiguous', 'has a stray quote');
  }
  if (/\$[\w({['"@*#?$!-]/.test(found.plain)) {
    refuse('ambiguous', 'has a $ that was not read as an expansion');
  }
  return expected === undefined ? found.text : same(found, expected).text;
}

function resolve(raw: string, escapes: RegExp): Unescaped {
  if (!raw.includes('\\')) return { text: raw, plain: raw };
  const text = raw.replace(escapes, (_, char: string) => {
    if (char === '') refuse('quoting', 'has a backslash at the end of a word');
    return char === '\n' ? '' : char;
  });
  const plain = raw.replace(escapes, (_, char: string) =>
    char === '\n' ? '' : '\\'.repeat(char.length),
  );
  return { text, plain };
}

/** fail-closed: the parser must have read the same text. */
function same(found: Unescaped, expected: string): Unescaped {
  if (found.text !== expected) refuse('ambiguous', 'has escapes that can be read in two ways');
  return found;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['e', '\x1b'],
  ['E', '\x1b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['?', '?'],
]);

/** The text of a `$'…'` string. */
export function ansiText(raw: string, expected: string): string {
  if (!raw.startsWith("$'") || !raw.endsWith("'")) refuse('ambiguous', 'has an unfinished string');
  const sequence = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|([\s\S]?))/g;
  const text = raw.slice(2, -1).replace(sequence, (_, hex, unicode, octal, letter) => {
    if (letter !== undefined) {
      return ESCAPES.get(letter) ?? refuse('quoting', "has an unusual escape in a $'…' string");
    }
    const code =
      unicode === undefined ? parseInt(hex ?? octal, hex ? 16 : 8) : parseInt(unicode, 16);
    const isByte = unicode === undefined && code > 0x7f;
    if (code === 0 || isByte || (code >= 0xd800 && code < 0xe000)) {
      refuse('quoting', "has bytes in a $'…' string that are no text");
    }
    return String.fromCharCode(code);
  });
  if (text !== expected) refuse('ambiguous', 'has escapes that can be read in two ways');
  return text;
}

/** Parts of a word in which neighbouring literal texts are one quoted text. */
export class Pieces {
  #text = '';
  #literal: string | undefined;

  literal(text: string): void {
    this.#literal = (this.#literal ?? '') + text;
  }

  bare(text: string): void {
    this.#text = this.text + text;
    this.#literal = undefined;
  }

  get text(): string {
    return this.#text + (this.#literal === undefined ? '' : quoted(this.#literal));
  }
}

/** Text that stands for itself, wherever a word may stand. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Arithmetic is copied: of names, numbers, operators and plain variables, whose brackets close in their order. None of
 * it can be a command or a quote.
 */
export function renderArithmetic(text: string): string {
  const plain = text.replaceAll('\\\n', ' ').trim();
  const isPlain =
    /^(?:[\s\w+*/%<>=!&|^~?:,()-]|\d#\w|(?<=[A-Za-z_]\w*)\[\w+\]|\$[\w@#?]|\$\{#?\w+\}|\$\{\w+\[\w+\]\})*$/.test(
      plain,
    );
  let open = 0;
  for (const [sign] of plain.matchAll(/[()]/g)) {
    open += sign === '(' ? 1 : -1;
    if (open < 0) break;
  }
  return isPlain && open === 0 ? plain : refuse('quoting', 'has unusual text in arithmetic');
}
