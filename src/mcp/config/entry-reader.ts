import { isRecord, own } from '../../lib/own.js';
import { nearest } from '../../lib/text/nearest.js';
import { expand, type Variables } from './expand.js';

type Way = readonly (string | number)[];

export interface EntryWarning {
  /** The path within the entry. */
  readonly way: Way;
  readonly message: string;
  readonly remedy: string;
}

/** An unusable entry; `parseEntry` catches it. */
export class EntryProblem extends Error {
  readonly way: Way;
  /** The entry becomes usable once its variables have values. */
  readonly lacksVariables: boolean;

  constructor(message: string, way: Way = [], lacksVariables = false) {
    super(message);
    this.way = way;
    this.lacksVariables = lacksVariables;
  }
}

/** Reads the fields of an entry or of a table in it; errors name the field, and `null` counts as absent. */
export class EntryReader {
  readonly warnings: EntryWarning[] = [];
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #variables: Variables;
  readonly #inside: Way;
  /** Variables without a value and the first field that uses each. */
  readonly #missing = new Map<string, Way>();

  constructor(
    fields: Readonly<Record<string, unknown>>,
    variables: Variables = {},
    inside: Way = [],
  ) {
    this.#fields = fields;
    this.#variables = variables;
    this.#inside = inside;
  }

  text(name: string): string | undefined {
    return this.value(name, (value) => typeof value === 'string', 'text');
  }

  flag(name: string): boolean | undefined {
    return this.value(name, (value) => typeof value === 'boolean', 'true or false');
  }

  /** Text with variables expanded, as in `texts` and `table`. */
  filled(name: string): string | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : this.#fill(value, [name]);
  }

  texts(name: string): readonly string[] {
    const list = this.value(name, (value) => Array.isArray(value), 'a list of texts') ?? [];
    return list.map((one: unknown, at) => this.#fill(one, [name, at]));
  }

  table(name: string): Readonly<Record<string, string>> {
    const table = this.value(name, isRecord, 'a table of texts') ?? {};
    const filled: Record<string, string> = Object.create(null);
    for (const [key, one] of Object.entries(table)) filled[key] = this.#fill(one, [name, key]);
    return filled;
  }

  value<T>(name: string, isRight: (value: unknown) => value is T, what: string): T | undefined {
    const value = own(this.#fields, name);
    if (value === undefined || value === null) return undefined;
    if (isRight(value)) return value;
    const way = [...this.#inside, name];
    throw new EntryProblem(`\`${way.join('.')}\` must be ${what}`, way);
  }

  warn(way: Way, message: string, remedy: string): void {
    this.warnings.push({ way, message, remedy });
  }

  /** Call after reading all fields: warns about unknown ones and throws when variables had no value. */
  finish(fields: readonly string[], known: readonly string[]): void {
    for (const name of Object.keys(this.#fields)) {
      if (fields.includes(name)) continue;
      const meant = nearest(name, known);
      const hint = meant === undefined ? 'Remove it.' : `Did you mean \`${meant}\`?`;
      this.warn([name], `\`${name}\` is not a field of this kind of server.`, hint);
    }
    const [first] = this.#missing.values();
    if (first === undefined) return;
    const names = [...this.#missing.keys()].map((name) => `\${${name}}`).join(', ');
    const verb = this.#missing.size === 1 ? 'has' : 'have';
    const message = `${names} ${verb} no value (in \`${first.join('.')}\`)`;
    throw new EntryProblem(message, first.map(String), true);
  }

  #fill(given: unknown, way: Way): string {
    const field = `\`${way.join('.')}\``;
    if (typeof given !== 'string') throw new EntryProblem(`${field} must be text`, way);
    if (given.trim() !== given) {
      const message = `${field} begins or ends with a blank, which counts.`;
      this.warn(way, message, 'Remove it if it is not meant.');
    }
    const { text, missing } = expand(given, this.#variables);
    for (const name of missing) if (!this.#missing.has(name)) this.#missing.set(name, way);
    // fail-closed: neither programs nor headers accept NUL, and display would stop there.
    if (text.includes('\0'))
      throw new EntryProblem(`${field} holds a character that cannot be passed on`, way);
    return text;
  }
}
