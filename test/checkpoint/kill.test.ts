import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Checkpoints } from '../../src/checkpoint/checkpoints.js';
import { openBlobStore } from '../../src/checkpoint/disk/blob-store.js';
import { openCheckpoints } from '../../src/checkpoint/open.js';
import { openTracker } from '../../src/checkpoint/scan/tracker.js';
import { statesIn } from './tree-states.js';

const REWIND_KILLS = 15;
const WRITE_KILLS = 10;
const LONGEST_LIFE_MS = 60;
const LONGEST_REWIND_MS = 8;
const FAST_DISK = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();

const base = fs.realpathSync(fs.mkdtempSync(path.join(FAST_DISK, 'checkpoint-kill-')));
const program = path.join(base, 'killed-child.mjs');

beforeAll(async () => {
  await build({
    entryPoints: [path.resolve(import.meta.dirname, 'killed-child.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
});
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

describe('a process that is killed while it rewinds', () => {
  it(`leaves a tree that the next start makes whole, ${REWIND_KILLS} times`, async () => {
    const home = path.join(base, 'rewind');
    const { before, after } = await makeTwoStates(home);
    const seen = { interrupted: 0 };
    for (let round = 0; round < REWIND_KILLS; round++) {
      await runAndKill('rewind', home, async () => {
        if (round % 3 === 0) await anyMoment();
        else await aMomentInARewind(home);
      });
      if (hasPlan(home)) seen.interrupted++;
      // Whoever comes first makes it whole, the session itself or another one.
      const checkpoints = await open(home, round % 2 === 0 ? 'worker' : `other-${round}`);
      expect([before, after]).toContain(shown(home));
      await checkpoints.close();
    }
    expect(seen.interrupted).toBeGreaterThan(0);

    const checkpoints = await open(home, 'worker');
    if (shown(home) === after) {
      const preview = await checkpoints.preview({ kind: 'message', messageId: 'm1' });
      expect(preview).toMatchObject({ conflicts: [] });
      await checkpoints.rewind({ kind: 'message', messageId: 'm1' });
    }
    expect(shown(home)).toBe(before);
    expect(await checkpoints.redo()).toMatchObject({ kind: 'done', failed: [] });
    expect(shown(home)).toBe(after);
    await checkpoints.close();
  }, 300_000);
});

describe('a process that is killed while it writes its journal', () => {
  it(`has kept all that it had acknowledged, ${WRITE_KILLS} times`, async () => {
    for (let round = 0; round < WRITE_KILLS; round++) {
      const home = path.join(base, `write-${round}`);
      const root = path.join(home, 'tree');
      fs.mkdirSync(root, { recursive: true });
      for (let old = 0; old < 7; old++) fs.writeFileSync(path.join(root, `old-${old}`), 'before\n');
      const acknowledged = await runAndKill('write', home, anyMoment);
      const left = shown(home);

      const checkpoints = await open(home, 'worker');
      expect(shown(home)).toBe(left);
      const known = new Set((await checkpoints.changes()).map((change) => change.path));
      for (const call of acknowledged) expect(known).toContain(`new-${call}`);

      const result = await checkpoints.rewind({ kind: 'message', messageId: 'm1' });
      expect(result).toMatchObject({ kind: 'done', failed: [] });
      // The call that was under way is the only one whose files may stand there still.
      const last = acknowledged.length;
      for (const name of fs.readdirSync(root)) {
        if (name.startsWith('new-')) expect(name).toBe(`new-${last}`);
        else if (name !== `old-${last % 7}`) {
          expect(fs.readFileSync(path.join(root, name), 'utf8')).toBe('before\n');
        }
      }
      await checkpoints.close();
    }
  }, 300_000);
});

/** Lets the program run for a moment and kills it. Gives the lines that it had written. */
async function runAndKill(
  what: 'rewind' | 'write',
  home: string,
  moment: () => Promise<void>,
): Promise<string[]> {
  const child = spawn(process.execPath, [program, what, home, 'worker'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (data) => {
    out += String(data);
  });
  const closed = once(child, 'close');
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (data) => {
      errors += String(data);
      if (errors.includes('ready\n')) resolve();
    });
    void closed.then(() => reject(new Error(`it ended by itself: ${errors}`)));
  });
  await moment();
  child.kill('SIGKILL');
  expect(await closed).toEqual([null, 'SIGKILL']);
  expect(errors).toBe('ready\n');
  return out.split('\n').slice(0, -1);
}

async function anyMoment(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_LIFE_MS));
}

/** The paths are put back while the plan is there: a few milliseconds that chance alone would miss. */
async function aMomentInARewind(home: string): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!hasPlan(home) && Date.now() < deadline) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const until = performance.now() + Math.random() * LONGEST_REWIND_MS;
  while (performance.now() < until);
}

function hasPlan(home: string): boolean {
  return fs.readdirSync(path.join(home, 'state/plans')).some((name) => name.endsWith('.json'));
}

/** A tree that a call has changed in every way, with the journal of it. */
async function makeTwoStates(home: string): Promise<{ before: string; after: string }> {
  const root = path.join(home, 'tree');
  const at = (name: string): string => path.join(root, name);
  fs.mkdirSync(at('d/empty'), { recursive: true });
  for (let number = 0; number < 40; number++) {
    fs.writeFileSync(at(`d/file-${number}`), `before ${number}\n`);
  }
  fs.mkdirSync(at('gone/deep'), { recursive: true, mode: 0o700 });
  fs.writeFileSync(at('gone/deep/script'), '#!/bin/sh\n', { mode: 0o755 });
  fs.symlinkSync('d/file-0', at('link'));
  fs.writeFileSync(at('turns'), 'a file\n');
  const before = shown(home);

  const checkpoints = await open(home, 'worker');
  checkpoints.mark('m1', 'change everything');
  const window = await checkpoints.begin({
    kind: 'call',
    toolUseId: 'call-1',
    tool: 'Bash',
    agent: { id: 'main', type: 'main', path: 'main' },
  });
  for (let number = 0; number < 20; number++) {
    fs.writeFileSync(at(`d/file-${number}`), Buffer.from([0, 1, number, 255]));
  }
  for (let number = 20; number < 30; number++) fs.chmodSync(at(`d/file-${number}`), 0o600);
  for (let number = 30; number < 40; number++) {
    fs.renameSync(at(`d/file-${number}`), at(`moved-${number}`));
  }
  fs.rmSync(at('gone'), { recursive: true });
  fs.rmdirSync(at('d/empty'));
  fs.rmSync(at('link'));
  fs.symlinkSync('d', at('link'));
  fs.rmSync(at('turns'));
  fs.mkdirSync(at('turns/into'), { recursive: true });
  fs.writeFileSync(at('turns/into/this'), 'new\n');
  window.end();
  await window.changes;
  const after = shown(home);
  await checkpoints.close();
  fs.mkdirSync(path.join(home, 'state/plans'), { recursive: true, mode: 0o700 });
  return { before, after };
}

function shown(home: string): string {
  const states = statesIn(path.join(home, 'tree'));
  return JSON.stringify([...states].map(([at, { state }]) => [at, state]));
}

function open(home: string, session: string): Promise<Checkpoints> {
  const root = path.join(home, 'tree');
  const directory = path.join(home, 'state');
  const store = openBlobStore({ directory });
  return openCheckpoints({
    root,
    directory,
    sessionId: session,
    store,
    openTracker: () => openTracker({ root, store }),
    waitMs: 20_000,
    smallLookMs: Number.POSITIVE_INFINITY,
  });
}
