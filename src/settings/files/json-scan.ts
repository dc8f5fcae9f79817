type Way = readonly (string | number)[];

/** Where a value begins, and what is in it; of a text in a list the bare offset. */
interface Place {
  offset: number;
  members?: Map<string, Place>;
  items?: (Place | number)[];
}

/**
 * Walks JSON text once and notes where each value begins, which keys stand twice, and the first
 * place that is not JSON, in the words of the mistakes that people make.
 */
export class JsonScan {
  readonly duplicates: { readonly way: Way; readonly offset: number }[] = [];
  failure: { readonly offset: number; readonly message: string } | undefined;
  readonly #text: string;
  readonly #root: Place = { offset: 0 };
  /** Of the value that is read now. */
  readonly #way: (string | number)[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    if (this.#value(this.#root) && this.#peek() !== '') {
      this.#fail('there is something after the end of the value');
    }
  }

  /** Where a value begins; undefined when there is none. */
  offsetOf(way: Way): number | undefined {
    let place: Place | number | undefined = this.#root;
    // Asked for every rule of a file, and an iterator for each would be garbage.
    for (let at = 0; at < way.length; at++) {
      const step = way[at] ?? '';
      if (typeof place !== 'object') return undefined;
      place = typeof step === 'number' ? place.items?.[step] : place.members?.get(step);
    }
    return typeof place === 'object' ? place.offset : place;
  }

  /** Of a list or an object the places inside are noted too. */
  #value(place: Place, isSecond = false): boolean {
    const first = this.#peek();
    place.offset = this.#at;
    if (isSecond) this.duplicates.push({ way: [...this.#way], offset: this.#at });
    if (this.#way.length > DEEPEST) return this.#fail('it is nested too deeply');
    if (first === '{') return this.#members(place);
    if (first === '[') return this.#elements(place);
    if (first === '"') return this.#string();
    return this.#scalar();
  }

  #members(place: Place): boolean {
    const opened = this.#at++;
    place.members ??= new Map();
    const { members } = place;
    if (this.#peek() === '}') return this.#step();
    for (;;) {
      if (this.#peek() !== '"')
        return this.#fail('a key is missing or not in double quotes', opened);
      const start = this.#at;
      if (!this.#string()) return false;
      const key = textIn(this.#text.slice(start, this.#at));
      if (key === undefined)
        return this.#fail('a key holds an escape that JSON does not have', start);
      if (key === '__proto__') return this.#fail('the key "__proto__" is not accepted');
      if (this.#peek() !== ':') return this.#fail(`a colon is missing after "${key}"`);
      this.#at++;
      // What stands in both of two of one name stands twice itself.
      const first = members.get(key);
      const member: Place = first ?? { offset: 0 };
      members.set(key, member);
      this.#way.push(key);
      if (!this.#value(member, first !== undefined)) return false;
      this.#way.pop();
      const next = this.#peek();
      if (next === '}') return this.#step();
      if (next !== ',') return this.#fail('a comma or } is missing', opened);
      this.#at++;
    }
  }

  #elements(place: Place): boolean {
    const opened = this.#at++;
    place.items ??= [];
    const { items } = place;
    if (this.#peek() === ']') return this.#step();
    for (let index = this.#texts(items); ; index++) {
      if (!this.#element(items, index)) return false;
      const next = this.#peek();
      if (next === ']') return this.#step();
      if (next !== ',') return this.#fail('a comma or ] is missing', opened);
      this.#at++;
    }
  }

  /** Lists of texts are the long ones: takes what is one from here on, and says how many. */
  #texts(items: (Place | number)[]): number {
    // What stands in both of two of one name is looked at one by one.
    if (items.length > 0 || this.#way.length >= DEEPEST) return 0;
    const text = this.#text;
    TEXT_ITEM.lastIndex = this.#at;
    while (TEXT_ITEM.test(text)) {
      items.push(text.indexOf('"', this.#at));
      this.#at = TEXT_ITEM.lastIndex;
    }
    return items.length;
  }

  #element(items: (Place | number)[], index: number): boolean {
    const first = items[index];
    this.#way.push(index);
    if (first === undefined && this.#peek() === '"' && this.#way.length <= DEEPEST) {
      // Lists of texts are the long ones.
      items.push(this.#at);
      this.#way.pop();
      return this.#string();
    }
    const item: Place = typeof first === 'object' ? first : { offset: 0 };
    items[index] = item;
    if (!this.#value(item, first !== undefined)) return false;
    this.#way.pop();
    return true;
  }

  #peek(): string {
    const text = this.#text;
    let at = this.#at;
    for (let code = text.charCodeAt(at); isBlank(code); code = text.charCodeAt(at)) at++;
    this.#at = at;
    return text.charAt(at);
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
    PLAIN_TEXT.lastIndex = start;
    if (PLAIN_TEXT.test(this.#text)) {
      this.#at = PLAIN_TEXT.lastIndex;
      return true;
    }
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

/** A text without anything to look at in it, and the same with the comma behind it. */
const PLAIN_TEXT = /"[^"\\\u0000-\u001f]*"/y;
const TEXT_ITEM = /[ \t\n\r]*"[^"\\\u0000-\u001f]*"[ \t\n\r]*,/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const QUOTE = 34;
const BACKSLASH = 92;
const BLANK_CODE = 32;
const DEEPEST = 200;

function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** What a text in quotes says; undefined: nothing, for an escape in it is broken. */
function textIn(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    // Told by whoever knows where it stands.
    return undefined;
  }
}
