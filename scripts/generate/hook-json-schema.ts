import { z } from 'zod';

type Schema = Readonly<Record<string, unknown>>;

/** Without what says nothing: the bounds of a JavaScript number, that unknown keys are fine, and empty lists of keys. */
export function jsonSchema(schema: z.ZodType): Schema {
  const json = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
  return withoutNoise(json) as Schema;
}

function withoutNoise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !isNoise(key, inner))
      .map(([key, inner]) => [key, withoutNoise(inner)]),
  );
}

function isNoise(key: string, value: unknown): boolean {
  if (key === 'maximum') return value === Number.MAX_SAFE_INTEGER;
  return ['additionalProperties', 'properties'].includes(key) && JSON.stringify(value) === '{}';
}
