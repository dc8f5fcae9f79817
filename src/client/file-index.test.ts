import { describe, expect, it } from 'vitest';
import { FileIndex } from './file-index.js';
import { fuzzyScore } from './fuzzy.js';

const { signal } = new AbortController();

function best(typed: string, ...paths: readonly string[]): readonly string[] {
  return paths
    .map((path) => ({ path, score: fuzzyScore(path.toLowerCase(), typed) }))
    .filter(({ score }) => score >= 0)
    .sort((a, b) => b.score - a.score)
    .map(({ path }) => path);
}

describe('the score of a path', () => {
  it('prefers names to directories, beginnings to middles, whole text to letters', () => {
    expect(best('app', 'src/wrapper.ts', 'app/x.ts', 'src/app.ts', 'src/a-p-p.ts')).toEqual([
      'src/app.ts',
      'src/wrapper.ts',
      'app/x.ts',
      'src/a-p-p.ts',
    ]);
    expect(best('tr', 'src/client/turn-runner.ts', 'src/retry.ts')[0]).toBe('src/retry.ts');
    expect(best('turnrun', 'src/client/turn-runner.ts')).toHaveLength(1);
    expect(best('clitr', 'src/client/turn-runner.ts')).toHaveLength(1);
    expect(best('xyz', 'src/client/turn-runner.ts')).toEqual([]);
  });

  it('puts what is near first where nothing is typed', () => {
    expect(best('', 'a/b/c.ts', 'a/', 'top.ts', 'a/b/')).toEqual([
      'a/',
      'top.ts',
      'a/b/',
      'a/b/c.ts',
    ]);
  });
});

describe('the index of a project', () => {
  it('finds files and directories, and follows changes after a moment', async () => {
    const lists = [['src/app.ts', 'README.md'], ['src/new-app.ts']];
    const index = new FileIndex(async () => lists.shift() ?? []);
    const search = (typed: string, cwd = '/p') => index.search({ typed, cwd, limit: 5 }, signal);
    expect(await search('src')).toEqual(['src/', 'src/app.ts']);
    expect(await search('rdme')).toEqual(['README.md']);
    expect(await search('app', '/elsewhere')).toEqual(['src/new-app.ts']);
  });

  it('gives what it can after a listing that failed', async () => {
    let count = 0;
    const index = new FileIndex(async () => {
      if (++count === 1) throw new Error('no');
      return ['a.ts'];
    });
    const query = { typed: 'a', cwd: '/p', limit: 5 };
    await expect(index.search(query, signal)).rejects.toThrow('no');
    expect(await index.search(query, signal)).toEqual(['a.ts']);
  });

  it('leaves keys their time with 100,000 files', async () => {
    const files = Array.from(
      { length: 100_000 },
      (_, at) => `packages/part-${at % 700}/src/area-${at % 90}/file-number-${at}.ts`,
    );
    const index = new FileIndex(async () => files);
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    let found: readonly string[] = [];
    for (const typed of ['f', 'fi', 'file', 'file99', 'pkgfile', 'nosuchname']) {
      found = await index.search({ typed, cwd: '/p', limit: 50 }, signal);
      expect(found.length).toBe(typed === 'nosuchname' ? 0 : 50);
    }
    clearInterval(timer);
    // A search takes some 30 ms; no part of it may hold the event loop. Generous, for busy machines.
    expect(longest).toBeLessThan(500);
  });

  it('stops a search that nobody waits for', async () => {
    const files = Array.from({ length: 100_000 }, (_, at) => `some/long/way/to/file-${at}`);
    const index = new FileIndex(async () => files);
    const leaving = new AbortController();
    await index.search({ typed: 'f', cwd: '/p', limit: 5 }, signal);
    leaving.abort();
    expect(await index.search({ typed: 'wayfile', cwd: '/p', limit: 5 }, leaving.signal)).toEqual(
      [],
    );
  });
});
