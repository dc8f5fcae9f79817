import { describe, expect, it } from 'vitest';
import { compileSchema, MAX_NESTED_PATTERN_INPUT, MAX_PATTERN_INPUT } from './schema-check.js';

async function problems(schema: unknown, input: unknown) {
  const check = await compileSchema(schema);
  if (!check.ok) throw new Error(check.error);
  return check.value(input);
}

async function errorOf(schema: unknown): Promise<string> {
  const check = await compileSchema(schema);
  return check.ok ? 'accepted' : check.error;
}

describe('compileSchema', () => {
  it('lists problems by path, all of them', async () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string' },
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: { n: { type: 'integer', minimum: 1 }, kind: { enum: ['a', 'b'] } },
            required: ['n'],
            additionalProperties: false,
          },
        },
      },
      required: ['name', 'items'],
    };
    const good = { name: 'x', items: [{ n: 1, kind: 'a' }], other: true };
    expect(await problems(schema, good)).toEqual([]);
    expect(await problems(schema, { items: [{ n: 0, kind: 'c' }, { extra: 1 }, 5] })).toEqual([
      { path: '', message: 'the required parameter `name` is missing' },
      { path: '/items/0/n', message: 'must be >= 1' },
      { path: '/items/0/kind', message: 'must be one of ["a","b"]' },
      { path: '/items/1', message: 'the required parameter `n` is missing' },
      { path: '/items/1', message: 'an unexpected parameter `extra` was given' },
      { path: '/items/2', message: 'must be of type object' },
    ]);
  });

  it('stops listing after twenty', async () => {
    const found = await problems(
      { type: 'array', items: { type: 'string' } },
      new Array(100).fill(1),
    );
    expect(found).toHaveLength(20);
  });

  it('knows the drafts by name and by what they hold', async () => {
    const tuple07 = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'string' }, { type: 'number' }],
      additionalItems: false,
    };
    expect(await problems(tuple07, ['a', 1])).toEqual([]);
    expect(await problems(tuple07, ['a', 1, 2])).toHaveLength(1);
    const { $schema: _draft, ...unnamed } = tuple07;
    expect(await problems(unnamed, [1, 1])).toHaveLength(1);
    const tuple2020 = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      prefixItems: [{ type: 'string' }],
      items: false,
    };
    expect(await problems(tuple2020, ['a'])).toEqual([]);
    expect(await problems(tuple2020, ['a', 'b'])).toHaveLength(1);
    const evaluated = {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      properties: { a: true },
      unevaluatedProperties: false,
    };
    expect(await problems(evaluated, { b: 1 })).toEqual([
      { path: '', message: 'an unexpected parameter `b` was given' },
    ]);
  });

  it('takes boolean schemas and refuses what is none', async () => {
    expect(await problems(true, 1)).toEqual([]);
    expect(await problems(false, 1)).toHaveLength(1);
    for (const schema of [null, 5, 'object', []]) {
      expect(await errorOf(schema)).toContain('a JSON schema is an object');
    }
  });

  it('does not enforce formats and ignores unknown keywords', async () => {
    const schema = { type: 'string', format: 'email', 'x-note': 1 };
    expect(await problems(schema, 'no address')).toEqual([]);
    expect(await problems({ format: 'made-up' }, 1)).toEqual([]);
  });

  it.each([
    [{ type: 'objekt' }, '/type: '],
    [{ properties: { a: { type: 'strin' } } }, '/properties/a/type: '],
    [
      { properties: { 'a/b': { minimum: 'x' } } },
      '/properties/a~1b/minimum: must be of type number',
    ],
    [{ required: 'a' }, '/required: must be of type array'],
    [{ properties: { a: { pattern: '(' } } }, '/properties/a/pattern: Invalid regular expression'],
    [
      { properties: { a: { $ref: 'https://elsewhere.example/s.json' } } },
      '/properties/a/$ref: the reference "https://elsewhere.example/s.json" is not inside',
    ],
    [{ items: { $ref: '#/$defs/missing' } }, '/items/$ref: the reference "#/$defs/missing"'],
    [{ $ref: 'file:///etc/passwd' }, '/$ref: '],
  ])('points to the mistake in %j', async (schema, start) => {
    expect((await errorOf(schema)).slice(0, start.length)).toBe(start);
  });

  it('follows references inside the schema, recursive ones included', async () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          additionalProperties: false,
        },
      },
    };
    expect(await problems(tree, { children: [{ children: [] }] })).toEqual([]);
    expect(await problems(tree, { children: [{ x: 1 }] })).toEqual([
      { path: '/children/0', message: 'an unexpected parameter `x` was given' },
    ]);
  });

  it('keeps schemas with the same $id apart, and out of reach of others', async () => {
    const id = 'https://x.example/one';
    expect(
      await problems({ $id: id, $defs: { i: { $id: `${id}/i`, type: 'string' } } }, 1),
    ).toEqual([]);
    expect(await problems({ $id: id, type: 'number' }, 'x')).toHaveLength(1);
    const inner = { properties: { a: { $id: `${id}/i`, type: 'boolean' } } };
    expect(await problems(inner, { a: 'x' })).toHaveLength(1);
    expect(await errorOf({ $ref: id })).toContain('not inside the schema');
    expect(await errorOf({ $ref: `${id}/i` })).toContain('not inside the schema');
  });

  it('tests patterns up to a length and takes spellings that are not Unicode-proof', async () => {
    const check = (pattern: string, text: string) => problems({ pattern }, text);
    expect(await check('^a+$', 'aaa')).toEqual([]);
    expect(await check('^a+$', 'b')).toEqual([{ path: '', message: 'must match pattern "^a+$"' }]);
    expect(await check('^[\\w-\\.]+$', 'a.b-c')).toEqual([]);
    expect(await check('^\\p{L}+$', 'é')).toEqual([]);
    expect(await check('^a+$', 'a'.repeat(MAX_PATTERN_INPUT))).toEqual([]);
    expect(await check('^a+$', 'a'.repeat(MAX_PATTERN_INPUT + 1))).toHaveLength(1);
    const kebab = '^[a-z]+(-[a-z]+)*$';
    expect(await check(kebab, 'a-b-c')).toEqual([]);
    expect(await check(kebab, 'a'.repeat(MAX_NESTED_PATTERN_INPUT + 1))).toHaveLength(1);
    expect(await check('^(a|b){2}[(*+]+\\(+$', `ab${'*'.repeat(2000)}(`)).toEqual([]);
  });

  it('checks property names by pattern too', async () => {
    const schema = {
      patternProperties: { '^n_': { type: 'number' } },
      additionalProperties: false,
    };
    expect(await problems(schema, { n_a: 1 })).toEqual([]);
    expect(await problems(schema, { n_a: 'x', other: 1 })).toHaveLength(2);
  });

  it('survives nesting that no stack can hold', async () => {
    let schema: Record<string, unknown> = { type: 'string' };
    for (let n = 0; n < 20_000; n++) schema = { items: schema };
    expect(await errorOf(schema)).toMatch(/stack/i);
  });
});
