import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/clock.js';
import { loadConversation } from '../../src/session/resume.js';
import { chainOf } from '../../src/session/transcript/chain.js';
import { createJsonlStore } from '../../src/session/transcript/jsonl-store.js';
import { cases } from '../support/counts.js';

const KILLS = cases(20, 200);
const AT_ONCE = 4;
/** How often one transcript is taken up again before the next one is begun. */
const KILLS_PER_SESSION = 5;
const LONGEST_LIFE_MS = 25;

const root = mkdtempSync(path.join(tmpdir(), 'session-kill-'));
const program = path.join(root, 'append-forever.mjs');

beforeAll(async () => {
  await build({
    entryPoints: [path.resolve(import.meta.dirname, '../fixtures/bin/append-forever.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Lets the program run for a moment, kills it, and returns what it had acknowledged. */
async function runAndKill(sessionId: string, round: number): Promise<string[]> {
  const acknowledgements = path.join(root, `${sessionId}-${round}.txt`);
  const out = openSync(acknowledgements, 'a');
  try {
    const child = spawn(process.execPath, [program, root, sessionId, `${sessionId}-${round}`], {
      stdio: ['ignore', out, 'pipe'],
    });
    const exit = once(child, 'exit');
    if (child.stderr === null) throw new Error('standard error is not a pipe');
    const [first] = await once(child.stderr, 'data');
    expect(String(first)).toBe('ready\n');
    await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_LIFE_MS));
    child.kill('SIGKILL');
    expect(await exit).toEqual([null, 'SIGKILL']);
  } finally {
    closeSync(out);
  }
  return readFileSync(acknowledgements, 'utf8').split('\n').slice(0, -1);
}

/**
 * Kills the program again and again while it works on one transcript, and looks at it each time.
 * Returns how many entries were acknowledged.
 */
async function torment(sessionId: string): Promise<number> {
  const acknowledged: string[] = [];
  for (let round = 1; round <= KILLS_PER_SESSION; round++) {
    acknowledged.push(...(await runAndKill(sessionId, round)));
    const store = createJsonlStore({ configDir: root, cwd: '/project' });
    const loaded = await store.read(sessionId);
    if (loaded === undefined) {
      expect(acknowledged).toEqual([]);
      continue;
    }
    // Not only readable: on the branch that the conversation goes on from, in the order written.
    const known = new Set(acknowledged);
    const chain = chainOf(loaded).entries.map((entry) => entry.uuid);
    expect(chain.filter((uuid) => known.has(uuid))).toEqual(acknowledged);
    expect(loaded.damagedLines ?? 0).toBeLessThanOrEqual(round);

    for (const entry of loaded.entries) {
      if (entry.type !== 'user' || entry.toolUseResult === undefined) continue;
      const payload = await store.payload(sessionId, entry.toolUseResult);
      expect(payload).toHaveProperty('stdout', expect.stringContaining(`${entry.uuid} `));
    }
    const { messages } = loadConversation(loaded);
    // Four entries make two messages; each kill may leave some that join their neighbours.
    expect(messages.length).toBeGreaterThanOrEqual(acknowledged.length / 2 - 2 * round);
  }
  rmSync(path.join(root, 'projects', '-project', sessionId), { recursive: true, force: true });
  return acknowledged.length;
}

describe('a process that is killed while it writes its transcript', () => {
  it(`has saved all that it had acknowledged, ${KILLS} times`, { timeout: 120_000 }, async () => {
    const sessions = Array.from({ length: KILLS / KILLS_PER_SESSION }, () => systemClock.uuid());
    const tallies: number[] = [];
    const worker = async (): Promise<void> => {
      for (let id = sessions.pop(); id !== undefined; id = sessions.pop()) {
        tallies.push(await torment(id));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(tallies).toHaveLength(KILLS / KILLS_PER_SESSION);
    const acknowledged = tallies.reduce((sum, count) => sum + count, 0);
    expect(acknowledged).toBeGreaterThan(KILLS);
  });
});
