import { describe, expect, it } from 'vitest';
import { dirname, resolve } from '../../platform/fs/paths.js';
import type { SandboxPolicy } from '../types.js';
import { type Disk, type DiskKind, planMounts } from './mounts.js';

/** A fake disk: directories end in a slash, links name their target. */
function diskOf(entries: Readonly<Record<string, string>>): Disk {
  const kinds = new Map<string, DiskKind>([['/', 'directory']]);
  const links = new Map<string, string>();
  for (const [path, target] of Object.entries(entries)) {
    const bare = path.replace(/\/$/, '');
    kinds.set(bare, target !== '' ? 'symlink' : path.endsWith('/') ? 'directory' : 'file');
    if (target !== '') links.set(bare, target);
    for (let up = dirname(bare); up !== '/'; up = dirname(up)) {
      if (!kinds.has(up)) kinds.set(up, 'directory');
    }
  }
  const real = (path: string): string => {
    if (path === '/') return path;
    const place = `${real(dirname(path)).replace(/\/$/, '')}/${path.split('/').at(-1)}`;
    const link = links.get(place);
    return link === undefined ? place : real(resolve(dirname(place), link));
  };
  return {
    kind: (path) => kinds.get(path),
    real,
    link: (path) => links.get(path) ?? '',
    list: (path) =>
      [...kinds.keys()]
        .filter((one) => dirname(one) === path)
        .map((one) => one.split('/').at(-1) ?? ''),
  };
}

const plan = (policy: Partial<SandboxPolicy>, disk: Disk, needed: readonly string[] = []) => {
  const made = planMounts(
    {
      writable: ['/w'],
      protected: [],
      hidden: [],
      shown: [],
      network: { kind: 'none' },
      weaker: {},
      ...policy,
    },
    disk,
    { temporary: ['/tmp'], needed },
  );
  return { ...made, lines: made.mounts.map(({ kind, path }) => `${kind} ${path}`) };
};

describe('planMounts', () => {
  it('makes each directory above a protected path a mount, so that it cannot be moved', () => {
    const { lines } = plan({ protected: ['/w/a/b/c'] }, diskOf({ '/w/a/b/c': '', '/tmp/': '' }));
    expect(lines).toEqual([
      'temporary /tmp',
      'writable /w',
      'writable /w/a',
      'writable /w/a/b',
      'read-only /w/a/b/c',
    ]);
  });

  it('guards the first missing step', () => {
    const made = plan({ protected: ['/w/a/x/y/z', '/w/q'] }, diskOf({ '/w/a/': '' }));
    expect(made.guards).toEqual(['/w/a/x', '/w/q']);
    expect(made.lines).toContain('read-only /w/a/x');
  });

  it('guards nothing inside what is protected already, and nothing outside', () => {
    const made = plan({ protected: ['/w/a', '/w/a/x/y', '/elsewhere/x'] }, diskOf({ '/w/a/': '' }));
    expect(made.guards).toEqual([]);
    expect(made.lines).toEqual(['writable /w', 'read-only /w/a']);
  });

  it('freezes the directory of a link at a protected place, hop by hop', () => {
    const made = plan(
      { protected: ['/w/.claude/x'] },
      diskOf({ '/w/.claude': 'd/hop', '/w/d/hop': '../real', '/w/real/x': '', '/w/file': '' }),
    );
    expect(made.frozen.slice().sort()).toEqual(['/w', '/w/d']);
    expect(made.lines).toEqual([
      'read-only /w',
      'read-only /w/d',
      'writable /w/file',
      'writable /w/real',
      'read-only /w/real/x',
    ]);
  });

  it('refuses loops of links, and a hidden root', () => {
    const loop = diskOf({ '/w/a': 'b', '/w/b': 'a' });
    expect(() => plan({ protected: ['/w/a/x'] }, { ...loop, real: (path) => path })).toThrow(
      'too many',
    );
    expect(() => plan({ hidden: ['/'] }, diskOf({ '/w/': '' }))).toThrow('root');
  });

  it('hides where links lead, and keeps it in its place', () => {
    const { lines } = plan(
      { hidden: ['/w/alias', '/home/key', '/home/missing'] },
      diskOf({ '/w/alias': 'in/vault', '/w/in/vault/k': '', '/home/key': '' }),
    );
    expect(lines).toEqual([
      'writable /w',
      'masked-file /home/key',
      'writable /w/in',
      'masked-tree /w/in/vault',
    ]);
  });

  it('lets the deeper one win, and protects and hides rather than not', () => {
    const disk = diskOf({ '/h/w/x': '', '/h/s/t/': '', '/h/other': '' });
    const { lines } = plan(
      {
        writable: ['/h/w', '/h/w/x'],
        hidden: ['/h', '/h/s/t'],
        shown: ['/h/s', '/h/w'],
        protected: ['/h/other'],
      },
      disk,
    );
    expect(lines).toEqual([
      'masked-tree /h',
      'read-only /h/s',
      'writable /h/w',
      'masked-tree /h/s/t',
    ]);
    const both = plan({ writable: ['/h/w'], hidden: ['/h/w'], shown: ['/h/w'] }, disk);
    expect(both.lines).toEqual(['masked-tree /h/w']);
  });

  it('leaves places for temporary files alone that may be written as they are', () => {
    expect(plan({ writable: ['/tmp'] }, diskOf({ '/tmp/': '' })).lines).toEqual(['writable /tmp']);
    const inside = plan(
      { writable: ['/tmp/w'], hidden: ['/tmp/x'] },
      diskOf({ '/tmp/w/': '', '/tmp/x': '' }),
    );
    expect(inside.lines).toEqual(['temporary /tmp', 'writable /tmp/w']);
  });

  it('shows what runs inside on our behalf, where it would be hidden', () => {
    const disk = diskOf({ '/w/': '', '/h/bin/node': '', '/usr/bin/perl': '' });
    const { lines } = plan({ hidden: ['/h'] }, disk, ['/h/bin/node', '/usr/bin/perl']);
    expect(lines).toEqual(['masked-tree /h', 'writable /w', 'read-only /h/bin/node']);
  });
});
