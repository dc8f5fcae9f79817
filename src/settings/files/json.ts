/** Steps through a document: `['permissions', 'deny', 0]`. */
export type JsonPath = readonly (string | number)[];

export interface Duplicate {
  readonly path: JsonPath;
  readonly line: number;
}

export type LocatedJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Keys that occur twice in one object; only the last one counts. */
      readonly duplicates: readonly Duplicate[];
      lineOf(path: JsonPath): number | undefined;
    }
  | { readonly ok: false; readonly line: number; readonly message: string };

/** Parses JSON with the line of each value, or the line of the first error and what is wrong there. */
export function parseLocatedJson(text: string): LocatedJson {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const lines = lineIndex(source);
  const read = new JsonReader(source).document();
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
      /** Offset behind the value. */
      readonly end: number;
      readonly duplicates: readonly { readonly path: JsonPath; readonly offset: number }[];
    }
  | {
      readonly ok: false;
      readonly offset: number;
      readonly message: string;
      /** Well-formed as far as it was read, but nested too deeply or with a forbidden key. */
      readonly isRefused: boolean;
    };

/** Reads the JSON value at `start`; what follows it does not matter. */
export function readJsonAt(text: string, start: number): JsonReading {
  return new JsonReader(text, start).value();
}

/** A nesting that nobody writes, and that could overflow the stack of a later reader. */
const MAX_DEPTH = 200;
const BLANKS = /[ \t\n\r]*/y;
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[^"\\\u0000-\u001f]*)*"/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Thrown by a reader that has noted what is wrong: texts with many faults are read without many errors. */
const FAILED = new Error('the text is not JSON');

interface Fault {
  readonly offset: number;
  readonly isRefused: boolean;
  readonly describe: () => string;
}

class JsonReader {
  readonly #text: string;
  readonly #path: (string | number)[] = [];
  readonly #duplicates: { path: JsonPath; offset: number }[] = [];
  #at: number;
  #fault: Fault | undefined;

  constructor(text: string, start = 0) {
    this.#text = text;
    this.#at = start;
  }

  value(): JsonReading {
    return this.#reading(() => this.#value());
  }

  document(): JsonReading {
    return this.#reading(() => {
      const node = this.#value();
      if (this.#peek() !== '') this.#fail('there is something after the end of the value');
      return node;
    });
  }

  #reading(read: () => JsonNode): JsonReading {
    try {
      return { ok: true, node: read(), end: this.#at, duplicates: this.#duplicates };
    } catch (thrown) {
      const fault = this.#fault;
      if (thrown !== FAILED || fault === undefined) throw thrown;
      const { offset, isRefused, describe } = fault;
      // Finding the words takes a look at the whole text, so that only who wants them pays for it.
      return {
        ok: false,
        offset,
        isRefused,
        get message() {
          return describe();
        },
      };
    }
  }

  #value(): JsonNode {
    const first = this.#peek();
    const offset = this.#at;
    if (this.#path.length > MAX_DEPTH) {
      this.#throw({ offset, isRefused: true, describe: () => 'it is nested too deeply' });
    }
    if (first === '{') return this.#object(offset);
    if (first === '[') return this.#array(offset);
    if (first === '"') return { offset, value: this.#string() };
    const text = this.#match(SCALAR) ?? this.#fail('a value is missing or is none');
    return { offset, value: JSON.parse(text) };
  }

  #object(offset: number): JsonNode {
    const members = new Map<string, JsonNode>();
    this.#at++;
    if (this.#peek() !== '}') {
      do {
        if (this.#peek() !== '"') this.#fail('a key is missing or not in double quotes', offset);
        const keyAt = this.#at;
        const key = this.#string();
        // fail-closed: such a key could reach a prototype when the value is merged later.
        if (key === '__proto__') {
          const describe = (): string => 'the key "__proto__" is not accepted';
          this.#throw({ offset: keyAt, isRefused: true, describe });
        }
        if (this.#peek() !== ':') this.#fail(`a colon is missing after "${key}"`);
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

  /** True behind a comma, false at the closing bracket. */
  #hasNext(close: '}' | ']', opened: number): boolean {
    const next = this.#peek();
    if (next === close) return false;
    if (next !== ',') this.#fail(`a comma or ${close} is missing`, opened);
    this.#at++;
    return true;
  }

  #string(): string {
    const text = this.#match(STRING);
    return text === undefined ? this.#badString() : (JSON.parse(text) as string);
  }

  /** The next character that is not blank, '' at the end. */
  #peek(): string {
    this.#match(BLANKS);
    return this.#text.charAt(this.#at);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #badString(): never {
    const start = this.#at;
    for (let at = start + 1; at < this.#text.length && this.#text[at] !== '"'; at++) {
      this.#at = at;
      if (this.#text.charCodeAt(at) < 0x20) {
        this.#fail('a text holds a line break or control character');
      }
      if (this.#text[at] !== '\\') continue;
      at++;
      if (this.#text[at] === 'u' && !/^[\dA-Fa-f]{4}/.test(this.#text.slice(at + 1, at + 5))) {
        this.#fail('a text holds an escape that JSON does not have');
      }
      if (!'"\\/bfnrtu'.includes(this.#text[at] ?? '"')) {
        this.#fail('a text holds a backslash that is not doubled');
      }
    }
    this.#at = this.#text.length;
    return this.#fail('a text is not closed');
  }

  /** Names the usual mistakes; otherwise says what was expected. */
  #fail(message: string, opened?: number): never {
    const offset = this.#at;
    const describe = (): string => this.#usualMistake(offset, opened) ?? message;
    return this.#throw({ offset, isRefused: false, describe });
  }

  #throw(fault: Fault): never {
    this.#fault = fault;
    throw FAILED;
  }

  #usualMistake(at: number, opened: number | undefined): string | undefined {
    const text = this.#text;
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
}
