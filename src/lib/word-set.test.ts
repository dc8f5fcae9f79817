import { expect, it } from 'vitest';
import { WordSet } from './word-set.js';

it('holds the words of its text, wherever a line ends', () => {
  const words = new WordSet(`
    one two
    three `);
  expect(words.has('two')).toBe(true);
  expect(words.has('three')).toBe(true);
  expect(words.has('')).toBe(false);
  expect(words.has('one two')).toBe(false);
  expect([...words.all]).toEqual(['one', 'two', 'three']);
});
