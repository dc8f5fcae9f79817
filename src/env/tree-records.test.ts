import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareOutputs, readRecords } from './tree-records.js';

interface Entry {
  readonly path: string;
  readonly ctime: number;
}

function output(entries: readonly Entry[]): Buffer {
  const texts = entries.map(
    ({ path, ctime }) => `./${path}\0f 644 12 ${ctime + 7} ${ctime}.5000000000 1 \0\0`,
  );
  return Buffer.from(texts.join(''));
}

const entries = fc.uniqueArray(
  fc.record({
    path: fc.stringMatching(/^[a-c]{1,2}(\/[a-c]{1,2}){0,2}$/),
    ctime: fc.integer({ min: 1, max: 12 }),
  }),
  { selector: (entry) => entry.path, maxLength: 40 },
);

describe('outputs of find', () => {
  it('are read to the last field', () => {
    const text =
      './a b\nc\0l 777 3 99 1700000000.1234567890 42 to there\0\0./p\0p 600 0 7 5.0000000000 42 \0\0';
    expect([...readRecords(Buffer.from(text))]).toEqual([
      {
        path: 'a b\nc',
        shown: 'a b\nc',
        stat: {
          kind: 'link',
          mode: 0o777,
          size: 3,
          ino: 99,
          ctime: 1700000000 * 1000 + 123456789 / 1e6,
          dev: 42,
          target: 'to there',
        },
      },
      {
        path: 'p',
        shown: 'p',
        stat: { kind: 'special', mode: 0o600, size: 0, ino: 7, ctime: 5000, dev: 42 },
      },
    ]);
  });

  it('name no path that is no text', () => {
    const bytes = Buffer.concat([
      Buffer.from('./d/'),
      Buffer.from([0xff]),
      Buffer.from('\0f 644 1 1 1.0 1 \0\0'),
    ]);
    expect([...readRecords(bytes)].map(({ path }) => path)).toEqual([undefined]);
  });

  it('are compared so that everything that differs is told (property)', async () => {
    await fc.assert(
      fc.asyncProperty(entries, entries, async (old, now) => {
        const { changed, gone } = await compareOutputs(output(old), output(now));
        const before = new Map(old.map(({ path, ctime }) => [path, ctime]));
        const after = new Map(now.map(({ path, ctime }) => [path, ctime]));
        expect([...gone].sort()).toEqual(
          [...before.keys()].filter((path) => !after.has(path)).sort(),
        );
        const told = new Set(changed.map(({ path }) => path));
        for (const [path, ctime] of after) {
          if (before.get(path) !== ctime) expect(told).toContain(path);
        }
        for (const { path } of changed) expect(after.has(path ?? '')).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('cost nothing where they are the same', async () => {
    const many = Array.from({ length: 1000 }, (_, at) => ({ path: `f${at}`, ctime: at }));
    const bytes = output(many);
    expect(await compareOutputs(bytes, Buffer.from(bytes))).toEqual({ changed: [], gone: [] });
    const one = many.map((entry) => (entry.path === 'f500' ? { ...entry, ctime: 5 } : entry));
    const { changed } = await compareOutputs(bytes, output(one));
    expect(changed.map(({ path }) => path)).toEqual(['f500']);
    const fewer = many.filter(({ path }) => path !== 'f300' && path !== 'f900');
    const without = await compareOutputs(bytes, output(fewer));
    expect(without).toEqual({ changed: [], gone: ['f300', 'f900'] });
  });
});
