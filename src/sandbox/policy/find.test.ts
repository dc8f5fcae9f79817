import { mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import type { FileStat } from '../../platform/fs/fs.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { Finder, MOST_ENTRIES } from './find.js';

let project: TempProject | undefined;
afterEach(() => project?.remove());

const order = {
  start: '/p',
  wanted: 'all that **/*.pem names',
  take: (path: string) => path.endsWith('.pem'),
};

it('refuses where there is more than it can look at, whatever it found before', async () => {
  let flood = 0;
  const stat = { kind: 'directory', inode: 1, mtimeMs: 0, ctimeMs: 0 } as unknown as FileStat;
  const names = (): string[] => ['key.pem', ...Array.from({ length: flood }, (_, at) => `f${at}`)];
  const finder = new Finder(
    {
      lstat: async () => ({ ...stat, mtimeMs: flood }),
      list: async () => names().map((name) => ({ name, kind: 'file' as const })),
    },
    () => 0,
  );
  expect(await finder.find(order)).toEqual(['/p/key.pem']);
  flood = MOST_ENTRIES;
  await expect(finder.find(order)).rejects.toThrow(
    /\/p holds more than 200000 files, .* all that \*\*\/\*\.pem names/,
  );
});

it('finds what lies deeper than any project needs', async () => {
  project = makeTempProject();
  const deep = project.at(Array.from({ length: 40 }, (_, at) => `d${at}`).join('/'));
  mkdirSync(deep, { recursive: true });
  writeFileSync(`${deep}/key.pem`, '');
  const finder = new Finder(nodeFileSystem, Date.now);
  expect(await finder.find({ ...order, start: project.directory })).toEqual([`${deep}/key.pem`]);
});

it('enters libraries and repositories for rules, not for names that programs trust', async () => {
  project = makeTempProject();
  for (const name of ['node_modules/a', '.git/info']) {
    mkdirSync(project.at(name), { recursive: true });
    writeFileSync(project.at(`${name}/key.pem`), '');
  }
  const finder = new Finder(nodeFileSystem, Date.now);
  const start = project.directory;
  expect(await finder.find({ ...order, start })).toEqual([]);
  const all = await finder.find({ ...order, start, entersAll: true });
  expect([...all].sort()).toEqual([
    project.at('.git/info/key.pem'),
    project.at('node_modules/a/key.pem'),
  ]);
});

it('does not fail a project for the size of its libraries', async () => {
  const stat = { kind: 'directory', inode: 1, mtimeMs: 0, ctimeMs: 0 } as unknown as FileStat;
  const many = Array.from({ length: MOST_ENTRIES + 1 }, (_, at) => `f${at}`);
  const finder = new Finder(
    {
      lstat: async () => stat,
      list: async (directory) =>
        directory === '/p'
          ? [{ name: 'node_modules', kind: 'directory' as const }]
          : [...many, 'key.pem'].map((name) => ({ name, kind: 'file' as const })),
    },
    () => 0,
  );
  expect(await finder.find({ ...order, entersAll: true })).toEqual(['/p/node_modules/key.pem']);
});

it('takes a directory that cannot be listed as a whole: who owns it can open it inside', async () => {
  const stat = { kind: 'directory', inode: 1, mtimeMs: 0, ctimeMs: 0 } as unknown as FileStat;
  const finder = new Finder(
    {
      lstat: async () => stat,
      list: async (directory) => {
        if (directory !== '/p') throw new Error('EACCES');
        return [{ name: 'closed', kind: 'directory' as const }];
      },
    },
    () => 0,
  );
  expect(await finder.find(order)).toEqual(['/p/closed']);
});
