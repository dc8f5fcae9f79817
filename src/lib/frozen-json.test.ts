import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { freezeJson, isFrozenJson } from './frozen-json.js';

const sealed = (value: object) => freezeJson(value as Record<string, unknown>);

describe('a sealed object', () => {
  it('is a copy that nobody can change, at any depth', () => {
    const given = { a: [{ b: 'x' }], c: null, d: 1, e: true };
    const result = sealed(given);
    if (!result.ok) throw new Error(result.error);
    const copy = result.value as typeof given;
    expect(copy).toEqual(given);
    expect(isFrozenJson(copy)).toBe(true);
    expect(isFrozenJson(given)).toBe(false);
    given.a[0] = { b: 'later' };
    expect(copy.a[0]?.b).toBe('x');
    expect(() => Object.assign(copy, { d: 2 })).toThrow(TypeError);
    expect(() => Object.assign(copy.a[0] ?? {}, { b: 'y' })).toThrow(TypeError);
    expect(() => copy.a.push({ b: 'z' })).toThrow(TypeError);
  });

  it('is not copied a second time', () => {
    const once = sealed({ a: 1 });
    expect(once.ok && sealed(once.value)).toEqual(once);
    expect(once.ok && sealed(once.value).ok && isFrozenJson({ ...once.value })).toBe(false);
  });

  it('has no fields without a value, as in JSON', () => {
    const result = sealed({ a: undefined, [Symbol('s')]: 1, b: 2 });
    expect(result.ok && Reflect.ownKeys(result.value)).toEqual(['b']);
  });

  it('may come from another realm or have no prototype', () => {
    expect(sealed(runInNewContext('({ a: [1] })')).ok).toBe(true);
    expect(sealed(Object.assign(Object.create(null), { a: 1 })).ok).toBe(true);
  });

  const cycle: Record<string, unknown> = {};
  cycle.again = cycle;
  it.each<[string, object, string]>([
    [
      'a getter',
      {
        get command() {
          return 'ls';
        },
      },
      '"command" is code',
    ],
    ['a getter inside of a list', { a: Object.defineProperty([], 0, { get: () => 1 }) }, 'is code'],
    ['a function', { toJSON: () => ({}) }, 'a function'],
    ['a date', { at: new Date(0) }, 'an instance of a class'],
    ['a map', new Map(), 'an instance of a class'],
    ['a big number', { n: 1n }, 'a bigint'],
    ['no number', { n: Number.NaN }, 'NaN'],
    ['a hole in a list', { a: new Array(1) }, 'undefined'],
    ['a key that reaches a prototype', JSON.parse('{"__proto__":{}}'), '__proto__'],
    ['a cycle', cycle, 'nested'],
    [
      'something that cannot be read',
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no');
          },
        },
      ),
      'cannot be read',
    ],
  ])('cannot be made of %s', (_, value, why) => {
    expect(sealed(value)).toMatchObject({ ok: false, error: expect.stringContaining(why) });
  });
});
