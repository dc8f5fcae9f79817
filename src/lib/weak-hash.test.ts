import { expect, it } from 'vitest';
import { weakHash } from './weak-hash.js';

it('tells texts apart', () => {
  const texts = Array.from({ length: 20_000 }, (_, at) => `{"command":"node","args":["${at}"]}`);
  expect(new Set(texts.map(weakHash)).size).toBe(texts.length);
  expect(weakHash('ab')).not.toBe(weakHash('ba'));
});

it('is the same for the same text, in sixteen digits', () => {
  expect(weakHash('')).toMatch(/^[0-9a-f]{16}$/);
  expect(weakHash('é€😀')).toBe(weakHash('é€😀'));
});
