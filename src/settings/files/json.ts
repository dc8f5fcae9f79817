/** The path to a value: `['permissions', 'deny', 0]`. */
export type JsonPath = readonly (string | number)[];

export interface Duplicate {
  readonly path: JsonPath;
  readonly line: number;
}

export type LocatedJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Keys that occur twice in an object; the last one wins. */
      readonly duplicates: readonly Duplicate[];
      lineOf(path: JsonPath): number | undefined;
    }
  | { readonly ok: false; readonly line: number; readonly message: string };

/** Parses JSON and knows the line of each value; for invalid text it reports the line and the mistake. */
export function parseLocatedJson(text: string): LocatedJson {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const lines = lineIndex(source);
  const read = new JsonReader(source).read({ whole: true });
  if (!read.ok) return { ok: false, line: lines(read.offset), message: read.message };
  return {
    ok: true,
    value: read.node.value,
    duplicates: read.duplicates.map(({ path, offset }) => ({ path, line: lines(offset) })),
    lineOf(path) {
      let node: JsonNode | undefined = read.node;
      for (const step of path) {
        node = typeof step === 'number' ? node?.items?.[step] : node?.members?.get(step);
      }
      return node === undefined ? undefined : lines(node.offset);
    },
  };
}

function lineIndex(source: string): (offset: number) => number {
  const starts = [0];
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1;
}

interface JsonNode {
  readonly offset: number;
  readonly value: unknown;
  readonly members?: ReadonlyMap<string, JsonNode>;
  readonly items?: readonly JsonNode[];
}

export type JsonReading =
  | {
      readonly ok: true;
      readonly node: JsonNode;
      /** The offset after the value. */
      readonly end: number;
      readonly duplicates: readonly { readonly path: JsonPath; readonly offset: number }[];
    }
  | {
      readonly ok: false;
      readonly offset: number;
      /** It is valid JSON with a nesting or key that we refuse. */
      readonly isRefused: boolean;
      readonly message: string;
    };

/** Reads the JSON value at an offset and ignores what follows. */
export function readJsonAt(text: string, start: number): JsonReading {
  return new JsonReader(text, start).read();
}

/** Deeper nesting is never hand-written and could overflow a later reader's stack. */
const MAX_DEPTH = 200;

const BLANKS = /[ \t\n\r]*/y;
/** A piece of a string. Bounded, as a text with millions of escapes would overflow the stack of an expression. */
const PIECE = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})){1,4096}/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Reused, because creating an error per fault is slow; the fault is stored in the reader. */
const FAILED = new Error('the text is not JSON');

interface Fault {
  readonly message: string;
  /** The start of the enclosing object or list. */
  readonly opened?: number;
  readonly isRefused?: true;
}

class JsonReader {
  readonly #text: string;
  readonly #path: (string | number)[] = [];
  readonly #duplicates: { path: JsonPath; offset: number }[] = [];
  #at: number;
  #fault: Fault = { message: '' };

  constructor(text: string, start = 0) {
    this.#text = text;
    this.#at = start;
  }

  /** `whole`: nothing may follow the value. */
  read({ whole = false } = {}): JsonReading {
    try {
      const node = this.#value();
      if (whole && this.#peek() !== '') {
        this.#fail({ message: 'there is something after the end of the value' });
      }
      return { ok: true, node, end: this.#at, duplicates: this.#duplicates };
    } catch (thrown) {
      if (thrown !== FAILED) throw thrown;
      const [text, offset, { message, opened, isRefused = false }] = [
        this.#text,
        this.#at,
        this.#fault,
      ];
      return {
        ok: false,
        offset,
        isRefused,
        // Computed on demand, because it scans the whole text.
        get message() {
          return isRefused ? message : (usualMistake(text, offset, opened) ?? message);
        },
      };
    }
  }

  #value(): JsonNode {
    const first = this.#peek();
    const offset = this.#at;
    if (this.#path.length > MAX_DEPTH) {
      this.#fail({ message: 'it is nested too deeply', isRefused: true });
    }
    if (first === '{') return this.#object(offset);
    if (first === '[') return this.#array(offset);
    if (first === '"') return { offset, value: this.#string() };
    const text = this.#match(SCALAR);
    if (text === '') this.#fail({ message: 'a value is missing or is none' });
    return { offset, value: JSON.parse(text) };
  }

  #object(offset: number): JsonNode {
    const members = new Map<string, JsonNode>();
    this.#at++;
    if (this.#peek() !== '}') {
      do {
        if (this.#peek() !== '"') {
          this.#fail({ message: 'a key is missing or not in double quotes', opened: offset });
        }
        const keyAt = this.#at;
        const key = this.#string();
        if (key === '__proto__') {
          // fail-closed: this key could reach a prototype in a later merge.
          this.#at = keyAt;
          this.#fail({ message: 'the key "__proto__" is not accepted', isRefused: true });
        }
        if (this.#peek() !== ':') this.#fail({ message: `a colon is missing after "${key}"` });
        this.#at++;
        this.#path.push(key);
        this.#peek();
        if (members.has(key)) this.#duplicates.push({ path: [...this.#path], offset: this.#at });
        members.set(key, this.#value());
        this.#path.pop();
      } while (this.#hasNext('}', offset));
    }
    this.#at++;
    const entries = [...members].map(([key, node]) => [key, node.value] as const);
    return { offset, value: Object.fromEntries(entries), members };
  }

  #array(offset: number): JsonNode {
    const items: JsonNode[] = [];
    this.#at++;
    if (this.#peek() !== ']') {
      do {
        this.#path.push(items.length);
        items.push(this.#value());
        this.#path.pop();
      } while (this.#hasNext(']', offset));
    }
    this.#at++;
    return { offset, value: items.map(({ value }) => value), items };
  }

  /** True after a comma, false at the closing bracket. */
  #hasNext(close: '}' | ']', opened: number): boolean {
    const next = this.#peek();
    if (next === close) return false;
    if (next !== ',') this.#fail({ message: `a comma or ${close} is missing`, opened });
    this.#at++;
    return true;
  }

  #string(): string {
    const start = this.#at++;
    for (let piece = ' '; piece !== ''; ) piece = this.#match(PIECE);
    const text = this.#text.slice(start, this.#at);
    const end = this.#text.charAt(this.#at);
    if (end === '') this.#fail({ message: 'a text is not closed' });
    if (end === '\\') {
      const isEscape = this.#text.charAt(this.#at + 1) === 'u';
      const what = isEscape
        ? 'an escape that JSON does not have'
        : 'a backslash that is not doubled';
      this.#fail({ message: `a text holds ${what}` });
    }
    if (end !== '"') this.#fail({ message: 'a text holds a line break or control character' });
    this.#at++;
    return JSON.parse(`${text}"`) as string;
  }

  /** The next non-blank character, or '' at the end. */
  #peek(): string {
    this.#match(BLANKS);
    return this.#text.charAt(this.#at);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [''];
    this.#at += found.length;
    return found;
  }

  #fail(fault: Fault): never {
    this.#fault = fault;
    throw FAILED;
  }
}

/** Explains common mistakes by the text at the error. */
function usualMistake(text: string, at: number, opened: number | undefined): string | undefined {
  const here = text.charAt(at);
  if (/^(?:\/\/|\/\*|#)/.test(text.slice(at, at + 2))) {
    return 'there is a comment, and JSON has no comments';
  }
  if (here === "'") return 'there are single quotes where JSON wants double quotes';
  if (here === '}' || here === ']') {
    const before = text.slice(0, at).trimEnd().at(-1);
    return before === ',' ? `there is a trailing comma before ${here}` : undefined;
  }
  if (here !== '') return undefined;
  if (opened === undefined) return 'the text ends too early';
  const line = text.slice(0, opened).split('\n').length;
  return `the text ends too early: what line ${line} opens is never closed`;
}
