import { expect, it } from 'vitest';
import type { FileStat } from '../env/fs.js';
import { createFinder } from './policy-find.js';

it('does not lose what it found before in a flood of files', async () => {
  let flood = 0;
  const names = (): string[] => [
    ...Array.from({ length: flood }, (_, index) => `f${index}`),
    'key.pem',
  ];
  const stat = { kind: 'directory', inode: 1, mtimeMs: 0, ctimeMs: 0 } as unknown as FileStat;
  const finder = createFinder(
    {
      lstat: async () => ({ ...stat, mtimeMs: flood }),
      list: async () => names().map((name) => ({ name, kind: 'file' as const })),
    },
    () => 0,
  );
  const order = {
    start: '/p',
    depth: 3,
    question: '**/*.pem',
    take: (path: string) => path.endsWith('.pem'),
  };
  expect(await finder.find(order)).toEqual({ paths: ['/p/key.pem'], partial: false });
  flood = 30_000;
  expect(await finder.find(order)).toEqual({ paths: ['/p/key.pem'], partial: true });
  expect(await finder.find({ ...order, question: 'another' })).toEqual({
    paths: [],
    partial: true,
  });
});
