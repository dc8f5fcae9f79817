import { messageOf, PortcullisError } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import type { AnyZodRawShape } from './types/index.js';

type JsonSchema = Readonly<Record<string, unknown>>;
type Converter = (field: unknown, options: object) => JsonSchema;

/** The JSON schema of an object with these fields, as models are shown it. */
export async function shapeToJsonSchema(shape: AnyZodRawShape): Promise<JsonSchema> {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(shape)) {
    const { $schema: _, ...schema } = await fieldToJsonSchema(field);
    properties[name] = schema;
    if (!(await parseField(field, undefined)).ok) required.push(name);
  }
  const draft = 'http://json-schema.org/draft-07/schema#';
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    $schema: draft,
  };
}

/** Validates and converts arguments, each field by its own schema. Fields that the shape does not name are dropped. */
export async function checkShape(
  shape: AnyZodRawShape,
  given: unknown,
): Promise<Result<Record<string, unknown>, string>> {
  if (!isRecord(given)) return err('they are no object');
  const checked: [string, unknown][] = [];
  for (const [name, field] of Object.entries(shape)) {
    const result = await parseField(field, Object.hasOwn(given, name) ? given[name] : undefined);
    if (!result.ok) return err(`${name}: ${result.error}`);
    if (result.value !== undefined) checked.push([name, result.value]);
  }
  return ok(Object.fromEntries(checked));
}

/** Asks the schema itself (Standard JSON Schema, zod 4.2 and later), else the converter of its zod. */
async function fieldToJsonSchema(field: unknown): Promise<JsonSchema> {
  const { jsonSchema } = standardOf(field);
  const options = { io: 'input', unrepresentable: 'any', $refStrategy: 'none' };
  if (isRecord(jsonSchema) && typeof jsonSchema.input === 'function') {
    return jsonSchema.input({ target: 'draft-07', libraryOptions: options }) as JsonSchema;
  }
  const converter = isRecord(field) && '_zod' in field ? 'zod' : 'zod-to-json-schema';
  try {
    const library = (await import(converter)) as Record<string, Converter>;
    const convert = library.toJSONSchema ?? library.zodToJsonSchema;
    if (convert === undefined) throw new Error(`the installed ${converter} is too old`);
    const { anyOf: either, ...schema } = convert(field, { target: 'draft-7', ...options });
    // The converter of zod 3 writes an optional field as "nothing, or this".
    const [nothing, inner] = (either ?? []) as readonly JsonSchema[];
    if (nothing?.not !== undefined) return { ...inner, ...schema };
    return either === undefined ? schema : { anyOf: either, ...schema };
  } catch (thrown) {
    throw new PortcullisError('usage', `a tool's schema cannot be read: ${messageOf(thrown)}`, {
      remedy: `run "npm install ${converter}@latest", or write the schema with zod 4.2 or later`,
    });
  }
}

function standardOf(field: unknown): Readonly<Record<string, unknown>> {
  const standard = isRecord(field) ? field['~standard'] : undefined;
  return isRecord(standard) ? standard : {};
}

async function parseField(field: unknown, value: unknown): Promise<Result<unknown, string>> {
  const { validate } = standardOf(field);
  // fail-closed: a value that no schema can check is refused.
  if (typeof validate !== 'function') return err('its schema has no parser');
  const result: unknown = await validate(value);
  if (!isRecord(result)) return err('its schema gave no answer');
  if (result.issues === undefined) return ok(result.value);
  const issue: unknown = Array.isArray(result.issues) ? result.issues[0] : undefined;
  if (!isRecord(issue)) return err('it is not valid');
  const path = Array.isArray(issue.path) ? issue.path.join('.') : '';
  return err(`${path === '' ? '' : `${path}: `}${String(issue.message)}`);
}
