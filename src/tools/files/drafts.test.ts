import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDrafts, salvageWrite } from './drafts.js';

describe('salvageWrite', () => {
  it('saves a 60 KB content that was cut', () => {
    const content = 'line with "quotes", \\ and é\n'.repeat(2200);
    const raw = JSON.stringify({ file_path: '/p/a.md', content });
    const cut = raw.slice(0, 60_000);
    const found = salvageWrite(cut);
    expect(found.file_path).toBe('/p/a.md');
    expect(content.startsWith(found.content ?? '-')).toBe(true);
    expect(found.content?.length).toBeGreaterThan(50_000);
  });

  it('gives a true beginning for any text cut anywhere', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), (content, where) => {
        const raw = JSON.stringify({ file_path: '/p', content });
        const found = salvageWrite(raw.slice(0, where % (raw.length + 1)));
        if (found.content !== undefined) {
          expect(content.startsWith(found.content)).toBe(true);
        }
        if (found.file_path !== undefined) expect(found.file_path).toBe('/p');
      }),
      { numRuns: 500 },
    );
  });

  it('leaves half an escape and half a surrogate pair out', () => {
    expect(salvageWrite('{"content":"a\\').content).toBe('a');
    expect(salvageWrite('{"content":"a\\u00e').content).toBe('a');
    expect(salvageWrite('{"content":"a\\ud83d\\ude').content).toBe('a');
    expect(salvageWrite('{"content":"a\\ud83d\\ude00').content).toBe('a😀');
  });

  it.each(['\\u00e9', 'a\\n'])('saves millions of %j', (unit) => {
    const count = 3_500_000;
    const found = salvageWrite(`{"file_path":"/p","content":"${unit.repeat(count)}`);
    const text = JSON.parse(`"${unit}"`) as string;
    expect(found.file_path).toBe('/p');
    expect(found.content === text.repeat(count)).toBe(true);
  });

  it('does not take a cut path for a path', () => {
    expect(salvageWrite('{"content":"x","file_path":"/etc/pass')).toEqual({ content: 'x' });
  });

  it('takes the keys in any order, with spaces and raw line breaks', () => {
    expect(salvageWrite('{ "content" : "a\nb" , "file_path" : "/p"')).toEqual({
      content: 'a\nb',
      file_path: '/p',
    });
  });

  it.each(['', '[', '{', '{"content"', '{"content":', '{"content":1,"file_path":"/p"', 'null'])(
    'finds nothing in %j',
    (raw) => expect(salvageWrite(raw)).toEqual({}),
  );
});

describe('drafts', () => {
  it('are kept by id until dropped, the newest few', () => {
    const drafts = createDrafts();
    const first = drafts.keep({ path: '/a', content: 'x' });
    expect(drafts.get(first)).toEqual({ path: '/a', content: 'x' });
    drafts.drop('/b');
    expect(drafts.get(first)).toBeDefined();
    drafts.drop('/a');
    expect(drafts.get(first)).toBeUndefined();
    const ids = Array.from({ length: 20 }, (_, index) =>
      drafts.keep({ path: '/b', content: `${index}` }),
    );
    expect(new Set(ids).size).toBe(20);
    expect(drafts.get(ids[0] ?? '')).toBeUndefined();
    expect(drafts.get(ids[19] ?? '')?.content).toBe('19');
  });
});
