import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../platform/hash.js';
import { openBlobStore } from '../disk/blob-store.js';
import type { NodeState, TreeChange } from '../types.js';
import { openTracker } from './tracker.js';

let work: string;

beforeAll(() => {
  work = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'portcullis-looks-')));
});

afterAll(() => {
  rmSync(work, { recursive: true, force: true });
});

const NAMES = ['a', 'b', 'c d', '-x', 'é'];
const place = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 });
const operation = fc.oneof(
  fc.record({
    op: fc.constant('write' as const),
    at: place,
    text: fc.constantFrom('1', '2', '33'),
  }),
  fc.record({ op: fc.constant('remove' as const), at: place }),
  fc.record({ op: fc.constant('mkdir' as const), at: place }),
  fc.record({ op: fc.constant('move' as const), at: place, to: place }),
  fc.record({ op: fc.constant('link' as const), at: place, target: fc.constantFrom('a', '/etc') }),
  fc.record({ op: fc.constant('mode' as const), at: place, mode: fc.constantFrom(0o600, 0o755) }),
  fc.record({ op: fc.constant('swap' as const), at: place, to: place }),
  fc.record({ op: fc.constant('bring' as const), at: place }),
  fc.record({ op: fc.constant('name' as const), at: place, to: place }),
  fc.record({
    op: fc.constant('overwrite' as const),
    at: place,
    text: fc.constantFrom('1', '2'),
  }),
  fc.record({ op: fc.constant('recreate' as const), at: place }),
  fc.record({ op: fc.constant('relink' as const), at: place }),
  fc.record({ op: fc.constant('touch' as const), at: place }),
  fc.record({ op: fc.constant('keep' as const), at: place }),
  fc.record({ op: fc.constant('wait' as const) }),
  fc.record({ op: fc.constant('look' as const) }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Time stamps may lag the clock by this much. */
const TICK_MS = 20;
type Deed = Exclude<Operation, { op: 'look' | 'keep' | 'wait' }>;

/** Impossible operations have no effect, as in a shell. */
function perform(root: string, stock: string, one: Deed): void {
  const at = path.join(root, ...one.at);
  try {
    // Nothing may be written through a link.
    if (realpathSync(path.dirname(at)) !== path.dirname(at)) return;
    const isLink = lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (!isLink || DEEDS_ON_LINKS.has(one.op)) DEEDS[one.op](at, one as never, { root, stock });
  } catch {
    // The path is missing or of another kind.
  }
}

const DEEDS_ON_LINKS: ReadonlySet<Deed['op']> = new Set([
  'remove',
  'mkdir',
  'move',
  'link',
  'relink',
  'swap',
  'bring',
]);

const DEEDS: {
  readonly [Op in Deed['op']]: (
    at: string,
    one: Extract<Deed, { op: Op }>,
    places: { readonly root: string; readonly stock: string },
  ) => void;
} = {
  write: (at, { text }) => writeFileSync(at, text),
  remove: (at) => rmSync(at, { recursive: true, force: true }),
  mkdir: (at) => mkdirSync(at),
  move: (at, { to }, { root }) => renameSync(at, path.join(root, ...to)),
  link: (at, { target }) => symlinkSync(target, at),
  mode: (at, { mode }) => chmodSync(at, mode),
  /** Both keep their content, however old. */
  swap(at, { to }, { root, stock }) {
    const other = path.join(root, ...to);
    if (realpathSync(path.dirname(other)) !== path.dirname(other)) return;
    if (`${at}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${at}/`)) return;
    lstatSync(other);
    renameSync(at, path.join(stock, 'between'));
    renameSync(other, at);
    renameSync(path.join(stock, 'between'), other);
  },
  /** An old entry replaces this one, directories included. */
  bring(at, _, { stock }) {
    const [name] = readdirSync(stock);
    if (name === undefined) return;
    if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) {
      renameSync(at, path.join(stock, `z${process.hrtime.bigint()}`));
    }
    renameSync(path.join(stock, name), at);
  },
  name: (at, { to }, { root }) => linkSync(at, path.join(root, ...to)),
  overwrite(at, { text }) {
    const fd = openSync(at, 'r+');
    writeSync(fd, text);
    closeSync(fd);
  },
  recreate(at) {
    const bytes = readFileSync(at);
    unlinkSync(at);
    writeFileSync(at, bytes.fill('9'));
  },
  relink(at) {
    const target = readlinkSync(at);
    unlinkSync(at);
    symlinkSync(target === 'a' ? 'b' : 'a', at);
  },
  touch: (at) => utimesSync(at, 1_000_000_000, 1_000_000_000),
};

/** The reference: the whole tree, reread. */
function picture(root: string): Map<string, string> {
  const all = new Map<string, string>();
  const visit = (directory: string): void => {
    for (const name of readdirSync(path.join(root, directory))) {
      const at = path.join(directory, name);
      const full = path.join(root, at);
      const stat = lstatSync(full);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isDirectory()) {
        all.set(at, `directory ${mode}`);
        visit(at);
      } else if (stat.isSymbolicLink()) all.set(at, `link ${readlinkSync(full)}`);
      else all.set(at, `file ${mode} ${sha256(readFileSync(full))}`);
    }
  };
  visit('');
  return all;
}

function shown(state: NodeState): string {
  switch (state.kind) {
    case 'file':
      return `file ${state.mode.toString(8)} ${state.blob}`;
    case 'directory':
      return `directory ${state.mode.toString(8)}`;
    case 'link':
      return `link ${state.target}`;
    case 'special':
      return 'special';
  }
}

/** Each change must begin with the state in which the previous one ended. */
function apply(known: Map<string, string>, changes: readonly TreeChange[]): void {
  for (const { path: at, before, after } of changes) {
    expect(known.get(at)).toBe(before === undefined ? undefined : shown(before));
    if (after === undefined) known.delete(at);
    else known.set(at, shown(after));
  }
}

const sorted = (map: ReadonlyMap<string, string>): string[][] =>
  [...map].sort(([one], [other]) => (one < other ? -1 : 1));

describe('looks', () => {
  it('add up to what stands there', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
        const root = path.join(work, `walk-${run++}`);
        mkdirSync(root);
        for (const name of ['a', 'b']) {
          mkdirSync(path.join(root, name));
          writeFileSync(path.join(root, name, 'c d'), name);
        }
        const stock = path.join(work, 'stock');
        for (const name of ['p', 'q']) {
          mkdirSync(path.join(stock, name, 'a'), { recursive: true });
          for (const at of ['b', 'a/a', 'a/b']) writeFileSync(path.join(stock, name, at), name);
        }
        const store = openBlobStore({ directory: path.join(work, 'store') });
        const tracker = openTracker({ root, store });
        try {
          await tracker.ready;
          const known = picture(root);
          for (const one of operations) {
            if (one.op === 'keep') await tracker.keep(one.at.join('/'));
            else if (one.op === 'wait') await sleep(TICK_MS + 5);
            else if (one.op !== 'look') perform(root, stock, one);
            else {
              const { changes } = await tracker.look();
              apply(known, changes);
              expect(sorted(known)).toEqual(sorted(picture(root)));
            }
          }
          apply(known, (await tracker.look()).changes);
          expect(sorted(known)).toEqual(sorted(picture(root)));
          for (const [at, state] of known) expect(shownOf(tracker.known(at))).toBe(state);
          expect((await tracker.look()).changes).toEqual([]);
        } finally {
          await tracker.close();
          rmSync(root, { recursive: true, force: true });
          rmSync(stock, { recursive: true, force: true });
        }
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});

function shownOf(state: NodeState | undefined): string | undefined {
  return state === undefined ? undefined : shown(state);
}
