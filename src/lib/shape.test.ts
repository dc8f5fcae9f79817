import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  flag,
  like,
  listOf,
  mapOf,
  number,
  object,
  oneOf,
  optional,
  parseShape,
  type Shaped,
  text,
} from './shape.js';

const shape = object({
  name: like(/^[a-z]+$/),
  kind: oneOf('a', 'b'),
  tags: listOf(text),
  counts: mapOf(number),
  isNew: optional(flag),
});
const good = { name: 'x', kind: 'a', tags: [], counts: { one: 1 } };

describe('a shape', () => {
  it('takes what has all its fields, and others too', () => {
    for (const more of [{}, { isNew: true }, { isNew: undefined }, { other: null }]) {
      expect(shape({ ...good, ...more })).toBe(true);
    }
    expectTypeOf<Shaped<typeof shape>['kind']>().toEqualTypeOf<'a' | 'b'>();
    expectTypeOf<Shaped<typeof shape>['isNew']>().toEqualTypeOf<boolean | undefined>();
  });

  it.each([
    { name: 'X' },
    { name: 'x\n' },
    { kind: 'c' },
    { tags: ['a', 1] },
    { tags: { length: 0 } },
    { counts: [1] },
    { counts: { one: '1' } },
    { isNew: null },
  ])('refuses a field that is odd: %j', (more) => {
    expect(shape({ ...good, ...more })).toBe(false);
  });

  it('refuses what lacks one, and what is not an object', () => {
    const { name: _name, ...rest } = good;
    for (const value of [rest, null, undefined, [], 'x', 1]) expect(shape(value)).toBe(false);
  });

  it('is found in JSON or not at all', () => {
    expect(parseShape(JSON.stringify(good), shape)).toEqual(good);
    for (const json of ['', '{', '[]', '{"name": 1}']) {
      expect(parseShape(json, shape)).toBeUndefined();
    }
  });
});
