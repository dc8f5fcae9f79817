import { describe, expect, it } from 'vitest';
import type { DirectoryEntries } from '../../platform/fs/fs.js';
import { ruleFilesIn } from './rules.js';

const failure = (code: string): Error => Object.assign(new Error(`${code}: no`), { code });

/** Directories by path; an error instead of a list is thrown. */
function disk(directories: Readonly<Record<string, DirectoryEntries | Error>>) {
  return {
    realPath: async (path: string) => path,
    stat: async () => undefined,
    async list(path: string) {
      const found = directories[path] ?? failure('ENOENT');
      if (found instanceof Error) throw found;
      return found;
    },
  };
}

describe('a directory of rules', () => {
  it('tells which part of it cannot be looked into', async () => {
    const fs = disk({
      '/r': [
        { name: 'a.md', kind: 'file' },
        { name: 'shut', kind: 'directory' },
      ],
      '/r/shut': failure('EACCES'),
    });
    const found = await ruleFilesIn(fs, '/r');
    expect(found.files.map(({ path }) => path)).toEqual(['/r/a.md']);
    expect(found.closed).toEqual([
      { path: '/r/shut', why: expect.objectContaining({ code: 'EACCES' }) },
    ]);
  });

  it('that is shut itself is told', async () => {
    const found = await ruleFilesIn(disk({ '/r': failure('EACCES') }), '/r');
    expect(found.closed).toHaveLength(1);
  });

  it('that cannot be reached is told', async () => {
    const fs = { ...disk({}), realPath: () => Promise.reject(failure('ELOOP')) };
    expect((await ruleFilesIn(fs, '/r')).closed).toHaveLength(1);
  });

  it.each(['ENOENT', 'ENOTDIR'])('that is not there (%s) is nothing to tell', async (code) => {
    expect(await ruleFilesIn(disk({ '/r': failure(code) }), '/r')).toEqual({
      files: [],
      closed: [],
      cut: false,
    });
  });
});
