import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../env/hash.js';
import { openBlobStore, openTracker } from './tracker.js';
import type { NodeState, TreeChange } from './types.js';

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
  fc.record({ op: fc.constant('keep' as const), at: place }),
  fc.record({ op: fc.constant('look' as const) }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** What cannot be done is not done, as in a shell. */
function perform(root: string, one: Exclude<Operation, { op: 'look' | 'keep' }>): void {
  const at = path.join(root, ...one.at);
  try {
    // Nothing may be written through a link.
    if (realpathSync(path.dirname(at)) !== path.dirname(at)) return;
    const isLink = lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    switch (one.op) {
      case 'write':
        if (!isLink) writeFileSync(at, one.text);
        return;
      case 'remove':
        rmSync(at, { recursive: true, force: true });
        return;
      case 'mkdir':
        mkdirSync(at);
        return;
      case 'move':
        renameSync(at, path.join(root, ...one.to));
        return;
      case 'link':
        symlinkSync(one.target, at);
        return;
      case 'mode':
        if (!isLink) chmodSync(at, one.mode);
        return;
    }
  } catch {
    // Nothing stands there, or something else does.
  }
}

/** The reference: everything there is, read anew. */
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

/** Each change begins where the one before it ended. */
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
  it.each([
    [false, 60],
    [true, 40],
  ])(
    'add up to what stands there (by find: %s)',
    async (useFind, numRuns) => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
          const root = path.join(work, `${useFind ? 'find' : 'walk'}-${run++}`);
          mkdirSync(root);
          for (const name of ['a', 'b']) {
            mkdirSync(path.join(root, name));
            writeFileSync(path.join(root, name, 'c d'), name);
          }
          const store = openBlobStore({ directory: path.join(work, 'store') });
          const tracker = openTracker({ root, store, useFind, findFrom: 0 });
          try {
            await tracker.ready;
            const known = picture(root);
            for (const one of operations) {
              if (one.op === 'keep') await tracker.keep(one.at.join('/'));
              else if (one.op !== 'look') perform(root, one);
              else {
                const { changes } = await tracker.look();
                await tracker.settled();
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
            await store.close();
            rmSync(root, { recursive: true, force: true });
          }
        }),
        { numRuns },
      );
    },
    120_000,
  );
});

function shownOf(state: NodeState | undefined): string | undefined {
  return state === undefined ? undefined : shown(state);
}
