import { primaries } from './find.js';
import { globMatcher } from './tree-globs.js';

/** Whether something holds for what has this name, as far as that tells. */
export type NameTest = (name: string, kind: 'file' | 'directory') => 'yes' | 'no' | 'maybe';

const ACTION = /^-(delete|exec|execdir|ok|okdir)$/;
const OPTION = /^-([HLP]|D|O\d?|follow|regextype|warn)$/;
const OR = /^(-o|-or|,)$/;
const MAYBE: NameTest = () => 'maybe';

/**
 * For each action of an expression of find, which names it may be about. What is run is left out of
 * `values`: the action alone stands for it.
 */
export function reachOf(values: readonly string[]): readonly NameTest[] {
  const expression = new Expression(values);
  expression.any([]);
  const written = values.filter((value) => ACTION.test(value)).length;
  // fail-closed: a word that was taken for something else may be the test that counts.
  const isFollowed = expression.isFollowed && expression.reach.length === written;
  return isFollowed ? expression.reach : [MAYBE];
}

class Expression {
  readonly reach: NameTest[] = [];
  readonly #values: readonly string[];
  #at = 0;
  #isFollowed = true;

  constructor(values: readonly string[]) {
    this.#values = values;
  }

  /** Whether all of it was understood, up to its end. */
  get isFollowed(): boolean {
    return this.#isFollowed && this.#at >= this.#values.length;
  }

  /** Alternatives. `held` are the tests in front, without which none of them is looked at. */
  any(held: readonly NameTest[]): NameTest {
    const parts = [this.#all(held)];
    let isList = false;
    for (let next = this.#next(); next !== undefined && OR.test(next); next = this.#next()) {
      isList ||= next === ',';
      this.#at++;
      parts.push(this.#all(held));
    }
    if (isList) return MAYBE;
    return (name, kind) => {
      const found = parts.map((part) => part(name, kind));
      return found.find((one) => one === 'yes') ?? found.find((one) => one === 'maybe') ?? 'no';
    };
  }

  #all(held: readonly NameTest[]): NameTest {
    const parts: NameTest[] = [];
    for (let next = this.#next(); next !== undefined && next !== ')'; next = this.#next()) {
      if (OR.test(next)) break;
      if (/^-a(nd)?$/.test(next)) this.#at++;
      else parts.push(this.#one([...held, ...parts]));
    }
    return every(parts);
  }

  #one(held: readonly NameTest[]): NameTest {
    const value = this.#next() ?? '';
    this.#at++;
    if (value === '!' || value === '-not') return opposite(this.#one(held));
    if (value === '(') {
      const inner = this.any(held);
      if (this.#next() !== ')') this.#isFollowed = false;
      this.#at++;
      return inner;
    }
    if (ACTION.test(value)) {
      this.reach.push(every(held));
      return MAYBE;
    }
    return this.#test(value);
  }

  #test(value: string): NameTest {
    const given = this.#values[this.#at] ?? '';
    const count = primaries().get(value);
    if (count === undefined && !OPTION.test(value)) this.#isFollowed = false;
    this.#at += count ?? 0;
    if (value === '-type') return ofType(given);
    if (value !== '-name' && value !== '-iname') return MAYBE;
    // Other patterns may fit anything.
    if (!/^[^/{}[\]\\!,]+$/.test(given)) return MAYBE;
    const isFolded = value === '-iname';
    const fits = globMatcher([isFolded ? given.toLowerCase() : given]);
    return (name) => (fits(isFolded ? name.toLowerCase() : name) ? 'yes' : 'no');
  }

  #next(): string | undefined {
    return this.#values[this.#at];
  }
}

/** Several letters with commas between them may be given; anything but a directory counts as a file. */
function ofType(letters: string): NameTest {
  if (!/^[a-zA-Z](,[a-zA-Z])*$/.test(letters)) return MAYBE;
  const named = letters.split(',');
  return (_, kind) => {
    if (kind === 'directory') return named.includes('d') ? 'yes' : 'no';
    return named.every((letter) => letter === 'd') ? 'no' : 'maybe';
  };
}

function every(parts: readonly NameTest[]): NameTest {
  return (name, kind) => {
    const found = parts.map((part) => part(name, kind));
    return found.find((one) => one === 'no') ?? found.find((one) => one === 'maybe') ?? 'yes';
  };
}

function opposite(test: NameTest): NameTest {
  return (name, kind) => {
    const found = test(name, kind);
    return found === 'maybe' ? found : found === 'yes' ? 'no' : 'yes';
  };
}
