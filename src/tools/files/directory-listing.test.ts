import { describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import type { AnyTool, ToolContext } from '../tool.js';
import { listingTool } from './directory-listing.js';
import { readTool } from './read.js';

async function listed(count: number, hidden: (path: string) => boolean): Promise<string[]> {
  const names = Array.from({ length: count }, (_, at) => `n${String(at).padStart(6, '0')}`);
  const fs = {
    ...nodeFileSystem,
    list: async () => names.map((name) => ({ name, kind: 'file' as const })),
  };
  const tool = listingTool(readTool({ fs }) as unknown as AnyTool, { fs });
  const context = {
    workspace: { cwd: '/' },
    hiding: () => async (path: string) => hidden(path),
  } as unknown as ToolContext;
  const { content } = await tool.run({ file_path: '/d' }, context, {} as never);
  return String(content).split('\n');
}

describe('what is in a directory', () => {
  it('is shown up to a number of names', async () => {
    expect(await listed(0, () => false)).toEqual(['(empty)']);
    expect(await listed(500, () => false)).toHaveLength(500);
    const lines = await listed(501, () => false);
    expect(lines.at(-1)).toBe('[The first 500 of 501. Use Glob for others.]');
    expect(lines).toHaveLength(501);
  });

  it('is looked for behind names that are kept from being read', async () => {
    const lines = await listed(200_000, (path) => path < '/d/n000600');
    expect(lines[0]).toBe('n000600');
    expect(lines.slice(500)).toEqual([
      '[600 more left out: a rule keeps them from being read.]',
      '[The first 1100 of 200000. Use Glob for others.]',
    ]);
  });

  it('is not said to be nothing where nothing may be shown', async () => {
    expect(await listed(3, () => true)).toEqual([
      '[3 more left out: a rule keeps them from being read.]',
    ]);
    let looks = 0;
    const lines = await listed(200_000, () => ++looks > 0);
    expect(looks).toBe(10_000);
    expect(lines.join()).not.toContain('empty');
  });
});
