import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { LocalFleet } from '../../src/fleet/local/local-fleet.js';
import { migrateFleet } from '../../src/fleet/open.js';
import { openPostgresFleet } from '../../src/fleet/postgres/postgres-fleet.js';
import type { Fleet } from '../../src/fleet/types.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { describeWith } from '../support/programs.js';
import {
  mailOf,
  openRig,
  type Rig,
  type RigWorker,
  snapshotFiles,
  type TaskKind,
  transcriptProblems,
  until,
} from './rig.js';

/** With PORTCULLIS_FLEET_FULL=1 the full proof, small otherwise. */
const FULL = process.env.PORTCULLIS_FLEET_FULL === '1';
const SESSIONS = FULL ? 200 : 12;
const TURNS = FULL ? 5 : 3;
const KILLS = FULL ? 5 : 2;
const LIMIT_MS = FULL ? 1_800_000 : 240_000;
const KINDS: readonly TaskKind[] = ['unsafe', 'keyed', 'write', 'mcp', 'talk'];
const WORKER = ['--slots', '4', '--deadline', '3', '--max-turns', '2'];

vi.setConfig({ hookTimeout: 120_000 });

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server?.stop();
});

/** Sessions that are done, and what went wrong with them. */
async function judge(fleet: Fleet, rig: Rig, ids: readonly string[]): Promise<readonly string[]> {
  const problems: string[] = [];
  const tokens = (kind: TaskKind): string[] =>
    ids.flatMap((_, session) =>
      Array.from({ length: TURNS }, (__, turn) => turn)
        .filter((turn) => KINDS[(session + turn) % KINDS.length] === kind)
        .map((turn) => `s${session}t${turn}`),
    );
  for (const id of ids) {
    const session = await fleet.show(id);
    if (session === undefined) problems.push(`${id} is gone`);
    else problems.push(...(await transcriptProblems(fleet, session)));
    if (session?.turns !== TURNS) problems.push(`${id} has ${session?.turns} turns`);
  }
  const seen = {
    unsafe: rig.effects('unsafe'),
    keyed: rig.effects('keyed'),
    mcp: rig.effects('mcp'),
  };
  for (const token of tokens('unsafe')) {
    if ((seen.unsafe.get(token) ?? 0) > 1) problems.push(`unsafe ${token} happened twice`);
  }
  for (const kind of ['keyed', 'mcp'] as const) {
    for (const token of tokens(kind)) {
      if (seen[kind].get(token) !== 1)
        problems.push(`${kind} ${token}: ${seen[kind].get(token)} times`);
    }
  }
  for (const [at, id] of ids.entries()) {
    const session = await fleet.show(id);
    const files = session === undefined ? [] : snapshotFiles(rig.root, session);
    const written = tokens('write').filter((token) => token.startsWith(`s${at}t`));
    for (const token of written) {
      if (!files.includes(`${token}.txt`))
        problems.push(`${id}: ${token}.txt is not in the snapshot`);
    }
  }
  return problems;
}

async function crash(fleet: Fleet, rig: Rig, sever?: () => void): Promise<void> {
  const ids: string[] = [];
  for (let session = 0; session < SESSIONS; session++) {
    const order = rig.orderWithServer();
    const prompts = Array.from({ length: TURNS }, (_, turn) => {
      const kind = KINDS[(session + turn) % KINDS.length];
      return mailOf(`task:${kind}:s${session}t${turn}`);
    });
    await fleet.submit(order, prompts);
    ids.push(order.id);
  }
  const started = Date.now();
  const workers: RigWorker[] = [1, 2, 3].map(() => rig.startWorker(WORKER));
  const turnsDone = async (): Promise<number> =>
    (await fleet.list({ limit: SESSIONS })).reduce((sum, { turns }) => sum + turns, 0);
  const takeovers: number[] = [];
  const steps = KILLS + 2;
  for (let step = 1; step <= steps; step++) {
    const goal = Math.floor((SESSIONS * TURNS * step) / (steps + 1));
    await until(async () => (await turnsDone()) >= goal, LIMIT_MS);
    const busy = (await fleet.workers()).filter(({ running, lost }) => running > 0 && !lost);
    const victim = workers.find(({ pid }) => busy.some((row) => row.pid === pid));
    if (victim === undefined) continue;
    if (step === KILLS + 1) {
      // Stopped past its deadline: it wakes up after others have taken its sessions, and must leave.
      victim.child.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      victim.child.kill('SIGCONT');
      workers.push(rig.startWorker(WORKER));
      continue;
    }
    if (step === steps) {
      sever?.();
      continue;
    }
    const owned = (await fleet.list({ phase: 'running' })).filter(({ owner }) =>
      busy.some((row) => row.pid === victim.pid && row.id === owner),
    );
    victim.child.kill('SIGKILL');
    const killed = Date.now();
    workers.push(rig.startWorker(WORKER));
    await until(async () => {
      const now = await Promise.all(owned.map(({ order }) => fleet.show(order.id)));
      return now.every((one, at) => one?.owner !== owned[at]?.owner);
    }, 30_000);
    takeovers.push(Date.now() - killed);
  }
  await until(async () => {
    const phases = (await fleet.list({ limit: SESSIONS })).map(({ phase, turns }) => [
      phase,
      turns,
    ]);
    return phases.every(([phase, turns]) => phase === 'idle' && turns === TURNS);
  }, LIMIT_MS).catch(async (thrown: unknown) => {
    const stuck = (await fleet.list({ limit: SESSIONS })).filter(({ phase }) => phase !== 'idle');
    const rows = stuck.map((one) => `${one.order.id} ${one.phase} ${one.turns} ${one.reason}`);
    throw new Error(`${thrown}\n${rows.join('\n')}`);
  });
  const seconds = (Date.now() - started) / 1000;
  process.stderr.write(
    `fleet ${fleet.driver}: ${SESSIONS} sessions x ${TURNS} turns in ${seconds.toFixed(1)} s, takeover after ${takeovers.join(', ')} ms\n`,
  );
  expect(await judge(fleet, rig, ids)).toEqual([]);
  for (const worker of workers) worker.child.kill('SIGTERM');
  await Promise.all(workers.map(({ ended }) => ended));
}

describeWith(['git', 'postgres'], 'a fleet whose workers die', () => {
  it(
    'loses nothing and does nothing twice, in files',
    async () => {
      const rig = await openRig((root) => path.join(root, 'fleet'));
      try {
        await crash(new LocalFleet(path.join(rig.root, 'fleet')), rig);
      } finally {
        await rig.close();
      }
    },
    LIMIT_MS * 2,
  );

  it(
    'loses nothing and does nothing twice, in PostgreSQL',
    async () => {
      const url = await server.create('crash');
      await migrateFleet({ PORTCULLIS_FLEET: url });
      const rig = await openRig(() => url);
      const fleet = await openPostgresFleet(url, { waitMs: 30_000 });
      const sever = (): void => {
        server.sql(
          'postgres',
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'crash'`,
        );
      };
      try {
        await crash(fleet, rig, sever);
      } finally {
        await rig.close();
        await fleet.close();
      }
    },
    LIMIT_MS * 2,
  );
});
