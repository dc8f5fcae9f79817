import { describe, expect, it } from 'vitest';
import { isSameVersion, stampOf } from '../env/file-version.js';
import type { FileStat } from '../env/fs.js';
import { isPlainFile, PlainFile, realPathIn } from './plain-file.js';

const STAT: FileStat = {
  kind: 'file',
  size: 3,
  mode: 0o644,
  mtimeMs: 1,
  ctimeMs: 2,
  inode: 4,
  device: 5,
};

describe('a plain file', () => {
  it('is a regular one of nobody else, up to a size', () => {
    expect(isPlainFile(STAT, 3)).toBe(true);
    expect(isPlainFile(STAT, 2)).toBe(false);
    expect(isPlainFile({ ...STAT, foreign: true }, 3)).toBe(false);
    expect(isPlainFile({ ...STAT, kind: 'symlink' }, 3)).toBe(false);
  });

  it.each([{ size: 9 }, { mtimeMs: 9 }, { ctimeMs: 9 }, { inode: 9 }, { device: 9 }])(
    'is another version with another %o',
    (change) => {
      expect(isSameVersion(STAT, { ...STAT })).toBe(true);
      expect(isSameVersion(STAT, { ...STAT, ...change })).toBe(false);
      expect(stampOf({ ...STAT, ...change })).not.toBe(stampOf(STAT));
    },
  );

  it('has the stamp of its version', () => {
    const wanted = { path: '/p/x.md', scope: 'project' } as const;
    expect(new PlainFile(wanted, '/real/x.md', STAT)).toMatchObject({
      real: '/real/x.md',
      bytes: 3,
      stamp: stampOf(STAT),
    });
  });

  it('lies in the real directory under its own name', () => {
    expect(realPathIn('/real/rules', '/link/rules/x.md')).toBe('/real/rules/x.md');
  });
});
