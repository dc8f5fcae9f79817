import { describe, expect, it } from 'vitest';
import { includeTargets, resolveTarget } from './includes.js';
import { MOST_LOOKUPS } from './load-result.js';

describe('an include', () => {
  it.each([
    ['@./a.md', ['./a.md']],
    ['@b.md', ['b.md']],
    ['@docs/c.md and @d.md', ['docs/c.md', 'd.md']],
    ['@~/x.md\n@/abs/y.md', ['~/x.md', '/abs/y.md']],
    ['text with @mid.md inside', ['mid.md']],
    ['- @list.md\n1. @two.md', ['list.md', 'two.md']],
    ['> @quote.md\n# @head.md', ['quote.md', 'head.md']],
    ['@my\\ file.md rest', ['my file.md']],
    ['@anch.md#part', ['anch.md']],
    ['@a.md @a.md', ['a.md']],
    ['- item\n\n  @inside.md', ['inside.md']],
    ['text\n    @lazy.md', ['lazy.md']],
    ['| @cell.md | x |', ['cell.md']],
    ['@Größe/日本.md', ['Größe/日本.md']],
  ])('is found in %j', (text, expected) => {
    expect(includeTargets(text)).toEqual(expected);
  });

  it.each([
    'mail me@mail.md',
    '(@paren.md)',
    '"@quote.md"',
    '`@inline.md`',
    '``a ` @inline.md``',
    '`over\n@lines.md`',
    '```\n@fence.md\n```',
    '~~~md\n@fence.md\n```\n@fence.md\n~~~',
    '````\n```\n@fence.md\n````',
    '> ```\n> @fence.md\n> ```',
    '- x\n  ```\n  @fence.md\n  ```',
    '```\n@never-closed.md',
    '    @indent.md',
    'x\n\n\t@indent.md',
    '<!-- @comment.md -->',
    '<!--\n@comment.md\n-->',
    'a <!-- @comment.md --> b',
    'text <!-- @open.md\n\n@still.md',
    '<!-- @open.md\n\nx\n\n@still.md',
    '[x](@link.md)',
    '[x]( @link.md )',
    '[x]: @link.md',
    '@',
    '@@x.md',
    '@#x',
    '@*.md',
    '@~user/x.md',
  ])('is not found in %j', (text) => {
    expect(includeTargets(text)).toEqual([]);
  });

  it('goes on behind code and comments', () => {
    const text = '```\n@no.md\n```\n@a.md `@no.md` @b.md <!-- @no.md --> @c.md\n<!-- x --> @d.md\n';
    expect(includeTargets(text)).toEqual(['a.md', 'b.md', 'c.md', 'd.md']);
  });

  it('is not looked for in an endless number', () => {
    const text = Array.from({ length: 20_000 }, (_, n) => `@${n}.md`).join(' ');
    expect(includeTargets(text)).toHaveLength(MOST_LOOKUPS + 1);
  });

  it.each([
    ['backticks', '`'.repeat(300_000)],
    ['many lengths', Array.from({ length: 1_500 }, (_, n) => '`'.repeat(n + 1)).join(' ')],
    ['quotes', '>'.repeat(200_000)],
    ['lists', '- '.repeat(200_000)],
    ['comments', '<!-- '.repeat(200_000)],
    ['brackets', ']('.repeat(200_000)],
    ['at signs', '@'.repeat(300_000)],
    ['lines', '<!-- x\n'.repeat(100_000)],
  ])('takes no endless time with many %s', (_what, text) => {
    expect(includeTargets(`${text}\n\n@x.md`).length).toBeLessThanOrEqual(1);
  });

  it('is meant from the file that names it', () => {
    const at = (target: string) => resolveTarget(target, '/p/docs/a.md', '/home/me');
    expect(['./b.md', '../c.md', '~/d.md', '/e/../f.md', 'g.md'].map(at)).toEqual([
      '/p/docs/b.md',
      '/p/c.md',
      '/home/me/d.md',
      '/f.md',
      '/p/docs/g.md',
    ]);
  });
});
