import { PatternError, type PatternNode, readPattern } from './linear-pattern-reader.js';

/** What names of tools consist of; the likeliest first. */
export const NAME_LETTERS = [
  ...'xabcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-',
] as const;

/** More than any matcher needs; alternatives within alternatives multiply. */
const MOST_WORDS = 64;
const LONGEST_WORD = 400;

/**
 * Short sample words over these letters that an expression matches, ignoring its anchors: one for each
 * alternative, optional parts both present and absent. None when every match needs other letters.
 */
export function sampleMatches(source: string, letters: readonly string[]): readonly string[] {
  try {
    return words(readPattern(source, { ignoreCase: true }), letters);
  } catch (thrown) {
    if (thrown instanceof PatternError) return [];
    throw thrown;
  }
}

function words(node: PatternNode, letters: readonly string[]): readonly string[] {
  switch (node.kind) {
    case 'char':
      return letters.filter((letter) => node.fits(letter)).slice(0, 1);
    case 'at':
      return [''];
    case 'choice':
      return bounded(node.parts.flatMap((part) => words(part, letters)));
    case 'sequence':
      return joined(node.parts.map((part) => words(part, letters)));
    case 'repeat': {
      const once = words(node.part, letters);
      const least = joined(Array.from({ length: Math.min(node.min, LONGEST_WORD) }, () => once));
      return node.min > 0 || node.max === 0 ? least : bounded([...once, '']);
    }
  }
}

function joined(lists: readonly (readonly string[])[]): readonly string[] {
  return lists.reduce<readonly string[]>(
    (befores, list) => bounded(befores.flatMap((before) => list.map((word) => `${before}${word}`))),
    [''],
  );
}

function bounded(list: readonly string[]): readonly string[] {
  return [...new Set(list)].filter((word) => word.length <= LONGEST_WORD).slice(0, MOST_WORDS);
}
