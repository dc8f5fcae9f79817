import { describe, expect, it } from 'vitest';
import { MOST_NAMES } from '../instructions/includes.js';
import { fileMentions } from './file-mentions.js';

const names = (text: string) =>
  fileMentions(text).map(({ meanings }) => meanings.map(({ name }) => name));
/** The last meaning is the barest. */
const barest = (text: string) => names(text).map((all) => all.at(-1));

describe('names with an @ in a prompt', () => {
  it('begin a word, also in brackets and quotes', () => {
    expect(barest('see @a.ts, (@b.ts) [@c.ts] "@d.ts" and @e/f.ts.')).toEqual([
      'a.ts',
      'b.ts',
      'c.ts',
      'd.ts',
      'e/f.ts',
    ]);
    expect(barest('@a.ts,@b.ts;@c.ts')).toEqual(['a.ts', 'b.ts', 'c.ts']);
    expect(barest("@a.ts's end, **@b.ts** <@c.ts>")).toEqual(['a.ts', 'b.ts', 'c.ts']);
  });

  it('are none inside a word', () => {
    expect(names('mail me@a.ts or x/@b or a.@c or @@d or \\@e')).toEqual([]);
    expect(names('@ a, @. @.. @/ @~ @, @srv:note://one @srv:https://x.y/z')).toEqual([]);
  });

  it('may be quoted, or have their blanks escaped', () => {
    expect(barest('@"my file.ts" and @my\\ file.ts, @"a')).toEqual(['my file.ts', 'my file.ts']);
    expect(fileMentions('@"a b"')[0]?.isQuoted).toBe(true);
    expect(names('@"a\nb"')).toEqual([]);
  });

  it('may say lines', () => {
    const lines = (text: string) => fileMentions(text)[0]?.meanings.at(-1);
    expect(lines('@a.ts#L10-20')).toEqual({ name: 'a.ts', lines: { from: 10, to: 20 } });
    expect(lines('@a.ts#5-10,')).toEqual({ name: 'a.ts', lines: { from: 5, to: 10 } });
    expect(lines('@a.ts#L7')).toEqual({ name: 'a.ts', lines: { from: 7, to: 7 } });
    expect(lines('@a.ts#L20-L10')).toEqual({ name: 'a.ts', lines: { from: 10, to: 20 } });
    expect(lines('@a.ts#L0')).toEqual({ name: 'a.ts', lines: { from: 1, to: 1 } });
    expect(lines('@"a b.ts#L2-3"')).toEqual({ name: 'a b.ts', lines: { from: 2, to: 3 } });
    expect(lines('@a.md#heading')).toEqual({ name: 'a.md' });
    expect(names('@c#1.md')).toEqual([['c#1.md', 'c']]);
  });

  it('say lines at the end of a sentence and in brackets too', () => {
    const ranged = { name: 'a.ts', lines: { from: 10, to: 12 } };
    for (const text of ['@a.ts#L10-12.', '(@a.ts#L10-12)', '"@a.ts#10-12",', "@a.ts#L10-12's"]) {
      const meanings = fileMentions(text)[0]?.meanings ?? [];
      expect(meanings.at(-1), text).toEqual(ranged);
      expect(meanings, text).not.toContainEqual({ name: 'a.ts' });
    }
    // A heading is looked for last.
    expect(names("@a.md#x's")).toEqual([["a.md#x's", 'a.md#x', 'a.md']]);
  });

  it('end where the next one begins, and at signs that no name has', () => {
    for (const text of [
      '请看@a.ts、@b.ts',
      '@a.ts，@b.ts',
      '(@a.ts)(@b.ts)',
      '@a.ts|@b.ts',
      '["@a.ts","@b.ts"]',
      '看@a.ts）看@b.ts',
      '看@a.ts和@b.ts的内容',
      '@a.ts—@b.ts',
      '@a.ts를 @b.ts에',
    ]) {
      expect(barest(text), text).toEqual(['a.ts', 'b.ts']);
    }
    expect(barest('看@src/源文件')).toEqual(['src/源文件']);
  });

  it('are text in definitions of links and in comments that are not closed', () => {
    expect(barest('[bug]: @src/a.ts crashes')).toEqual(['src/a.ts']);
    expect(barest('why does <!-- break? look at @a.ts\n\nand @b.ts')).toEqual(['a.ts', 'b.ts']);
    expect(barest('x <!-- @a.ts\n--> @b.ts')).toEqual(['b.ts']);
  });

  it('may be patterns', () => {
    const patterns = (text: string) =>
      fileMentions(text).flatMap(({ meanings, isPattern }) => (isPattern ? meanings : []));
    for (const name of ['src/*.ts', 'src/**/*.ts', 'src/?.ts', 'src/*', '*.ts']) {
      expect(patterns(`see (@${name}).`), name).toEqual([{ name }]);
    }
    for (const text of ['**@src/** x', '*@a.ts*, y', 'is it @a.ts? No', '@a.ts?)']) {
      expect(patterns(text), text).toEqual([]);
      expect(names(text), text).toHaveLength(1);
    }
  });

  it('are words in code, comments and addresses of links', () => {
    expect(names('`@a` ``@b`c`` [x](@c)\n\n```\n@d\n```\n\n<!-- @e -->')).toEqual([]);
    expect(fileMentions('[@a.ts](b) @c`d`').map(({ written }) => written)).toEqual(['@a.ts', '@c']);
    expect(barest('    @a.ts\n\n  - @b.ts\n> @c.ts')).toEqual(['a.ts', 'b.ts', 'c.ts']);
  });

  it('may be in any script', () => {
    expect(barest('看@源/文件.ts。谢谢 @café.md @дом.txt')).toEqual([
      '源/文件.ts',
      'café.md',
      'дом.txt',
    ]);
  });

  it('are bounded in number and length', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => `@n${at}`).join(' ');
    expect(fileMentions(many)).toHaveLength(MOST_NAMES + 1);
    expect(fileMentions(`@${'x'.repeat(2_000)} @a @a`)).toHaveLength(1);
    expect(barest(`@a.ts。${'文'.repeat(2_000)}`)).toEqual(['a.ts']);
  });

  it('cost time in proportion to the text', () => {
    const started = performance.now();
    for (const part of [
      '@',
      '(@',
      '@"',
      '@a ',
      '@a\\ ',
      '"@',
      '@a,',
      '@\n',
      '@`',
      '<!--@',
      '@a*',
      '@a?b',
      '看@',
      '@)',
      '@a)文',
    ]) {
      fileMentions(part.repeat(300_000 / part.length));
    }
    // Seconds would be minutes if any of them took the square of it.
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
