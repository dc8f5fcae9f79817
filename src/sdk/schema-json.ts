import { isRecord } from '../util/own.js';

type JsonSchema = Readonly<Record<string, unknown>>;
type Definition = Readonly<Record<string, unknown>>;

/** Deeper than any honest schema; a schema that contains itself ends here. */
const DEEPEST = 32;

/** The JSON schema of a zod 3 or zod 4 schema, read off its structure: zod itself is not loaded. */
export function fieldSchema(field: unknown, depth = 0): JsonSchema {
  if (depth > DEEPEST) return {};
  const own = ownJsonSchema(field);
  if (own !== undefined) return own;
  const definition = definitionOf(field);
  const described = descriptionOf(field, definition);
  const schema = convert(kindOf(definition), definition, depth);
  return described === undefined ? schema : { ...schema, description: described };
}

/** Whether the field may be left out of an object. */
export function isOptionalField(field: unknown): boolean {
  const definition = definitionOf(field);
  switch (kindOf(definition)) {
    case 'optional':
    case 'default':
    case 'prefault':
    case 'catch':
    case 'any':
    case 'unknown':
    case 'undefined':
      return true;
    case 'nullable':
    case 'readonly':
    case 'branded':
    case 'effects':
    case 'nonoptional':
    case 'pipe':
    case 'pipeline':
      return kindOf(definition) !== 'nonoptional' && isOptionalField(innerOf(definition));
    case 'union':
      return optionsOf(definition).some(isOptionalField);
    default:
      return false;
  }
}

/** Newer schemas can say it themselves. */
function ownJsonSchema(field: unknown): JsonSchema | undefined {
  const standard = isRecord(field) ? field['~standard'] : undefined;
  const maker = isRecord(standard) ? standard.jsonSchema : undefined;
  if (!isRecord(maker) || typeof maker.input !== 'function') return undefined;
  try {
    const schema: unknown = maker.input({ target: 'draft-07' });
    if (!isRecord(schema)) return undefined;
    const { $schema: _, ...rest } = schema;
    return rest;
  } catch {
    // What it cannot say is read off its structure instead.
    return undefined;
  }
}

function definitionOf(field: unknown): Definition {
  if (!isRecord(field)) return {};
  const core = isRecord(field._zod) ? field._zod.def : undefined;
  const given = core ?? field._def ?? field.def;
  return isRecord(given) ? given : {};
}

/** `string`, `optional`, …: zod 3 writes `ZodString`, zod 4 `string`. */
function kindOf({ typeName, type }: Definition): string {
  if (typeof typeName === 'string') return typeName.replace(/^Zod/, '').toLowerCase();
  return typeof type === 'string' ? type : '';
}

function descriptionOf(field: unknown, definition: Definition): string | undefined {
  const given = isRecord(field) ? field.description : undefined;
  const text = given ?? definition.description;
  return typeof text === 'string' ? text : undefined;
}

function innerOf({ innerType, schema, type, in: input }: Definition): unknown {
  return innerType ?? schema ?? input ?? (isRecord(type) ? type : undefined);
}

function optionsOf({ options }: Definition): readonly unknown[] {
  if (Array.isArray(options)) return options;
  return options instanceof Map ? [...options.values()] : [];
}

function convert(kind: string, definition: Definition, depth: number): JsonSchema {
  const inner = (): JsonSchema => fieldSchema(innerOf(definition), depth + 1);
  switch (kind) {
    case 'string':
      return { type: 'string', ...limitsOf(definition, ['minLength', 'maxLength']) };
    case 'number':
      return {
        type: isWhole(definition) ? 'integer' : 'number',
        ...limitsOf(definition, ['minimum', 'maximum']),
      };
    case 'int':
    case 'bigint':
      return { type: 'integer' };
    case 'boolean':
      return { type: 'boolean' };
    case 'null':
      return { type: 'null' };
    case 'date':
      return { type: 'string', format: 'date-time' };
    case 'literal': {
      const values = Array.isArray(definition.values) ? definition.values : [definition.value];
      return values.length === 1 ? { const: values[0] } : { enum: values };
    }
    case 'enum':
    case 'nativeenum':
      return { enum: enumValues(definition) };
    case 'array':
    case 'set':
      return {
        type: 'array',
        items: fieldSchema(itemOf(definition), depth + 1),
        ...(kind === 'set' ? { uniqueItems: true } : {}),
      };
    case 'tuple': {
      const items = Array.isArray(definition.items) ? definition.items : [];
      return { type: 'array', items: items.map((item) => fieldSchema(item, depth + 1)) };
    }
    case 'object':
      return objectSchema(definition, depth);
    case 'record':
    case 'map':
      return {
        type: 'object',
        additionalProperties: fieldSchema(definition.valueType, depth + 1),
      };
    case 'union':
    case 'discriminatedunion':
      return { anyOf: optionsOf(definition).map((option) => fieldSchema(option, depth + 1)) };
    case 'intersection':
      return {
        allOf: [fieldSchema(definition.left, depth + 1), fieldSchema(definition.right, depth + 1)],
      };
    case 'nullable':
      return { anyOf: [inner(), { type: 'null' }] };
    case 'default':
    case 'prefault':
      return { ...inner(), ...defaultOf(definition) };
    case 'lazy':
      return typeof definition.getter === 'function'
        ? fieldSchema(definition.getter(), depth + 1)
        : {};
    case 'optional':
    case 'catch':
    case 'readonly':
    case 'branded':
    case 'effects':
    case 'nonoptional':
    case 'pipe':
    case 'pipeline':
      return inner();
    default:
      return {};
  }
}

function itemOf({ element, type, valueType }: Definition): unknown {
  return element ?? valueType ?? (isRecord(type) ? type : undefined);
}

function objectSchema(definition: Definition, depth: number): JsonSchema {
  const given = typeof definition.shape === 'function' ? definition.shape() : definition.shape;
  const fields = isRecord(given) ? Object.entries(given) : [];
  const required = fields.filter(([, field]) => !isOptionalField(field)).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, fieldSchema(field, depth + 1)]),
    ),
    ...(required.length === 0 ? {} : { required }),
  };
}

function enumValues({ values, entries }: Definition): readonly unknown[] {
  if (Array.isArray(values)) return values;
  const table = isRecord(entries) ? entries : isRecord(values) ? values : {};
  // The numeric members of a TypeScript enum also stand under their numbers.
  const isNumeric = Object.values(table).some((value) => typeof value === 'number');
  return Object.entries(table)
    .filter(([name]) => !isNumeric || !/^\d+$/.test(name))
    .map(([, value]) => value);
}

function defaultOf({ defaultValue }: Definition): JsonSchema {
  try {
    return { default: typeof defaultValue === 'function' ? defaultValue() : defaultValue };
  } catch {
    // A default that cannot be made now is told by the schema's own parser later.
    return {};
  }
}

/** The checks of zod 3 (`{kind, value}`) and zod 4 (`{_zod: {def: {check, …}}}`), flattened. */
function checksOf({ checks, ...definition }: Definition): readonly Definition[] {
  const listed = Array.isArray(checks) ? checks : [];
  return [definition, ...listed].flatMap((check: unknown) => {
    if (!isRecord(check)) return [];
    const core = isRecord(check._zod) ? check._zod.def : undefined;
    return [isRecord(core) ? core : check];
  });
}

function isWhole(definition: Definition): boolean {
  return checksOf(definition).some(
    ({ kind, check, format }) =>
      kind === 'int' || (check === 'number_format' && /int/.test(String(format))),
  );
}

const LOWER = new Set(['min', 'min_length', 'greater_than']);
const UPPER = new Set(['max', 'max_length', 'less_than']);

function limitsOf(definition: Definition, [low, high]: readonly [string, string]): JsonSchema {
  const limits: Record<string, unknown> = {};
  for (const { kind, check, value, minimum, maximum, inclusive } of checksOf(definition)) {
    const name = String(kind ?? check);
    const bound = value ?? minimum ?? maximum;
    if (typeof bound !== 'number') continue;
    const key = LOWER.has(name) ? low : UPPER.has(name) ? high : undefined;
    if (key === undefined) continue;
    if (inclusive === false) limits[key === low ? 'exclusiveMinimum' : 'exclusiveMaximum'] = bound;
    else limits[key] = bound;
  }
  return limits;
}
