import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pathOf } from '../env/tree-node.js';
import { openTreeScan, type TreeScan } from '../env/tree-scan.js';
import { SLACK_MS, systemTimes, type TimeSources } from '../env/tree-times.js';
import { applyObservations } from './tree-changes.js';

/** Files that never change. Who looks at all of them has walked. */
const STILL = 60;
/** What a stamp may lie below the clock. */
const TICK_MS = 20;

let work: string;
let root: string;
let outside: string;
let skewMs: number;
let onMounts: () => void;

/** With hardly any slack, so that what was made a moment ago is old already. */
const sources: TimeSources = {
  ...systemTimes,
  clock: {
    now: () => Date.now() + SLACK_MS - TICK_MS + skewMs,
    monotonic: systemTimes.clock.monotonic,
  },
  mounts() {
    onMounts();
    return systemTimes.mounts();
  },
};

const open = (useFind: boolean): TreeScan =>
  openTreeScan({
    root,
    excluded: [],
    honoursIgnoreFiles: true,
    maxEntries: 10_000,
    useFind,
    findFrom: 1,
    timeSources: sources,
  });

const at = (...names: string[]): string => path.join(root, ...names);
const put = (name: string, text: string): void => writeFileSync(at(name), text);

function makeTree(): void {
  mkdirSync(at('still'), { recursive: true });
  for (let count = 0; count < STILL; count++) put(`still/${count}`, 'x');
  mkdirSync(at('d/sub/deep'), { recursive: true });
  mkdirSync(at('e'));
  for (const name of ['d/a', 'd/b', 'd/sub/c', 'd/sub/deep/f', 'e/g', 'top']) put(name, 'one');
  symlinkSync('a', at('d/link'));
  mkdirSync(path.join(outside, 'old/in'), { recursive: true });
  writeFileSync(path.join(outside, 'old/a'), 'from outside');
  writeFileSync(path.join(outside, 'old/in/h'), 'from outside');
  writeFileSync(path.join(outside, 'old/in/i'), 'from outside');
  writeFileSync(path.join(outside, 'file'), 'two');
  linkSync(at('d/b'), path.join(outside, 'b'));
}

/** All that is known, or all that stands there. */
function dump({ tree }: TreeScan): string[] {
  return [...tree.nodes()]
    .map((node) => {
      const { state, mode, size, ino, ctime } = node;
      const about = state.kind === 'directory' ? [mode, ino] : [mode, size, ino, ctime];
      const target = state.kind === 'link' ? state.target : '';
      return `${pathOf(node)} ${state.kind} ${about.join(' ')} ${target}`;
    })
    .sort();
}

/** Looks, takes in what was found, and says how many entries were looked at. */
async function look(scan: TreeScan): Promise<number> {
  const { observations, entries } = await scan.scan();
  await applyObservations(scan.tree, observations, false);
  return entries;
}

async function expectAllKnown(scan: TreeScan): Promise<void> {
  const reference = open(false);
  await look(reference);
  expect(dump(scan)).toEqual(dump(reference));
}

beforeEach(() => {
  work = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'portcullis-newer-')));
  root = path.join(work, 'project');
  outside = path.join(work, 'outside');
  skewMs = 0;
  onMounts = () => {};
  makeTree();
});

afterEach(() => {
  rmSync(work, { recursive: true, force: true });
});

/** Everything there is old, and known. */
async function settled(): Promise<TreeScan> {
  await sleep(3 * TICK_MS);
  const scan = open(true);
  await look(scan);
  await sleep(2 * TICK_MS);
  expect(await look(scan)).toBe(0);
  return scan;
}

const OLD = new Date(1_000_000_000_000);

const CHANGES: readonly (readonly [string, () => void])[] = [
  ['nothing', () => {}],
  ['a write', () => put('d/sub/deep/f', 'changed')],
  ['a write of the same length', () => put('d/a', 'two')],
  [
    'a write in place, with the time set back',
    () => {
      const fd = openSync(at('d/a'), 'r+');
      writeSync(fd, 'two');
      closeSync(fd);
      utimesSync(at('d/a'), OLD, OLD);
    },
  ],
  ['an append', () => appendFileSync(at('top'), 'more')],
  ['a cut', () => truncateSync(at('top'), 1)],
  ['only a time', () => utimesSync(at('d/a'), OLD, OLD)],
  ['a mode', () => chmodSync(at('d/a'), 0o600)],
  ['the mode of a directory', () => chmodSync(at('d/sub'), 0o700)],
  ['a new file', () => put('e/new', 'new')],
  ['a new file in the root', () => put('new', 'new')],
  ['a file that has gone', () => unlinkSync(at('d/sub/c'))],
  ['a file that has gone from the root', () => unlinkSync(at('top'))],
  [
    'a file that went and came again',
    () => {
      unlinkSync(at('d/a'));
      put('d/a', 'two');
    },
  ],
  ['a tree that has gone', () => rmSync(at('d'), { recursive: true })],
  ['a tree that has moved', () => renameSync(at('d/sub'), at('e/sub'))],
  ['a tree that has moved up', () => renameSync(at('d/sub/deep'), at('deep'))],
  ['an old tree from outside', () => renameSync(path.join(outside, 'old'), at('e/old'))],
  [
    'an old tree in the place of another',
    () => {
      renameSync(at('d/sub'), path.join(outside, 'away'));
      renameSync(path.join(outside, 'old'), at('d/sub'));
    },
  ],
  [
    'an old tree in the place of another, with the times of the old one',
    () => {
      const { atime, mtime } = lstatSync(at('d'));
      renameSync(at('d/sub'), path.join(outside, 'away'));
      renameSync(path.join(outside, 'old'), at('d/sub'));
      utimesSync(at('d'), atime, mtime);
    },
  ],
  ['an old file over another', () => renameSync(path.join(outside, 'file'), at('d/a'))],
  ['one file over another', () => renameSync(at('d/a'), at('d/b'))],
  [
    'two files that changed places',
    () => {
      renameSync(at('d/a'), at('d/x'));
      renameSync(at('d/b'), at('d/a'));
      renameSync(at('d/x'), at('d/b'));
    },
  ],
  [
    'two trees that changed places',
    () => {
      renameSync(at('d'), at('x'));
      renameSync(at('e'), at('d'));
      renameSync(at('x'), at('e'));
    },
  ],
  [
    'a tree that left, was changed and came back',
    () => {
      renameSync(at('d/sub'), path.join(outside, 'sub'));
      writeFileSync(path.join(outside, 'sub/deep/f'), 'elsewhere');
      renameSync(path.join(outside, 'sub'), at('d/sub'));
    },
  ],
  ['a link that leads elsewhere', () => relink(at('d/link'), 'b')],
  [
    'a tree that became a link to another',
    () => {
      renameSync(at('d/sub'), path.join(outside, 'away'));
      symlinkSync(path.join(outside, 'old'), at('d/sub'));
    },
  ],
  [
    'a tree that became a file',
    () => {
      rmSync(at('d/sub'), { recursive: true });
      put('d/sub', 'file');
    },
  ],
  [
    'a file that became a tree',
    () => {
      unlinkSync(at('d/a'));
      renameSync(path.join(outside, 'old'), at('d/a'));
    },
  ],
  ['a second name of a file', () => linkSync(at('d/a'), at('e/a'))],
  ['a write through a name outside', () => writeFileSync(path.join(outside, 'b'), 'two')],
  ['an empty directory', () => mkdirSync(at('e/empty'))],
  [
    'a directory that went and came again, empty',
    () => {
      rmSync(at('e'), { recursive: true });
      mkdirSync(at('e'));
    },
  ],
  ['a pipe in the place of a file', () => mkfifo(at('d/a'))],
];

function relink(place: string, target: string): void {
  unlinkSync(place);
  symlinkSync(target, place);
}

function mkfifo(place: string): void {
  unlinkSync(place);
  expect(spawnSync('mkfifo', [place]).status).toBe(0);
}

describe('a look for what is newer than the last one', () => {
  it.each(CHANGES)('sees what a walk sees: %s', async (_, change) => {
    const scan = await settled();
    change();
    expect(await look(scan)).toBeLessThan(STILL);
    await expectAllKnown(scan);
    await sleep(2 * TICK_MS);
    expect(await look(scan)).toBeLessThan(STILL);
    expect(await look(scan)).toBe(0);
    await expectAllKnown(scan);
  });

  it.each(CHANGES)('sees at the next time what came while it looked: %s', async (_, change) => {
    const scan = await settled();
    put('e/g', 'something else');
    const looking = scan.scan();
    change();
    const { observations } = await looking;
    await applyObservations(scan.tree, observations, false);
    await look(scan);
    await expectAllKnown(scan);
  });

  it.each(CHANGES)('sees what came after it in the same moment: %s', async (_, change) => {
    const scan = await settled();
    put('d/a', '111');
    put('e/other', 'x');
    await look(scan);
    change();
    await look(scan);
    await expectAllKnown(scan);
  });

  it.each(CHANGES.slice(1, 5))(
    'sees what came after the clock was set back: %s',
    async (_, change) => {
      // All looks so far were an hour ahead of the times of files.
      skewMs = 3_600_000;
      await sleep(3 * TICK_MS);
      const scan = open(true);
      await look(scan);
      await look(scan);
      skewMs = 0;
      change();
      expect(await look(scan)).toBeGreaterThanOrEqual(STILL);
      await expectAllKnown(scan);
    },
  );

  it('goes through everything where it cannot be told what is mounted', async () => {
    const scan = await settled();
    onMounts = () => {
      throw new Error('no such file');
    };
    put('d/a', 'two');
    expect(await look(scan)).toBeGreaterThanOrEqual(STILL);
    await expectAllKnown(scan);
  });

  it('goes through everything after a look that was lost', async () => {
    const scan = await settled();
    put('d/a', 'two');
    renameSync(path.join(outside, 'old'), at('d/sub/old'));
    await scan.scan();
    scan.distrust();
    await sleep(3 * TICK_MS);
    expect(await look(scan)).toBeGreaterThanOrEqual(STILL);
    await expectAllKnown(scan);
    expect(await look(scan)).toBeLessThan(STILL);
  });

  it('goes through everything when the root is another directory', async () => {
    const scan = await settled();
    renameSync(root, path.join(work, 'away'));
    renameSync(path.join(outside, 'old'), root);
    await look(scan);
    await expectAllKnown(scan);
  });

  it('goes through everything when rules have changed, and loses no name over it', async () => {
    const scan = await settled();
    put('d/new', 'new');
    renameSync(path.join(outside, 'old'), at('d/sub/old'));
    unlinkSync(at('e/g'));
    put('d/sub/.gitignore', '*.log\n');
    put('d/sub/x.log', 'x');
    await look(scan);
    expect([...scan.tree.nodes()].map(pathOf)).toEqual(
      expect.arrayContaining(['d/new', 'd/sub/old/in/h', 'd/sub/.gitignore', 'd/sub/x.log']),
    );
    expect(scan.tree.find('e/g')).toBeUndefined();
  });

  it('goes into a directory that became known by one path in it', async () => {
    const scan = await settled();
    renameSync(path.join(outside, 'old'), at('e/old'));
    const known = ['e/old', 'e/old/in', 'e/old/in/h'];
    const stats = known.map((one) => ({ path: one, stat: scan.stat(one) }));
    await applyObservations(
      scan.tree,
      stats.flatMap(({ path: one, stat }) => (stat === undefined ? [] : [{ path: one, stat }])),
      false,
    );
    for (const one of known) scan.recheck(one);
    expect(await look(scan)).toBeLessThan(STILL);
    await expectAllKnown(scan);
  });

  // Nothing is refused to root.
  const asUser = it.skipIf(process.getuid?.() === 0);
  asUser('walks again where a directory cannot be read any more, and when it can', async () => {
    const scan = await settled();
    chmodSync(at('d/sub'), 0);
    expect((await scan.scan()).gaps.unreadable).toEqual(['d/sub']);
    chmodSync(at('d/sub'), 0o755);
    put('d/sub/new', 'new');
    await look(scan);
    await expectAllKnown(scan);
  });
});
