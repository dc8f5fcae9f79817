type Way = readonly (string | number)[];

/**
 * Walks JSON text once and notes where each value begins, which keys stand twice, and the first
 * place that is not JSON, in the words of the mistakes that people make.
 */
export class JsonScan {
  /** Offset of each value by its way, as JSON text. */
  readonly places = new Map<string, number>();
  readonly duplicates: { readonly way: Way; readonly offset: number }[] = [];
  failure: { readonly offset: number; readonly message: string } | undefined;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    if (this.#value([]) && this.#peek() !== '') {
      this.#fail('there is something after the end of the value');
    }
  }

  #value(way: Way): boolean {
    const first = this.#peek();
    const name = JSON.stringify(way);
    if (this.places.has(name)) this.duplicates.push({ way, offset: this.#at });
    this.places.set(name, this.#at);
    if (way.length > DEEPEST) return this.#fail('it is nested too deeply');
    if (first === '{') return this.#members(way);
    if (first === '[') return this.#elements(way);
    if (first === '"') return this.#string();
    return this.#scalar();
  }

  #members(way: Way): boolean {
    const opened = this.#at++;
    if (this.#peek() === '}') return this.#step();
    for (;;) {
      if (this.#peek() !== '"')
        return this.#fail('a key is missing or not in double quotes', opened);
      const start = this.#at;
      if (!this.#string()) return false;
      const key = JSON.parse(this.#text.slice(start, this.#at)) as string;
      if (key === '__proto__') return this.#fail('the key "__proto__" is not accepted');
      if (this.#peek() !== ':') return this.#fail(`a colon is missing after "${key}"`);
      this.#at++;
      if (!this.#value([...way, key])) return false;
      const next = this.#peek();
      if (next === '}') return this.#step();
      if (next !== ',') return this.#fail('a comma or } is missing', opened);
      this.#at++;
    }
  }

  #elements(way: Way): boolean {
    const opened = this.#at++;
    if (this.#peek() === ']') return this.#step();
    for (let index = 0; ; index++) {
      if (!this.#value([...way, index])) return false;
      const next = this.#peek();
      if (next === ']') return this.#step();
      if (next !== ',') return this.#fail('a comma or ] is missing', opened);
      this.#at++;
    }
  }

  #peek(): string {
    BLANK.lastIndex = this.#at;
    BLANK.exec(this.#text);
    this.#at = BLANK.lastIndex;
    return this.#text.charAt(this.#at);
  }

  #scalar(): boolean {
    SCALAR.lastIndex = this.#at;
    const found = SCALAR.exec(this.#text)?.[0];
    if (found === undefined) return this.#fail('a value is missing or is none');
    this.#at += found.length;
    return true;
  }

  #string(): boolean {
    const start = this.#at;
    for (let at = start + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return true;
      }
      if (code < BLANK_CODE) {
        this.#at = at;
        return this.#fail('a text holds a line break or control character');
      }
      if (code === BACKSLASH && !'"\\/bfnrtu'.includes(this.#text.charAt(++at))) {
        this.#at = at;
        return this.#fail('a text holds a backslash that is not doubled');
      }
    }
    return this.#fail('a text is not closed');
  }

  #step(): true {
    this.#at++;
    return true;
  }

  #fail(message: string, opened?: number): false {
    this.failure ??= { offset: this.#at, message: this.#diagnosis(message, opened) };
    return false;
  }

  /** The usual mistakes by name; otherwise what was expected. */
  #diagnosis(message: string, opened: number | undefined): string {
    const text = this.#text;
    const here = text.charAt(this.#at);
    if (/^(?:\/\/|\/\*|#)/.test(text.slice(this.#at, this.#at + 2))) {
      return 'there is a comment, and JSON has no comments';
    }
    const before = text.slice(0, this.#at).trimEnd().at(-1);
    if (before === ',' && (here === '}' || here === ']')) {
      return `there is a trailing comma before ${here}`;
    }
    if (here === "'") return 'there are single quotes where JSON wants double quotes';
    if (here !== '') return message;
    const line = opened === undefined ? undefined : text.slice(0, opened).split('\n').length;
    return line === undefined
      ? 'the text ends too early'
      : `the text ends too early: what line ${line} opens is never closed`;
  }
}

const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const BLANK = /[ \t\r\n]*/y;
const QUOTE = 34;
const BACKSLASH = 92;
const BLANK_CODE = 32;
const DEEPEST = 200;
