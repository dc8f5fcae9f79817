import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Checkpoints } from '../../src/checkpoint/checkpoints.js';
import { openBlobStore } from '../../src/checkpoint/disk/blob-store.js';
import { openCheckpoints } from '../../src/checkpoint/open.js';
import { openTracker } from '../../src/checkpoint/scan/tracker.js';
import type { Author, RewindTarget } from '../../src/checkpoint/types.js';
import { cases } from '../support/counts.js';
import { statesIn } from './tree-states.js';

const RUNS = cases(45, 300);
/** A rewind waits for the disk at every step: where there is one in memory, it is as good for this. */
const FAST_DISK = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();

/** One act on the tree. Names are few, so that acts meet. */
type Act =
  | { readonly do: 'write'; readonly at: string; readonly bytes: Uint8Array; readonly mode: number }
  | { readonly do: 'remove'; readonly at: string }
  | { readonly do: 'rename'; readonly at: string; readonly to: string }
  | { readonly do: 'chmod'; readonly at: string; readonly mode: number }
  | { readonly do: 'link'; readonly at: string; readonly target: string }
  | { readonly do: 'mkdir'; readonly at: string; readonly mode: number };

type Step =
  | { readonly who: 'agent'; readonly windows: number; readonly acts: readonly Act[] }
  | { readonly who: 'user'; readonly name: string; readonly bytes: Uint8Array };

const NAMES = ['a', 'b', 'd', 'd/a', 'd/b', 'd/e', 'd/e/a', 'f', 'f/a', 'new\nline', '-rf'];
const name = fc.constantFrom(...NAMES);
const fileMode = fc.constantFrom(0o644, 0o755, 0o600, 0o444);
const directoryMode = fc.constantFrom(0o755, 0o700, 0o555);
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  fc.constantFrom('one\n', 'one\ntwo\n', 'héllo\n').map((text) => Buffer.from(text)),
);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('write'), at: name, bytes, mode: fileMode }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove'), at: name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rename'), at: name, to: name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('chmod'), at: name, mode: fileMode }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('link'),
      at: name,
      target: fc.constantFrom('a', '../outside', '/nowhere', 'd'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('mkdir'), at: name, mode: directoryMode }) },
);
const step = (usersNames: fc.Arbitrary<string>): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        who: fc.constant('agent'),
        windows: fc.integer({ min: 1, max: 3 }),
        acts: fc.array(act, { minLength: 1, maxLength: 5 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        who: fc.constant('user'),
        name: usersNames,
        bytes,
      }),
    },
  );
const start = fc.array(act, { maxLength: 8 });

let base: string;
let round = 0;

beforeAll(() => {
  base = fs.realpathSync(fs.mkdtempSync(path.join(FAST_DISK, 'rewind-')));
});
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

describe('random sequences', () => {
  it('restore exactly what stood before, keep what the person did, and can be redone', async () => {
    const how = fc.record({ call: fc.nat({ max: 4 }), resume: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        start,
        fc.array(step(fc.constantFrom('mine', 'notes')), { minLength: 1, maxLength: 5 }),
        how,
        async (acts, steps, { call, resume }) => {
          const place = newPlace();
          for (const one of acts) perform(place.root, one);
          let checkpoints = await open(place);
          checkpoints.mark('m1', 'first');
          const played = await play(place.root, checkpoints, steps);
          const after = shown(place.root);
          if (resume) {
            await checkpoints.close();
            checkpoints = await open(place);
          }
          const point = played[call % played.length];
          const target: RewindTarget =
            point?.call === undefined
              ? { kind: 'message', messageId: 'm1' }
              : { kind: 'call', toolUseId: point.call };
          const before = withUsersFiles((point?.call ? point : played[0])?.before, after);

          const result = await checkpoints.rewind(target);
          expect(result).toMatchObject({
            kind: 'done',
            failed: [],
            plan: { conflicts: [], impossible: [] },
          });
          expect(shown(place.root)).toEqual(before);

          const redone = await checkpoints.redo();
          expect(redone).toMatchObject(
            isSame(before, after) ? { kind: 'refused' } : { kind: 'done', failed: [] },
          );
          expect(shown(place.root)).toEqual(after);

          await checkpoints.rewind(target);
          expect(shown(place.root)).toEqual(before);
          await checkpoints.close();
          fs.rmSync(place.home, { recursive: true });
        },
      ),
      { numRuns: RUNS },
    );
  }, 300_000);

  it('never lose what the person wrote last, wherever that was', async () => {
    await fc.assert(
      fc.asyncProperty(
        start,
        fc.array(step(name), { minLength: 1, maxLength: 6 }),
        async (acts, steps) => {
          const place = newPlace();
          for (const one of acts) perform(place.root, one);
          const checkpoints = await open(place);
          checkpoints.mark('m1', 'first');
          const played = await play(place.root, checkpoints, steps);
          const before = played[0]?.before ?? new Map();
          const users = new Map(played.flatMap(({ user }) => (user === undefined ? [] : [user])));
          const after = shown(place.root);

          const result = await checkpoints.rewind({ kind: 'message', messageId: 'm1' });
          expect(result).toMatchObject({ kind: 'done', failed: [] });
          const now = shown(place.root);
          for (const [at, state] of users) {
            // What an agent wrote over or took away afterwards was the agent's.
            if (after.get(at) === state) expect([at, now.get(at)]).toEqual([at, state]);
          }
          for (const at of NAMES.filter((each) => ![...users.keys()].some(isNear(each)))) {
            expect([at, now.get(at)]).toEqual([at, before.get(at)]);
          }
          await checkpoints.close();
          fs.rmSync(place.home, { recursive: true });
        },
      ),
      { numRuns: RUNS / 3 },
    );
  }, 300_000);
});

/** Above, below or the same. */
function isNear(a: string): (b: string) => boolean {
  return (b) => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

interface Played {
  /** What stood there before the step. */
  readonly before: Map<string, string>;
  readonly call?: string;
  /** What the person left behind. */
  readonly user?: readonly [string, string];
}

async function play(
  root: string,
  checkpoints: Checkpoints,
  steps: readonly Step[],
): Promise<readonly Played[]> {
  await checkpoints.changes();
  const played: Played[] = [];
  for (const [index, one] of steps.entries()) {
    const before = shown(root);
    if (one.who === 'user') {
      const act: Act = { do: 'write', at: one.name, bytes: one.bytes, mode: 0o644 };
      const isDone = !leadsElsewhere(root, one.name) && perform(root, act);
      const wrote = isDone ? shown(root).get(one.name) : undefined;
      // Nothing is written where it says so already: whose it is has not changed.
      const isNew = wrote !== undefined && wrote !== before.get(one.name);
      played.push(isNew ? { before, user: [one.name, wrote] } : { before });
      continue;
    }
    const windows = await Promise.all(
      Array.from({ length: one.windows }, (_, number) =>
        checkpoints.begin(author(`call-${index}-${number}`)),
      ),
    );
    for (const each of one.acts) perform(root, each);
    for (const window of windows) window.end();
    for (const window of windows) await window.changes;
    played.push({ before, call: `call-${index}-0` });
  }
  return played;
}

function leadsElsewhere(root: string, at: string): boolean {
  const parts = at.split('/').map((_, index, all) => all.slice(0, index + 1).join('/'));
  const states = statesIn(root);
  return parts.some((part) => states.get(part)?.state.kind === 'link');
}

function withUsersFiles(
  before: Map<string, string> | undefined,
  after: Map<string, string>,
): Map<string, string> {
  const mine = [...after].filter(([at]) => at === 'mine' || at === 'notes');
  return new Map([
    ...[...(before ?? [])].filter(([at]) => at !== 'mine' && at !== 'notes'),
    ...mine,
  ]);
}

function author(toolUseId: string): Author {
  return {
    kind: 'call',
    toolUseId,
    tool: 'Bash',
    agent: { id: 'main', type: 'main', path: 'main' },
  };
}

/** Whether it could be done: a name below a file cannot. */
function perform(root: string, act: Act): boolean {
  const full = path.join(root, act.at);
  try {
    switch (act.do) {
      case 'write':
        fs.mkdirSync(path.dirname(full), { recursive: true });
        fs.writeFileSync(full, act.bytes);
        fs.chmodSync(full, act.mode);
        return true;
      case 'remove':
        fs.rmSync(full, { recursive: true, force: true });
        return true;
      case 'rename':
        fs.renameSync(full, path.join(root, act.to));
        return true;
      case 'chmod':
        if (!fs.lstatSync(full).isSymbolicLink()) fs.chmodSync(full, act.mode | 0o700);
        return true;
      case 'link':
        fs.rmSync(full, { recursive: true, force: true });
        fs.symlinkSync(act.target, full);
        return true;
      case 'mkdir':
        fs.mkdirSync(full, { recursive: true });
        fs.chmodSync(full, act.mode);
        return true;
    }
  } catch {
    return false;
  }
}

function shown(root: string): Map<string, string> {
  return new Map([...statesIn(root)].map(([at, { state }]) => [at, JSON.stringify(state)]));
}

function isSame(a: Map<string, string>, b: Map<string, string>): boolean {
  return JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());
}

interface Place {
  readonly home: string;
  readonly root: string;
}

function newPlace(): Place {
  const home = path.join(base, `${++round}`);
  const root = path.join(home, 'tree');
  fs.mkdirSync(root, { recursive: true });
  return { home, root };
}

function open({ home, root }: Place): Promise<Checkpoints> {
  const directory = path.join(home, 'state');
  const store = openBlobStore({ directory });
  return openCheckpoints({
    root,
    directory,
    sessionId: 's',
    store,
    openTracker: () => openTracker({ root, store }),
    waitMs: 20_000,
    smallLookMs: Number.POSITIVE_INFINITY,
  });
}
