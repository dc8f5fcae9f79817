import { parseJson } from '../util/json.js';

export type LocatedJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      lineOf(way: readonly (string | number)[]): number | undefined;
    }
  | { readonly ok: false; readonly line: number; readonly message: string };

/** Parses JSON and can say on which line each value stands, or where the text stops being JSON. */
export function parseLocatedJson(text: string): LocatedJson {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const parsed = parseJson(source);
  if (!parsed.ok) {
    const scan = new Scanner(source);
    scan.document();
    return { ok: false, line: lineAt(source, scan.failedAt ?? 0), message: parsed.error };
  }
  let places: ReadonlyMap<string, number> | undefined;
  return {
    ok: true,
    value: parsed.value,
    lineOf(way) {
      places ??= placesOf(source);
      const offset = places.get(JSON.stringify(way));
      return offset === undefined ? undefined : lineAt(source, offset);
    },
  };
}

function placesOf(source: string): ReadonlyMap<string, number> {
  const scan = new Scanner(source);
  scan.document();
  return scan.places;
}

function lineAt(source: string, offset: number): number {
  let line = 1;
  for (let index = 0; index < offset && index < source.length; index++) {
    if (source.charCodeAt(index) === 10) line++;
  }
  return line;
}

const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const BLANK = /[ \t\r\n]*/y;
const DEEPEST = 200;

/** Walks JSON text and notes where each value begins, and the first place that is not JSON. */
class Scanner {
  readonly places = new Map<string, number>();
  failedAt: number | undefined;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    if (this.#value([]) && this.#peek() !== '') this.#fail();
  }

  #value(way: readonly (string | number)[]): boolean {
    const first = this.#peek();
    this.places.set(JSON.stringify(way), this.#at);
    if (way.length > DEEPEST) return this.#fail();
    if (first === '{') return this.#members(way);
    if (first === '[') return this.#elements(way);
    if (first === '"') return this.#take(STRING) !== undefined;
    return this.#take(SCALAR) !== undefined;
  }

  #members(way: readonly (string | number)[]): boolean {
    this.#at++;
    if (this.#peek() === '}') return this.#step();
    for (;;) {
      if (this.#peek() !== '"') return this.#fail();
      const key = this.#take(STRING);
      if (key === undefined) return false;
      if (this.#peek() !== ':') return this.#fail();
      this.#at++;
      if (!this.#value([...way, JSON.parse(key) as string])) return false;
      const next = this.#peek();
      if (next === '}') return this.#step();
      if (next !== ',') return this.#fail();
      this.#at++;
    }
  }

  #elements(way: readonly (string | number)[]): boolean {
    this.#at++;
    if (this.#peek() === ']') return this.#step();
    for (let index = 0; ; index++) {
      if (!this.#value([...way, index])) return false;
      const next = this.#peek();
      if (next === ']') return this.#step();
      if (next !== ',') return this.#fail();
      this.#at++;
    }
  }

  #peek(): string {
    BLANK.lastIndex = this.#at;
    BLANK.exec(this.#text);
    this.#at = BLANK.lastIndex;
    return this.#text.charAt(this.#at);
  }

  #take(token: RegExp): string | undefined {
    token.lastIndex = this.#at;
    const found = token.exec(this.#text)?.[0];
    if (found === undefined) this.#fail();
    else this.#at += found.length;
    return found;
  }

  #step(): true {
    this.#at++;
    return true;
  }

  #fail(): false {
    this.failedAt ??= this.#at;
    return false;
  }
}
