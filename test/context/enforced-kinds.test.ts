import { describe, expect, it } from 'vitest';
import { bookWorld } from './book-rig.js';

const BLOCK = 'Words.\n\n```portcullis\n{"deny": ["A"]}\n```\n';

describe('a block of rules in an included file', () => {
  it.each([
    '.cursorrules',
    '.windsurfrules',
    'Makefile',
    'x.mdc',
    'x.MD',
    'x.rst',
    'x.adoc',
    'x.org',
    'x.rmd',
    'x.html',
    'x.log',
  ])('holds in %s, which people read', async (name) => {
    const world = bookWorld({ 'project/CLAUDE.md': `see @${name}`, [`project/${name}`]: BLOCK });
    const { deny, problems } = await world.book().enforced();
    expect(deny.map(({ value, file }) => [value.text, file])).toEqual([['A', world.at(name)]]);
    expect(problems).toEqual([]);
  });

  it.each([
    ['x.ts', '/**\n * ```portcullis\n * {"deny": ["A"]}\n * ```\n */\n'],
    ['x.json', JSON.stringify({ text: BLOCK })],
    ['x.py', BLOCK],
  ])('holds nothing in %s, a program or data, and that is told', async (name, text) => {
    const world = bookWorld({ 'project/CLAUDE.md': `see @${name}`, [`project/${name}`]: text });
    const book = world.book();
    expect(await book.enforced()).toMatchObject({ deny: [], ask: [], problems: [] });
    const { files } = await book.open();
    expect(files.at(-1)?.notes).toEqual([expect.stringContaining('enforces nothing')]);
  });

  it('of no Markdown does not make other names in it includes', async () => {
    const world = bookWorld({
      'project/CLAUDE.md': '@x.rst',
      'project/x.rst': `@y.md\n\n${BLOCK}`,
      'project/y.md': 'Y',
    });
    const book = world.book();
    expect((await book.enforced()).deny).toHaveLength(1);
    expect((await book.open()).files.map(({ path }) => path)).not.toContain(world.at('y.md'));
  });

  it('holds behind characters that nobody sees, also where they part the marks', async () => {
    const world = bookWorld({
      'project/CLAUDE.md': '`\u200b``portcullis\n{"deny": ["A"]}\n```\n',
    });
    expect((await world.book().enforced()).deny.map(({ value }) => value.text)).toEqual(['A']);
  });
});
