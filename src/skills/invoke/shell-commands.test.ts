import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitFile } from '../../lib/frontmatter/head-text.js';
import { skillItems } from '../../settings/trust/markdown.js';
import { findCommands } from './render.js';

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
    // The first line that begins with the fence ends the block, with or without further text.
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
  const headPiece = fc.constantFrom('name: a\n', 'description: |\n  ', '\u2028', '{', '- ');

  const file = fc
    .record({
      head: fc.option(fc.array(fc.oneof(piece, headPiece), { maxLength: 8 })),
      marks: fc.constantFrom('---', '--- ', '---\u00a0', '...', '----'),
      body: fc.array(piece, { maxLength: 30 }),
    })
    .map(({ head, marks, body }) => {
      const text = body.join('');
      return head === null ? text : `---\n${head.join('')}\n${marks}\n${text}`;
    });

  /** Commands with their lines, as found for running and for reviewing trust. */
  const bothSee = (text: string) => {
    const { body, bodyLine } = splitFile(text);
    const run = findCommands(body).map(
      ({ start, from, to }) =>
        `${bodyLine + body.slice(0, start).split('\n').length - 1} ${body.slice(from, to).trim()}`,
    );
    const shown = skillItems(text, 's').flatMap((draft) =>
      draft.kind === 'skill shell' ? [`${draft.line} ${draft.text}`] : [],
    );
    return { run, shown };
  };

  it('are all shown to whoever gives trust, with their lines', () => {
    fc.assert(
      fc.property(file, (text) => {
        const { run, shown } = bothSee(text);
        expect(shown).toEqual(expect.arrayContaining(run));
      }),
      { numRuns: 5000 },
    );
    expect(bothSee('x!`a !`rm b` ')).toEqual({ run: ['1 rm b'], shown: ['1 a !', '1 rm b'] });
  });

  it('are found by any mark that stands alone, whatever came before it', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const shown = bothSee(`${pieces.join('')} !\`touch b\` `).shown;
        expect(shown.some((one) => one.endsWith('touch b'))).toBe(true);
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
    expect(skillItems(falling, 's').every(({ text }) => text.length <= 2_000)).toBe(true);
  });
});
