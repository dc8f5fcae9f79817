/** Why a text is no expression that can be searched for in linear time. */
export class PatternError extends Error {}

/** What an expression consists of. */
export type PatternNode =
  | { readonly kind: 'char'; readonly fits: (char: string) => boolean }
  | { readonly kind: 'at'; readonly holds: (before: string, after: string) => boolean }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternNode[] }
  | {
      readonly kind: 'repeat';
      readonly part: PatternNode;
      readonly min: number;
      readonly max: number;
    };

/** Longer than any hand-written matcher. */
const MAX_SOURCE = 1_000;

/** Throws a PatternError for what is malformed or needs backtracking. */
export function readPattern(
  source: string,
  options: { readonly ignoreCase: boolean },
): PatternNode {
  if (source.length > MAX_SOURCE) throw new PatternError('it is too long');
  return new PatternReader(source, options.ignoreCase).read();
}

const isWord = (char: string): boolean => /^\w$/.test(char);
const SETS: ReadonlyMap<string, (char: string) => boolean> = new Map([
  ['d', (char: string) => /^\d$/.test(char)],
  ['D', (char: string) => !/^\d$/.test(char)],
  ['w', isWord],
  ['W', (char: string) => !isWord(char)],
  ['s', (char: string) => /^\s$/.test(char)],
  ['S', (char: string) => !/^\s$/.test(char)],
]);
const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['t', '\t'],
  ['n', '\n'],
  ['r', '\r'],
  ['f', '\f'],
  ['v', '\v'],
  ['0', '\0'],
]);

class PatternReader {
  readonly #chars: readonly string[];
  readonly #ignoreCase: boolean;
  #at = 0;

  constructor(source: string, ignoreCase: boolean) {
    this.#chars = [...source];
    this.#ignoreCase = ignoreCase;
  }

  read(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#chars.length) throw new PatternError('it closes a group that is not open');
    return node;
  }

  #choice(): PatternNode {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: 'choice', parts };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    for (;;) {
      const char = this.#chars[this.#at];
      if (char === undefined || char === '|' || char === ')') break;
      parts.push(this.#repeated(this.#atom()));
    }
    return { kind: 'sequence', parts };
  }

  #repeated(part: PatternNode): PatternNode {
    let node = part;
    const bounds = this.#bounds();
    if (bounds === undefined) return node;
    if (part.kind === 'at') throw new PatternError('it repeats an anchor');
    node = { kind: 'repeat', part, ...bounds };
    // Lazy or greedy makes no difference to whether it occurs.
    this.#take('?');
    if (this.#bounds() !== undefined) throw new PatternError('it repeats a repetition');
    return node;
  }

  #bounds(): { min: number; max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#take('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#take('?')) return { min: 0, max: 1 };
    const rest = this.#chars.slice(this.#at, this.#at + 12).join('');
    const match = /^\{(\d+)(,(\d*))?\}/.exec(rest);
    if (match === null) return undefined;
    this.#at += match[0].length;
    const min = Number(match[1]);
    const max =
      match[2] === undefined ? min : match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3]);
    if (max < min || min > 200 || (max !== Number.POSITIVE_INFINITY && max > 200)) {
      throw new PatternError('it repeats too much');
    }
    return { min, max };
  }

  #atom(): PatternNode {
    const char = this.#next();
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        return this.#set();
      case '.':
        return { kind: 'char', fits: (one) => !/^[\n\r\u2028\u2029]$/.test(one) };
      case '^':
        return { kind: 'at', holds: (before) => before === '' };
      case '$':
        return { kind: 'at', holds: (_before, after) => after === '' };
      case '\\':
        return this.#escaped();
      case '*':
      case '+':
      case '?':
        throw new PatternError(`it has nothing in front of "${char}"`);
      default:
        return this.#literal(char);
    }
  }

  #group(): PatternNode {
    if (this.#take('?') && !this.#take(':')) {
      const name = /^<[A-Za-z_]\w*>/.exec(this.#chars.slice(this.#at).join(''));
      if (name === null) throw new PatternError('it looks around or sets flags');
      this.#at += name[0].length;
    }
    const node = this.#choice();
    if (!this.#take(')')) throw new PatternError('it has a group that is not closed');
    return node;
  }

  #escaped(): PatternNode {
    const char = this.#next();
    const set = SETS.get(char);
    if (set !== undefined) return { kind: 'char', fits: set };
    if (char === 'b' || char === 'B') {
      const edge = char === 'b';
      return { kind: 'at', holds: (before, after) => (isWord(before) !== isWord(after)) === edge };
    }
    return this.#literal(this.#escapedChar(char));
  }

  /** The one character that an escape stands for. */
  #escapedChar(char: string): string {
    const control = CONTROLS.get(char);
    if (control !== undefined) return control;
    if (char === 'x' || char === 'u') {
      const digits = this.#chars.slice(this.#at, this.#at + (char === 'x' ? 2 : 4)).join('');
      if (!new RegExp(`^[0-9a-f]{${char === 'x' ? 2 : 4}}$`, 'i').test(digits)) {
        throw new PatternError(`it has an unfinished escape \\${char}`);
      }
      this.#at += digits.length;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    if (/^[1-9A-Za-z]$/.test(char)) throw new PatternError(`it uses \\${char}`);
    return char;
  }

  #set(): PatternNode {
    const negated = this.#take('^');
    const tests: ((char: string) => boolean)[] = [];
    for (;;) {
      if (this.#take(']')) break;
      const from = this.#member();
      if (typeof from === 'string' && this.#chars[this.#at] === '-') {
        const after = this.#chars[this.#at + 1];
        if (after !== undefined && after !== ']') {
          this.#at++;
          const to = this.#member();
          if (typeof to !== 'string' || to < from) throw new PatternError('it has a broken range');
          tests.push((char) => from <= char && char <= to);
          continue;
        }
      }
      tests.push(typeof from === 'string' ? (char) => char === from : from);
    }
    const has = this.#folded((char) => tests.some((test) => test(char)));
    return { kind: 'char', fits: (char) => has(char) !== negated };
  }

  #member(): string | ((char: string) => boolean) {
    const char = this.#next();
    if (char !== '\\') return char;
    const escaped = this.#next();
    if (escaped === 'b') return '\b';
    return SETS.get(escaped) ?? this.#escapedChar(escaped);
  }

  #literal(char: string): PatternNode {
    return { kind: 'char', fits: this.#folded((one) => one === char) };
  }

  #folded(test: (char: string) => boolean): (char: string) => boolean {
    if (!this.#ignoreCase) return test;
    return (char) => test(char) || test(char.toLowerCase()) || test(char.toUpperCase());
  }

  #next(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw new PatternError('it ends too early');
    return char;
  }

  #take(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false;
    this.#at++;
    return true;
  }
}
