import { expect, it } from 'vitest';
import { extended } from './extended.js';

it('is a copy with further fields, the later ones in force', () => {
  const base = { a: 1, b: 2 };
  expect(extended(base, { b: 3, c: 4 })).toEqual({ a: 1, b: 3, c: 4 });
  expect(base).toEqual({ a: 1, b: 2 });
});
