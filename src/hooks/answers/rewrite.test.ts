import { describe, expect, it } from 'vitest';
import { oneRewrite, type Rewrite } from './round.js';

const wish = (by: string, input: Rewrite['input'], allowed = false): Rewrite => ({
  by,
  input,
  allowed,
  authors: [by],
});

describe('rewrites of one input', () => {
  it('are none when nobody changes anything, whatever the order of the keys', () => {
    expect(oneRewrite([], [{ a: 1 }])).toBeUndefined();
    const same = [wish('x', { b: { d: 1, c: [2] }, a: 1 }), wish('y', { a: 2 })];
    expect(oneRewrite(same, [{ a: 1, b: { c: [2], d: 1 } }, { a: 2 }])).toBeUndefined();
  });

  it('are one when all want the same, with the yes of whoever gave one', () => {
    const wishes = [
      wish('x', { a: 1, b: 2 }),
      wish('y', { b: 2, a: 1 }, true),
      wish('z', { c: 1 }),
    ];
    expect(oneRewrite(wishes, [{ c: 1 }])).toMatchObject({ by: 'y', allowed: true });
  });

  it('are a conflict when two differ, be it in an array or a name like __proto__', () => {
    for (const [a, b] of [
      [{ a: [1, 2] }, { a: [2, 1] }],
      [{ a: 1 }, JSON.parse('{"a":1,"__proto__":{"b":2}}')],
      [{ a: '1' }, { a: 1 }],
    ]) {
      const wishes = [wish('x', a), wish('y', b, true)];
      expect(oneRewrite(wishes, [{}])).toEqual({ conflict: 'x and y want different inputs' });
    }
  });
});
