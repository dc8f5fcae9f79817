import { expect, it } from 'vitest';
import { isLater, whenThere } from './at-once.js';

it('what comes later is known by what it can do, whatever stands in the place of Promise', async () => {
  const native = globalThis.Promise;
  const later = (async () => 1)();
  try {
    globalThis.Promise = class extends native<unknown> {} as PromiseConstructor;
    expect(later instanceof Promise).toBe(false);
    expect(isLater(later)).toBe(true);
  } finally {
    globalThis.Promise = native;
  }
  expect(await whenThere(later, (one) => one + 1)).toBe(2);
  for (const value of [undefined, null, 0, '', {}, []]) expect(isLater<unknown>(value)).toBe(false);
  expect(whenThere(1, (one) => one + 1)).toBe(2);
});
