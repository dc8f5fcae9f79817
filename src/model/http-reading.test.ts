import { describe, expect, it } from 'vitest';
import { MAX_BODY_CHARS, readAll } from './http-reading.js';

describe('readAll', () => {
  it('reads a body to its end', async () => {
    async function* body() {
      yield 'a';
      yield 'b';
    }
    expect(await readAll(body())).toBe('ab');
  });

  it('takes what came in time of a body that drips, and no more than its share of a long one', async () => {
    let left = false;
    const drip: AsyncIterable<string> = {
      [Symbol.asyncIterator]() {
        let first = true;
        return {
          next() {
            if (!first) return new Promise(() => undefined);
            first = false;
            return Promise.resolve({ done: false, value: 'so far' });
          },
          return() {
            left = true;
            return Promise.resolve({ done: true, value: undefined });
          },
        };
      },
    };
    expect(await readAll(drip, { maxMs: 20 })).toBe('so far');
    expect(left).toBe(true);
    async function* endless() {
      for (;;) yield 'x'.repeat(100_000);
    }
    expect((await readAll(endless())).length).toBeLessThan(MAX_BODY_CHARS + 100_001);
  });

  it('passes on that the connection broke', async () => {
    async function* broken() {
      yield 'a';
      throw new Error('reset');
    }
    await expect(readAll(broken())).rejects.toThrow('reset');
  });
});
