import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { checkShape, shapeToJsonSchema } from './schema-shape.js';

/** A schema of zod 4 before 4.2, which cannot give its JSON schema itself. */
function withoutHook<T extends z.ZodType>(schema: T): T {
  const { jsonSchema: _, ...standard } = schema['~standard'] as unknown as Record<string, unknown>;
  Object.defineProperty(schema, '~standard', { value: standard });
  return schema;
}

const fieldSchema = async (field: z.ZodType | z3.ZodType): Promise<unknown> =>
  ((await shapeToJsonSchema({ field })).properties as Record<string, unknown>).field;

describe('the JSON schema of a shape', () => {
  it('names what is required', async () => {
    for (const shape of [
      { a: z.number(), b: z.string().optional(), c: z.string().default('x') },
      { a: z3.number(), b: z3.string().optional(), c: z3.string().default('x') },
    ]) {
      expect(await shapeToJsonSchema(shape)).toMatchObject({
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'string' }, c: { type: 'string' } },
        required: ['a'],
        additionalProperties: false,
      });
    }
  });

  it.each([
    ['zod 3', z3.string().min(2).max(5).describe('a word')],
    ['zod 4', z.string().min(2).max(5).describe('a word')],
    ['zod 4.0', withoutHook(z.string().min(2).max(5).describe('a word'))],
  ])('keeps limits and descriptions of %s', async (_name, schema) => {
    expect(await fieldSchema(schema)).toMatchObject({
      type: 'string',
      minLength: 2,
      maxLength: 5,
      description: 'a word',
    });
  });

  it.each([
    ['zod 3', z3.array(z3.object({ k: z3.enum(['x', 'y']), n: z3.number().int() }))],
    ['zod 4', z.array(z.object({ k: z.enum(['x', 'y']), n: z.number().int() }))],
    ['zod 4.0', withoutHook(z.array(z.object({ k: z.enum(['x', 'y']), n: z.number().int() })))],
  ])('nests kinds of %s', async (_name, schema) => {
    expect(await fieldSchema(schema)).toMatchObject({
      type: 'array',
      items: {
        type: 'object',
        properties: { k: { enum: ['x', 'y'] }, n: { type: 'integer' } },
        required: ['k', 'n'],
      },
    });
  });

  it('leaves open what JSON cannot say', async () => {
    expect(await fieldSchema(z.date())).toEqual({});
  });

  it('ends on a schema that contains itself', async () => {
    type Tree = { children: Tree[] };
    const tree: z3.ZodType<Tree> = z3.lazy(() => z3.object({ children: z3.array(tree) }));
    expect(await fieldSchema(tree)).toMatchObject({ type: 'object' });
  });
});

describe('arguments', () => {
  it('are converted by their schemas, and what is not named is left out', async () => {
    const shape = { a: z.number(), b: z3.string().default('x') };
    expect(await checkShape(shape, { a: 1, extra: true })).toEqual({
      ok: true,
      value: { a: 1, b: 'x' },
    });
  });

  it('that do not fit are refused with the name of the field', async () => {
    expect(await checkShape({ a: z.number() }, { a: 'no' })).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^a: /),
    });
    expect(await checkShape({ a: z3.object({ n: z3.number() }) }, { a: { n: 'x' } })).toMatchObject(
      {
        ok: false,
        error: expect.stringMatching(/^a: n: /),
      },
    );
    expect(await checkShape({}, [])).toMatchObject({ ok: false });
  });

  it('that no schema can check are refused', async () => {
    const shape = { a: { _output: '' } };
    expect(await checkShape(shape, { a: 'x' })).toMatchObject({ ok: false });
  });

  it('never come from a prototype', async () => {
    expect(await checkShape({ toString: z.string() }, {})).toMatchObject({ ok: false });
  });
});
