import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hookFiles } from './hook-files.js';
import { READINGS } from './readings.js';
import type { CorpusTable } from './rows.js';
import { settings } from './settings.js';

const NAMES =
  'id name description priority continueOnError version author rewakeMessage tags category title license homepage severity owner team since ticket notes displayName iconUrl lastReviewed'.split(
    ' ',
  );
const KEYS = fc.oneof(
  fc.constantFrom(...NAMES),
  fc
    .string({ minLength: 1, maxLength: 12 })
    .filter((name) => name !== 'enabled' && name !== '__proto__'),
);
const ADDED = fc.array(fc.tuple(fc.nat(), KEYS, fc.jsonValue({ maxDepth: 2 })), {
  minLength: 1,
  maxLength: 4,
});

type Fields = Record<string, unknown>;

/** Every object of a document in which a person may describe something. */
function objectsIn(value: unknown): readonly Fields[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (typeof value !== 'object' || value === null) return [];
  return [value as Fields, ...Object.values(value).flatMap(objectsIn)];
}

function described(text: string, added: readonly (readonly [number, string, unknown])[]): string {
  const file = JSON.parse(text) as Fields;
  for (const [at, key, value] of added) {
    const objects = objectsIn(file);
    const place = objects[at % objects.length];
    if (place !== undefined && !Object.hasOwn(place, key)) place[key] = value;
  }
  return JSON.stringify(file, null, 2);
}

interface Read {
  readonly starts: boolean;
  readonly asked: readonly string[];
  readonly deny?: readonly string[];
  readonly allow?: readonly string[];
  readonly mode?: string;
}

describe.each<CorpusTable>([hookFiles, settings])('$kind', ({ kind, rows }) => {
  const read = async (text: string): Promise<Read> =>
    (await READINGS[kind]?.(text)) as unknown as Read;

  it('unknown descriptive keys never turn a refusal into an allow', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...rows), ADDED, async ({ text }, added) => {
        const before = await read(text);
        const after = await read(described(text, added));
        if (!before.starts) expect(after.starts).toBe(false);
        if (!after.starts) return;
        for (const hook of before.asked) expect(after.asked).toContain(hook);
        expect(after.deny).toEqual(before.deny);
        expect(after.allow).toEqual(before.allow);
        expect(after.mode).toEqual(before.mode);
      }),
      { numRuns: 300 },
    );
  });
});
