import { ATOMS, FORBIDDEN, HONEST } from './corpus.js';
import { EVALUATED } from './evaluations.js';
import { AROUND } from './wrappings.js';

/** The script of a seed and a number, always the same. */
export function generateScript(seed: number, index: number): string {
  const random = new Random((seed * 1_000_003 + index) | 0);
  return new Generator(random).script();
}

class Generator {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  script(): string {
    const { chance } = this.#random;
    let text = this.#form(2);
    if (chance(0.15))
      text = `${this.#command(HONEST)}${this.#random.pick(['; ', '\n', ' && '])}${text}`;
    while (chance(0.35)) text = this.#mutate(text);
    return text;
  }

  #form(depth: number): string {
    const { pick, below } = this.#random;
    const code = (): string =>
      depth > 0 && this.#random.chance(0.25) ? this.#form(depth - 1) : this.#command(FORBIDDEN);
    switch (below(10)) {
      case 0:
      case 1:
        return this.#command(this.#random.chance(0.5) ? HONEST : FORBIDDEN);
      case 2:
      case 3:
      case 4:
        return fill(pick(AROUND), { C: code, NN: () => pick(['1', '12', '007', '3', 'x', '{x}']) });
      case 5:
      case 6:
      case 7:
        return fill(pick(EVALUATED), { C: code, S: () => this.#text(code()) });
      case 8:
        return this.#hereDocument(code);
      default:
        return this.#adjacent(code);
    }
  }

  /** A command of the corpus with some of its words written in another way. */
  #command(corpus: readonly string[]): string {
    const { pick, chance } = this.#random;
    const plain = chance(0.4);
    return pick(corpus)
      .split(' ')
      .map((word) => {
        const spelled = word === ';' ? '\\;' : word;
        return plain || chance(0.65) ? spelled : this.#disguise(word);
      })
      .join(' ');
  }

  #disguise(word: string): string {
    const { pick, below } = this.#random;
    const at = below(word.length + 1);
    const [head, tail] = [word.slice(0, at), word.slice(at)];
    const safe = word === ';' ? '\\;' : word;
    return pick([
      () => `"${word}"`,
      () => `'${word}'`,
      () => `${head}''${tail}`,
      () => `${head}\\${tail}`,
      () => `${head}"${tail}"`,
      () => `${head}\\\n${tail}`,
      () => `$'${word}'`,
      () => `$'${escaped(word)}'`,
      () => `'${escaped(word)}'`,
      () => `$\\\n'${pick([word, escaped(word)])}'`,
      () => `$\\\n"${word}"`,
      () => `$"${word}"`,
      () => `{${word},}`,
      () => `${head}{${tail},}`,
      () => `${pick(ATOMS)}${safe}`,
      () => `${safe}${pick(ATOMS)}`,
      () => `${head}${pick(ATOMS)}${tail}`,
      () => `$!${safe}`,
      () => `${safe} ${pick(ATOMS)}`,
      () => `${pick(['', '2', '1', '{x}'])}${pick(['>&-', '<&-', '>&', '<&', '>&1-'])}${safe}`,
      () => `\${x:-${word}}`,
      () => `\${x:-'${word}'}`,
      () => `"\${x:-'${word}'}"`,
      () => `\${HOME:+${word}}`,
      () => `$(echo ${word})`,
      () => `"$(cat <<'E'\n${word}\nE\n)"`,
      () => `${head.slice(0, -1)}[${head.slice(-1) || 'a'}]${tail}`,
      () => `${head}*`,
      () => `~/${word}`,
      () => `${word}=${word}`,
    ])();
  }

  /** Code as a word, for what evaluates its arguments. */
  #text(code: string): string {
    const { pick } = this.#random;
    const single = `'${code.replaceAll("'", `'\\''`)}'`;
    return pick([
      () => single,
      () => single,
      () => single,
      () => `"${code.replaceAll(/["\\]/g, '\\$&')}"`,
      () => `$'${code.replaceAll(/['\\]/g, '\\$&')}'`,
      () => code.replaceAll(/[^\w]/g, '\\$&'),
      () => `'$(${code})'`,
      () => `"$(${code})"`,
      () => `\\$\\(${code.replaceAll(' ', '\\ ')}\\)`,
      () => `"<(${code})"`,
      () => `'<(${code})'`,
      () => `'\`${code}\`'`,
      () => `\`${code}\``,
      () => `'x[$(${code})]'`,
      () => `\${x:-${single}}`,
      () => `${single}${pick(ATOMS)}`,
      () => `${pick(ATOMS)}${single}`,
      () => code.split(' ').join(','),
      () => `{${code.split(' ').join(',')}}`,
      () => code,
    ])();
  }

  #hereDocument(code: () => string): string {
    const { pick, chance } = this.#random;
    const name = pick(['E', 'E', 'EOF', 'E F', '\tE', ' E', 'E\\', "E'", '$x', 'E)', '', 'é']);
    const written = pick([
      () => name,
      () => `'${name}'`,
      () => `"${name}"`,
      () => `\\${name}`,
      () => `${name.slice(0, 1)}''${name.slice(1)}`,
      () => `$'${name}'`,
      () => `"${name.slice(0, 1)}"${name.slice(1)}`,
      () => `${name.slice(0, 1)}\\\n${name.slice(1)}`,
    ])();
    const operator = pick(['<<', '<<', '<<-', '<<-']);
    const operation = pick([':-', '-', ':+', '+', ':=', '#', '%', '/', '/a/', '^', '@', ':', ':?']);
    const quoted = (): string =>
      pick([
        `'$(${code()})'`,
        `"$(${code()})"`,
        `$(${code()})`,
        `\\$(${code()})`,
        `\`${code()}\``,
        code(),
      ]);
    const line = (): string =>
      pick([
        () => 'x',
        () => code(),
        () => quoted(),
        () => `\${${pick(['HOME', 'x', 'PWD', '!', '1'])}${operation}${quoted()}}`,
        () => `\${${pick(['HOME:+', 'x:-', 'x-'])}${quoted()}}`,
        () => `"\${HOME${operation}${quoted()}}"`,
        () => `$\\\n(${code()})`,
        () => `\\`,
        () => `\\\n${name}`,
        () => `'`,
        () => `${name} `,
        () => `\t${name}`,
        () => name,
        () => pick(ATOMS),
      ])();
    const body = Array.from({ length: this.#random.below(4) }, line).join('\n');
    const program = pick(['cat', 'cat', 'cat -', 'head', 'bash', 'read x', ': ', 'wc -l']);
    const rest = pick(['', '', ' | cat', ' a.txt', ' && ls', '; ls', ` ${operator}F`, ' \\']);
    const closing = chance(0.85) ? `\n${pick(['', '', '\t', '\\\n'])}${name}` : '';
    const after = chance(0.6) ? `\n${code()}` : '';
    const wrap = pick([
      'D',
      'D',
      'D',
      'echo "$(D\n)"',
      'echo $(D\n)',
      '{ D\n}',
      'ls <(D\n)',
      'echo `D\n`',
      '((D\n) )',
      'echo $((D\n) )',
      'f() { D\n}; f',
      'if true; then D\nfi',
      'eval "$(D\n)"',
      '[[ -n $(D\n) ]]',
      'x=$(D\n)',
      '! D',
      'while D\ndo break; done',
    ]);
    const text = `${program} ${operator}${written}${rest}\n${body}${closing}${after}${chance(0.5) ? `\n${name}` : ''}`;
    return wrap.replace('D', () => text);
  }

  /** Pieces side by side, with and without blanks between them. */
  #adjacent(code: () => string): string {
    const { pick, chance, below } = this.#random;
    const parts = [this.#command(HONEST)];
    for (let count = 1 + below(6); count > 0; count--) {
      parts.push(chance(0.3) ? ' ' : '', chance(0.25) ? code() : pick(ATOMS));
    }
    return parts.join('');
  }

  #mutate(text: string): string {
    const { pick, below, chance } = this.#random;
    // Where a token begins more goes wrong than within one.
    const starts = [...text.matchAll(/(?<=[\s;&|(]|^)\S|[<>'"$`{}()\\]/g)].map(
      ({ index }) => index,
    );
    const at = chance(0.7) && starts.length > 0 ? pick(starts) : below(text.length + 1);
    switch (below(8)) {
      case 0:
        return text.slice(0, at) + text.slice(at + 1);
      case 1: {
        const end = at + below(6);
        return text.slice(0, end) + text.slice(at, end) + text.slice(end);
      }
      case 2:
        return (
          text.slice(0, at) + text.slice(at).replace(' ', pick(['', '\n', '\t', '\\\n', ' \\\n']))
        );
      default:
        return text.slice(0, at) + pick(ATOMS) + text.slice(at);
    }
  }
}

function escaped(word: string): string {
  return `\\x${(word.codePointAt(0) ?? 0x2d).toString(16)}${word.slice(1)}`;
}

function fill(template: string, holes: Readonly<Record<string, () => string>>): string {
  return template.replaceAll(/(?<![-\w])[A-Z]{1,2}\b/g, (name) => holes[name]?.() ?? name);
}

/** Numbers that depend on the seed alone (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  readonly below = (limit: number): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  };

  readonly chance = (share: number): boolean => this.below(1_000_000) < share * 1_000_000;

  readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)] as T;
}
