import { describe, expect, it } from 'vitest';
import { flattenSchema } from './schema-flatten.js';

const text = { type: 'string' };
const number = { type: 'number' };

describe('a schema as one object', () => {
  it('leaves a plain one as it is', () => {
    const schema = { type: 'object', properties: { a: text }, required: ['a'] };
    const made = flattenSchema(schema);
    expect(made.ok && made.value.schema).toBe(schema);
  });

  it('gets a type where it has none', () => {
    const made = flattenSchema({ properties: { a: text } });
    expect(made).toEqual({
      ok: true,
      value: { schema: { type: 'object', properties: { a: text } } },
    });
  });

  it('has all parameters of alternatives, needs those of all, and says the rest', () => {
    const made = flattenSchema({
      type: 'object',
      properties: { id: text },
      required: ['id'],
      oneOf: [
        { properties: { a: text, both: text }, required: ['a', 'both'] },
        { properties: { b: number, both: text }, required: ['b', 'both'] },
      ],
    });
    expect(made.ok && made.value.schema).toEqual({
      type: 'object',
      properties: { id: text, a: text, both: text, b: number },
      required: ['id', 'both'],
    });
    expect(made.ok && made.value.note).toContain(
      '(1) a, both; needs a, both or (2) b, both; needs b, both',
    );
  });

  it('joins what all parts ask for', () => {
    const made = flattenSchema({
      allOf: [
        { type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false },
        { $ref: '#/$defs/More' },
      ],
      $defs: { More: { type: 'object', properties: { b: number }, required: ['b'] } },
    });
    expect(made.ok && made.value.schema).toMatchObject({
      type: 'object',
      properties: { a: text, b: number },
      required: ['a', 'b'],
    });
    expect(made.ok && made.value.note).toBeUndefined();
  });

  it('describes a parameter in both ways where they differ', () => {
    const branch = (schema: unknown) => ({ type: 'object', properties: { v: schema } });
    const made = flattenSchema({ anyOf: [branch(text), branch(number), branch(text)] });
    expect(made.ok && made.value.schema.properties).toEqual({ v: { anyOf: [text, number] } });
  });

  it('follows a reference at the root', () => {
    const made = flattenSchema({
      $ref: '#/definitions/Input',
      definitions: { Input: { type: 'object', properties: { a: text } } },
    });
    expect(made.ok && made.value.schema.properties).toEqual({ a: text });
  });

  it('leaves out alternatives that can never be sent', () => {
    const made = flattenSchema({
      anyOf: [{ type: 'null' }, { type: 'object', properties: { a: text }, required: ['a'] }],
    });
    expect(made.ok && made.value.schema).toMatchObject({ required: ['a'] });
  });

  it.each([
    { type: 'string' },
    { type: 'array', items: {} },
    { anyOf: [] },
    { oneOf: 'x' },
    { anyOf: [{ type: 'string' }, { type: 'number' }] },
    { allOf: [{ type: 'object' }, false] },
    { properties: [] },
    { $ref: 'https://elsewhere.invalid/schema' },
    { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } },
    { $ref: '#/$defs/__proto__', $defs: {} },
    { anyOf: Array.from({ length: 100 }, () => ({ type: 'object' })) },
  ])('cannot be made of %j', (schema) => {
    expect(flattenSchema(schema).ok).toBe(false);
  });

  it('ends with alternatives that hold themselves', () => {
    const root = {
      anyOf: [{ $ref: '#/$defs/A' }],
      $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }] } },
    };
    expect(flattenSchema(root).ok).toBe(false);
  });
});

describe('a short schema that stands for a huge one', () => {
  const many = (count: number, part: unknown) => Array.from({ length: count }, () => part);

  it.each([
    ['anyOf', 'anyOf'],
    ['allOf', 'allOf'],
    ['anyOf', 'allOf'],
    ['oneOf', 'anyOf'],
  ])('is refused: %s in %s', (inner, outer) => {
    const parts = many(64, { $ref: '#/$defs/A' });
    const schema = { type: 'object', $defs: { A: { [inner]: parts } }, [outer]: parts };
    expect(flattenSchema(schema)).toMatchObject({ ok: false });
  });

  it('is refused as a whole: what an alternative hides is not left out', () => {
    const parts = many(64, { $ref: '#/$defs/A' });
    const made = flattenSchema({
      type: 'object',
      $defs: { A: { anyOf: parts } },
      anyOf: [{ properties: { a: text } }, ...parts.slice(1)],
    });
    expect(made).toEqual({ ok: false, error: 'its alternatives are too many' });
  });

  it('is refused for its parameters too', () => {
    const names = Array.from({ length: 2_000 }, (_, at) => [`p${at}`, {}]);
    const A = { properties: Object.fromEntries(names) };
    const schema = { type: 'object', $defs: { A }, anyOf: many(64, { $ref: '#/$defs/A' }) };
    expect(flattenSchema(schema)).toMatchObject({ ok: false });
  });

  it('is not what people write: 64 alternatives of ten parameters', () => {
    const anyOf = Array.from({ length: 64 }, (_, at) => ({
      properties: Object.fromEntries(
        Array.from({ length: 10 }, (_one, index) => [`p${index}`, { const: at }]),
      ),
    }));
    expect(flattenSchema({ type: 'object', anyOf }).ok).toBe(true);
  });
});
