import { describe, expect, it } from 'vitest';
import { type EntryStat, KnownTree } from './tree-node.js';
import { divideTree } from './tree-parts.js';

const FILE: EntryStat = { kind: 'file', mode: 0o644, size: 0, ino: 7, ctime: 1 };
const DIRECTORY: EntryStat = { ...FILE, kind: 'directory', mode: 0o755 };
const NONE: ReadonlySet<string> = new Set();

function treeOf(counts: ReadonlyMap<string, number>): KnownTree {
  const tree = new KnownTree();
  for (const [directory, count] of counts) {
    const names = directory.split('/');
    for (let depth = 1; depth <= names.length; depth++) {
      const path = names.slice(0, depth).join('/');
      if (tree.find(path) === undefined) {
        tree.add(path, DIRECTORY, { kind: 'directory', mode: 0o755 });
      }
    }
    for (let at = 0; at < count; at++) {
      tree.add(`${directory}/${at}`, FILE, { kind: 'file', size: 0, mode: 0o644 });
    }
  }
  return tree;
}

const even = (directories: number, files: number): KnownTree =>
  treeOf(new Map(Array.from({ length: directories }, (_, at) => [`d${at}`, files])));

describe('the division of a tree', () => {
  it.each([
    [50, 2],
    [100, 2],
    [100, 4],
    [3, 2],
  ])('is even where %d directories hold the same (%d parts)', (directories, count) => {
    const parts = divideTree(even(directories, 100).root, count, NONE);
    const shares = parts.slice(1).map(({ starts }) => starts.length);
    const rest = directories - shares.reduce((sum, share) => sum + share, 0);
    expect(parts).toHaveLength(count);
    if (directories > 10 * count) {
      for (const share of [rest, ...shares]) {
        expect(share).toBeGreaterThan((0.6 * directories) / count);
      }
    }
    expect(parts[0]).toEqual({ starts: [], closed: parts.flatMap(({ starts }) => starts) });
  });

  it('goes into the one directory that holds everything', () => {
    const tree = treeOf(
      new Map([
        ['all/one', 500],
        ['all/other', 500],
      ]),
    );
    const [rest, part] = divideTree(tree.root, 2, NONE);
    expect(part?.starts).toHaveLength(1);
    expect(rest?.closed).toEqual(part?.starts);
    expect(part?.starts[0]).toMatch(/^all\//);
  });

  it('starts nowhere in what is closed', () => {
    const tree = treeOf(
      new Map([
        ['shut/in', 500],
        ['open', 300],
      ]),
    );
    for (const { starts } of divideTree(tree.root, 2, new Set(['shut']))) {
      expect(starts.some((start) => start.startsWith('shut'))).toBe(false);
    }
  });

  it('is one part for one processor, for many small directories, and for nothing', () => {
    const whole = [{ starts: [], closed: [] }];
    expect(divideTree(even(4, 100).root, 1, NONE)).toEqual(whole);
    expect(divideTree(even(2_000, 5).root, 2, NONE)).toEqual(whole);
    expect(divideTree(new KnownTree().root, 4, NONE)).toEqual(whole);
  });
});
