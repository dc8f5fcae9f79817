import { expect, it } from 'vitest';
import { whenWanted } from './when-wanted.js';

it('makes a thing once, and not before somebody wants it', () => {
  let times = 0;
  const table = whenWanted(() => {
    times += 1;
    return undefined;
  });
  expect(times).toBe(0);
  expect(table()).toBeUndefined();
  expect(table()).toBeUndefined();
  expect(times).toBe(1);
});
