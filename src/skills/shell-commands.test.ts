import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { skillDrafts } from '../settings/trust-markdown.js';
import { findCommands } from './shell-commands.js';

const commandsIn = (text: string): readonly string[] =>
  findCommands(text).map(({ from, to }) => text.slice(from, to).trim());

describe('commands in the text of a skill', () => {
  it.each<[string, readonly string[]]>([
    ['!`a`', ['a']],
    ['x !`a`', ['a']],
    ['x\t!`a` !`b`', ['a', 'b']],
    ['x\n!`a`\ny', ['a']],
    ['- !`a`', ['a']],
    ['```\n!`a`\n```', ['a']],
    ['[!`a`]', []],
    ['KEY=!`a`', []],
    ['(!`a`)', []],
    ['`!`a``', []],
    ['x!`a`', []],
    ['\\!`a`', []],
    ['! `a`', []],
    ['!`', []],
    ['!`a', []],
    ['!`` a ``', []],
    ['!` `', []],
    ['!`a\nb`', []],
    ['!`a\u2028b`', []],
  ])('inline %j', (text, commands) => {
    expect(commandsIn(text)).toEqual(commands);
  });

  it.each<[string, readonly string[]]>([
    ['```!\na\nb\n```', ['a\nb']],
    ['x\n  ```!\n  a\n  ```\ny', ['a']],
    ['````!\na\n```\nb\n````', ['a\n```\nb']],
    ['```!\r\na\r\n```\r\n', ['a']],
    ['```!\n!`a` x\n```\n!`b`', ['!`a` x', 'b']],
    ['!`b`\n```!\na\n```', ['b', 'a']],
    ['```!\na', []],
    ['```!\n\n```', []],
    ['``` !\na\n```', []],
    ['~~~!\na\n~~~', []],
    ['x ```!\na\n```', []],
    ['```bash\na\n```', []],
    // The first line that begins with the fence ends it, whatever follows.
    ['```!\na\n```x\nb\n```', ['a']],
    ['```!\na\u2028```\nb\n```', ['a']],
  ])('block %j', (text, commands) => {
    expect(commandsIn(text)).toEqual(commands);
  });

  it('takes the whole of each, marks included', () => {
    const text = 'x !`a` y\n```!\nb\n``` z';
    expect(findCommands(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      '!`a`',
      '```!\nb\n```',
    ]);
  });

  const piece = fc.constantFrom(
    '!',
    '`',
    '``',
    '```',
    '````',
    '!`',
    '```!',
    '~~~!',
    '\n',
    '\r\n',
    '\u2028',
    ' ',
    'a',
    'touch b',
    '\n```\n',
    '\n```!\n',
    ' !`c`',
    'x!`',
  );

  it('finds no command that trust was not asked about', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('').replace(/\r\n?/g, '\n');
        const shown = skillDrafts(text, 's').map((draft) => draft.text);
        for (const command of commandsIn(text)) {
          expect(shown.some((one) => one.includes(command))).toBe(true);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('reads a long text in one go, however it is made', () => {
    for (const one of ['!`', '```!\n', '`', '!', ' !`a', '\n    ', '!``', '\n```! ']) {
      expect(findCommands(one.repeat(50_000)).length).toBeLessThanOrEqual(50_000);
    }
    const falling = Array.from({ length: 300 }, (_, at) => `${'`'.repeat(303 - at)}!\n`).join('');
    expect(findCommands(falling)).toEqual([]);
  });
});
