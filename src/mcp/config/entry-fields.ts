import { nearest } from '../../lib/nearest.js';
import { isRecord, own } from '../../lib/own.js';
import { expand, type Variables } from './expand.js';

export interface EntryWarning {
  /** Inside of the entry. */
  readonly way: readonly (string | number)[];
  readonly message: string;
  readonly remedy: string;
}

/** An entry that cannot be used, and why. Caught by `parseEntry`. */
export class EntryProblem extends Error {
  readonly way: readonly (string | number)[];

  constructor(message: string, way: readonly (string | number)[] = []) {
    super(message);
    this.way = way;
  }
}

/** An entry that becomes usable once its variables have values. */
export class MissingVariables extends EntryProblem {}

/** The fields of one entry; what is wrong with one is said by its name. */
export class EntryReader {
  readonly warnings: EntryWarning[] = [];
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #variables: Variables;
  #missing: Map<string, string> | undefined;

  constructor(fields: Readonly<Record<string, unknown>>, variables: Variables) {
    this.#fields = fields;
    this.#variables = variables;
  }

  /** As it stands, without expansion. */
  raw(name: string): unknown {
    return own(this.#fields, name);
  }

  text(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') throw new EntryProblem(`\`${name}\` must be text`, [name]);
    return value;
  }

  expanded(name: string): string | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : this.#fill(value, [name]);
  }

  texts(name: string): readonly string[] {
    const value = this.raw(name);
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value))
      throw new EntryProblem(`\`${name}\` must be a list of texts`, [name]);
    return value.map((one: unknown, at) => {
      if (typeof one !== 'string')
        throw new EntryProblem(`\`${name}\` holds something that is not text`, [name, at]);
      return this.#fill(one, [name, at]);
    });
  }

  table(name: string): Readonly<Record<string, string>> {
    const value = this.raw(name);
    if (value === undefined || value === null) return {};
    if (!isRecord(value)) throw new EntryProblem(`\`${name}\` must be a table of texts`, [name]);
    const filled: Record<string, string> = Object.create(null);
    for (const [key, one] of Object.entries(value)) {
      if (typeof one !== 'string')
        throw new EntryProblem(`\`${name}.${key}\` must be text`, [name, key]);
      filled[key] = this.#fill(one, [name, key]);
    }
    return filled;
  }

  flag(name: string): boolean | undefined {
    const value = this.raw(name);
    if (value === undefined || value === null || typeof value === 'boolean')
      return value ?? undefined;
    throw new EntryProblem(`\`${name}\` must be true or false`, [name]);
  }

  warn(way: readonly (string | number)[], message: string, remedy: string): void {
    this.warnings.push({ way, message, remedy });
  }

  /** After all fields have been read: what is not one of these is told, what has no value ends it. */
  finish(fields: readonly string[], known: readonly string[]): void {
    for (const name of Object.keys(this.#fields)) {
      if (fields.includes(name)) continue;
      const meant = nearest(name, known);
      const hint = meant === undefined ? 'Remove it.' : `Did you mean \`${meant}\`?`;
      this.warn([name], `\`${name}\` is not a field of this kind of server.`, hint);
    }
    const missing = this.#missing;
    if (missing === undefined) return;
    const [first = ['', '']] = missing;
    const names = [...missing.keys()].map((name) => `\${${name}}`).join(', ');
    const verb = missing.size === 1 ? 'has' : 'have';
    throw new MissingVariables(
      `${names} ${verb} no value (in \`${first[1]}\`)`,
      first[1].split('.'),
    );
  }

  #fill(text: string, way: readonly (string | number)[]): string {
    if (text.trim() !== text) {
      const message = `\`${way.join('.')}\` begins or ends with a blank, which counts.`;
      this.warn(way, message, 'Remove it if it is not meant.');
    }
    const filled = text.includes('${') ? this.#expanded(text, way) : text;
    // fail-closed: no program and no header takes it, and what is shown would end there.
    if (filled.includes('\0'))
      throw new EntryProblem(
        `\`${way.join('.')}\` holds a character that cannot be passed on`,
        way,
      );
    return filled;
  }

  #expanded(text: string, way: readonly (string | number)[]): string {
    const { text: filled, missing } = expand(text, this.#variables);
    for (const name of missing) {
      this.#missing ??= new Map();
      if (!this.#missing.has(name)) this.#missing.set(name, way.join('.'));
    }
    return filled;
  }
}
