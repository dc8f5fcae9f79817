import { isRecord } from '../util/own.js';
import { err, ok, type Result } from '../util/result.js';
import { fieldSchema, isOptionalField } from './schema-json.js';
import type { AnyZodRawShape } from './types/index.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON schema of an object with these fields, as models are shown it. */
export function shapeToJsonSchema(shape: AnyZodRawShape): JsonSchema {
  const fields = Object.entries(shape);
  const required = fields.filter(([, field]) => !isOptionalField(field)).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    $schema: 'http://json-schema.org/draft-07/schema#',
  };
}

/** Checks and converts arguments, each field by its own schema. What the shape does not name is left out. */
export async function checkShape(
  shape: AnyZodRawShape,
  given: unknown,
): Promise<Result<Record<string, unknown>, string>> {
  if (!isRecord(given)) return err('they are no object');
  const checked: [string, unknown][] = [];
  for (const [name, field] of Object.entries(shape)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const result = await parseField(field, value);
    if (!result.ok) return err(`${name}: ${result.error}`);
    if (result.value !== undefined) checked.push([name, result.value]);
  }
  return ok(Object.fromEntries(checked));
}

interface Parses {
  safeParseAsync(value: unknown): Promise<unknown>;
}

interface Standard {
  readonly validate: (value: unknown) => unknown;
}

async function parseField(field: unknown, value: unknown): Promise<Result<unknown, string>> {
  if (hasParser(field)) {
    const result = await field.safeParseAsync(value);
    if (!isRecord(result)) return err('its schema gave no answer');
    return result.success === true ? ok(result.data) : err(firstWords(result.error));
  }
  const standard = standardOf(field);
  // fail-closed: a field that nobody can check is refused.
  if (standard === undefined) return err('its schema cannot be used: it has no parser');
  const result = await standard.validate(value);
  if (!isRecord(result)) return err('its schema gave no answer');
  return result.issues === undefined ? ok(result.value) : err(firstWords(result));
}

function hasParser(field: unknown): field is Parses {
  return isRecord(field) && typeof field.safeParseAsync === 'function';
}

function standardOf(field: unknown): Standard | undefined {
  const standard = isRecord(field) ? field['~standard'] : undefined;
  return isRecord(standard) && typeof standard.validate === 'function'
    ? (standard as unknown as Standard)
    : undefined;
}

function firstWords(error: unknown): string {
  const issues = isRecord(error) ? error.issues : undefined;
  const first: unknown = Array.isArray(issues) ? issues[0] : undefined;
  if (!isRecord(first)) return 'it is not valid';
  const way = Array.isArray(first.path) && first.path.length > 0 ? `${first.path.join('.')}: ` : '';
  return `${way}${String(first.message)}`;
}
