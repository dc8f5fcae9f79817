import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitArguments } from './render.js';

describe('arguments as words', () => {
  it.each<[string, readonly string[]]>([
    ['', []],
    ['  \n ', []],
    ['a b\tc\nd', ['a', 'b', 'c', 'd']],
    ['fix "the login" now', ['fix', 'the login', 'now']],
    ["'a b'c \"d\"'e'", ['a bc', 'de']],
    ['"" \'\' x', ['', '', 'x']],
    ['a\\ b \\"c \\\\', ['a b', '"c', '\\']],
    ['"a \\"b\\" \\n" \'c \\d\'', ['a "b" \\n', 'c \\d']],
    // A backslash that escapes nothing is literal.
    ['C:\\x\\y', ['C:\\x\\y']],
    ['ends\\', ['ends\\']],
    // Of a shell's syntax only quotes count.
    ['$HOME `id` $(id) a;b *', ['$HOME', '`id`', '$(id)', 'a;b', '*']],
    // An apostrophe is no quote.
    ["don't do it", ["don't", 'do', 'it']],
    ['say "x', ['say', '"x']],
  ])('%j', (text, words) => {
    expect(splitArguments(text)).toEqual(words);
  });

  it('gives back any words that are quoted', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        const quoted = words.map((word) => `"${word.replace(/["\\]/g, '\\$&')}"`);
        expect(splitArguments(quoted.join(' '))).toEqual(words);
      }),
    );
  });
});
