import { describe, expect, it } from 'vitest';
import { MAX_BODY_CHARS, readAll } from './answer.js';

describe('readAll', () => {
  it('reads a body to its end', async () => {
    async function* body() {
      yield 'a';
      yield 'b';
    }
    expect(await readAll({ chunks: body(), finish: () => undefined })).toBe('ab');
  });

  it('takes what came in time from a slow body, and only the beginning of a long one', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    async function* slow() {
      yield 'so far';
      await finished;
    }
    expect(await readAll({ chunks: slow(), finish }, { maxMs: 20 })).toBe('so far');
    async function* endless() {
      for (;;) yield 'x'.repeat(100_000);
    }
    const long = await readAll({ chunks: endless(), finish });
    expect(long.length).toBeLessThan(MAX_BODY_CHARS + 100_001);
  });

  it('passes on that the connection broke', async () => {
    async function* broken() {
      yield 'a';
      throw new Error('reset');
    }
    await expect(readAll({ chunks: broken(), finish: () => undefined })).rejects.toThrow('reset');
  });
});
