import { isRecord, own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';

type Schema = Readonly<Record<string, unknown>>;

export interface FlatSchema {
  readonly schema: Schema;
  /** Describes what the flat object cannot express; appended to the description. */
  readonly note?: string;
}

/** Honest schemas do not nest alternatives deeper. */
const MAX_DEPTH = 6;
const MAX_BRANCHES = 64;
/** References can make a short schema expand hugely; this bounds the parts and parameters visited. */
const MOST_WORK = 20_000;
const WORK_OF_PART = 20;
const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const;

/**
 * Rewrites a schema as the plain object that providers require at the root. Parameters of single alternatives
 * become optional, with a note. The server still validates by its own schema.
 */
export function flattenSchema(schema: Schema): Result<FlatSchema, string> {
  const shape = shapeOf(schema, { root: schema, depth: 0, work: new Work() });
  if (!shape.ok) return shape;
  const { properties, required, closed, forms } = shape.value;
  const isPlain =
    schema.type === 'object' &&
    own(schema, '$ref') === undefined &&
    COMBINATORS.every((name) => own(schema, name) === undefined);
  if (isPlain) return ok({ schema });
  const rest = Object.fromEntries(Object.entries(schema).filter(([name]) => !REPLACED.has(name)));
  const flat: Schema = {
    type: 'object',
    ...rest,
    properties: Object.fromEntries(properties),
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...(closed ? { additionalProperties: false } : {}),
  };
  const note = noteOf(forms);
  return ok(note === undefined ? { schema: flat } : { schema: flat, note });
}

const REPLACED: ReadonlySet<string> = new Set([
  ...COMBINATORS,
  '$ref',
  'type',
  'properties',
  'required',
  'additionalProperties',
  'unevaluatedProperties',
]);

interface Shape {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
  /** Further properties are refused. */
  readonly closed: boolean;
  /** For each choice, the parameters of each alternative. */
  readonly forms: readonly (readonly Form[])[];
}

interface Form {
  readonly all: readonly string[];
  readonly required: readonly string[];
}

interface Place {
  readonly root: Schema;
  readonly depth: number;
  readonly work: Work;
}

/** The work counter, shared by all parts of one schema. */
class Work {
  readonly #texts = new WeakMap<object, string>();
  #done = 0;

  add(amount: number): void {
    this.#done += amount;
  }

  get isTooMuch(): boolean {
    return this.#done > MOST_WORK;
  }

  /** Caches each part's JSON for comparisons. */
  isSame(a: unknown, b: unknown): boolean {
    return a === b || this.#text(a) === this.#text(b);
  }

  #text(value: unknown): string | undefined {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    const text = JSON.stringify(value);
    this.#texts.set(value, text);
    return text;
  }
}

const TOO_MUCH = 'its alternatives are too many';

function shapeOf(given: unknown, place: Place): Result<Shape, string> {
  if (place.depth > MAX_DEPTH) return err('its alternatives are nested too deep');
  place.work.add(WORK_OF_PART);
  // fail-closed: an omitted part could be the one that matters.
  if (place.work.isTooMuch) return err(TOO_MUCH);
  const followed = follow(given, place.root);
  if (!followed.ok) return followed;
  const schema = followed.value;
  const type = schema.type ?? 'object';
  if (type !== 'object' && !(Array.isArray(type) && type.includes('object'))) {
    return err('its parameters are not an object');
  }
  if (schema.properties !== undefined && !isRecord(schema.properties)) {
    return err('its properties are not an object');
  }
  let shape: Shape = {
    properties: new Map(Object.entries(schema.properties ?? {})),
    required: new Set(textsOf(schema.required)),
    closed: schema.additionalProperties === false,
    forms: [],
  };
  // A plain object has no extra cost.
  if (place.depth > 0) place.work.add(shape.properties.size + shape.required.size);
  for (const name of COMBINATORS) {
    const branches = own(schema, name);
    if (branches === undefined) continue;
    if (!Array.isArray(branches) || branches.length === 0) return err(`its ${name} is not a list`);
    if (branches.length > MAX_BRANCHES) return err(`its ${name} has ${branches.length} entries`);
    const next = { ...place, depth: place.depth + 1 };
    const joined =
      name === 'allOf' ? withAll(shape, branches, next) : withOneOf(shape, branches, next);
    if (!joined.ok) return joined;
    shape = joined.value;
  }
  return ok(shape);
}

/** Merges branches that all apply. */
function withAll(base: Shape, branches: readonly unknown[], place: Place): Result<Shape, string> {
  let shape = base;
  for (const branch of branches) {
    const made = shapeOf(branch, place);
    if (!made.ok) return made;
    const { properties, required, forms } = made.value;
    shape = {
      properties: merged(shape.properties, properties, { how: 'allOf', work: place.work }),
      required: new Set([...shape.required, ...required]),
      // Each branch forbids the properties of the others, which together would allow nothing.
      closed: false,
      forms: [...shape.forms, ...forms],
    };
  }
  return ok(shape);
}

/** Merges alternatives; those that are not objects can never be sent. */
function withOneOf(base: Shape, branches: readonly unknown[], place: Place): Result<Shape, string> {
  const shapes: Shape[] = [];
  let problem = 'none of its alternatives is an object';
  for (const branch of branches) {
    const made = shapeOf(branch, place);
    if (made.ok) shapes.push(made.value);
    else if (place.work.isTooMuch) return err(TOO_MUCH);
    else problem = made.error;
  }
  const [first, ...others] = shapes;
  if (first === undefined) return err(problem);
  const common = [...first.required].filter((name) =>
    others.every(({ required }) => required.has(name)),
  );
  return ok({
    properties: shapes.reduce(
      (all, { properties }) => merged(all, properties, { how: 'anyOf', work: place.work }),
      base.properties,
    ),
    required: new Set([...base.required, ...common]),
    closed: shapes.every(({ closed }) => closed),
    forms: [
      ...base.forms,
      shapes.map(({ properties, required }) => ({
        all: [...new Set([...properties.keys(), ...required])],
        required: [...required],
      })),
      ...shapes.flatMap(({ forms }) => forms),
    ],
  });
}

/** Combines differing schemas of one parameter. */
function merged(
  a: ReadonlyMap<string, unknown>,
  b: ReadonlyMap<string, unknown>,
  { how, work }: { readonly how: 'allOf' | 'anyOf'; readonly work: Work },
): ReadonlyMap<string, unknown> {
  work.add(a.size + b.size);
  const all = new Map(a);
  for (const [name, schema] of b) {
    const before = all.get(name);
    if (!all.has(name) || work.isSame(before, schema)) all.set(name, schema);
    else {
      const list = isRecord(before) ? own(before, how) : undefined;
      const isOurs = Array.isArray(list) && Object.keys(before as object).length === 1;
      const known: readonly unknown[] = isOurs ? list : [before];
      if (!known.some((one) => work.isSame(one, schema)))
        all.set(name, { [how]: [...known, schema] });
    }
  }
  return all;
}

/** Follows `#/$defs/Name` and `#/definitions/Name`; other references are errors. */
function follow(given: unknown, root: Schema): Result<Schema, string> {
  let schema = given;
  for (let step = 0; step <= MAX_DEPTH; step++) {
    if (!isRecord(schema)) return err('a part of it is no schema');
    const reference = own(schema, '$ref');
    if (reference === undefined) return ok(schema);
    const match = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(reference));
    const table = own(root, match?.[1] ?? '');
    const name = (match?.[2] ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
    schema = isRecord(table) ? own(table, name) : undefined;
    if (schema === undefined) return err('it refers to something outside of it');
  }
  return err('it refers to itself');
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

const NOTE_CHARS = 600;

function noteOf(forms: Shape['forms']): string | undefined {
  const choices = forms.filter((choice) => choice.length > 1);
  if (choices.length === 0) return undefined;
  const texts = choices.map((choice) =>
    choice
      .map(({ all, required }, index) => {
        const needed = required.length === 0 ? '' : `; needs ${required.join(', ')}`;
        return `(${index + 1}) ${all.length === 0 ? 'no parameters' : all.join(', ')}${needed}`;
      })
      .join(' or '),
  );
  const text = `The parameters come in one of these forms: ${texts.join('; and ')}`;
  return text.length <= NOTE_CHARS ? `${text}.` : `${text.slice(0, NOTE_CHARS)} […].`;
}
