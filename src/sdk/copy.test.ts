import { describe, expect, it } from 'vitest';
import { plainCopy } from './copy.js';

describe('what crosses the border of the library', () => {
  it('is a copy: nothing that is changed later is seen on the other side', () => {
    const given = { a: [{ b: 'x' }], c: null, d: 1, e: undefined };
    const copy = plainCopy(given);
    given.a.push({ b: 'y' });
    given.d = 2;
    expect(copy).toEqual({ a: [{ b: 'x' }], c: null, d: 1 });
    expect(Object.keys(copy as object)).toEqual(['a', 'c', 'd']);
  });

  it('is read once, whatever answers the reads', () => {
    let reads = 0;
    const copy = plainCopy({
      get command() {
        return `read ${++reads}`;
      },
    }) as { command: string };
    expect([copy.command, copy.command, reads]).toEqual(['read 1', 'read 1', 1]);
  });

  it('is what JSON would make of it', () => {
    class Point {
      x = 1;
      #hidden = 2;
      get sum() {
        return this.x + this.#hidden;
      }
    }
    const given = { at: new Date(0), point: new Point(), none: Number.NaN, list: [undefined] };
    expect(plainCopy(given)).toEqual(JSON.parse(JSON.stringify(given)));
  });

  const cycle: Record<string, unknown> = {};
  cycle.again = cycle;
  it.each([
    ['a function', { decision: () => 'deny' }],
    ['a map', { decision: new Map([['deny', true]]) }],
    ['a promise', Promise.resolve({})],
    ['bytes', { data: new Uint8Array(3) }],
    ['a large number', { n: 1n }],
    ['a cycle', cycle],
    ['a prototype', JSON.parse('{"a":{"__proto__":{}}}')],
  ])('is refused where something would get lost: %s', (_name, value) => {
    expect(() => plainCopy(value)).toThrow(TypeError);
  });
});
