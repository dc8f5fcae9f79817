import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { LocalFleet } from '../../src/fleet/local/local-fleet.js';
import { migrateFleet } from '../../src/fleet/open.js';
import { openPostgresFleet } from '../../src/fleet/postgres/postgres-fleet.js';
import type { Fleet, FleetSession } from '../../src/fleet/types.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { describeWith } from '../support/programs.js';
import { mailOf, openRig, PROGRAM, type Rig, transcriptProblems, until } from './rig.js';

/** With PORTCULLIS_FLEET_FULL=1 a real load, small otherwise. */
const FULL = process.env.PORTCULLIS_FLEET_FULL === '1';
const SESSIONS = FULL ? 1_000 : 12;
const TURNS = FULL ? 5 : 2;
const TENANT_SESSIONS = FULL ? 24 : 12;
const LIMIT_MS = FULL ? 1_800_000 : 180_000;

vi.setConfig({ testTimeout: LIMIT_MS, hookTimeout: 120_000 });

let server: TestPostgres;
let count = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server?.stop();
});

async function withFleet(
  driver: 'local' | 'postgres',
  body: (fleet: Fleet, rig: Rig, database: string) => Promise<void>,
  place: { readonly directory?: string; readonly tablespace?: string } = {},
): Promise<void> {
  const database = `load_${++count}`;
  const url = driver === 'local' ? undefined : await server.create(database, place.tablespace);
  if (url !== undefined) await migrateFleet({ PORTCULLIS_FLEET: url });
  const rig = await openRig((root) => url ?? place.directory ?? path.join(root, 'fleet'));
  const fleet =
    url === undefined
      ? new LocalFleet(rig.env.PORTCULLIS_FLEET ?? '')
      : await openPostgresFleet(url, { waitMs: 30_000 });
  try {
    await body(fleet, rig, database);
  } finally {
    await rig.close();
    await fleet.close();
  }
}

/** Milliseconds between the requests of one session that only talks. */
function perTurn(times: readonly number[]): number {
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
  return gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
}

/** The same conversation without a fleet, in one process. */
async function localTurns(rig: Rig, turns: number): Promise<number> {
  const before = rig.times().length;
  const args = [
    '-p',
    '--verbose',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
  ];
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: rig.env,
    cwd: rig.root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let open = 0;
  const say = (): boolean =>
    child.stdin.write(
      `${JSON.stringify({ type: 'user', message: { role: 'user', content: `task:talk:${open++}` } })}\n`,
    );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    if (!lines.some((line) => line.includes('"type":"result"'))) return;
    if (open < turns) say();
    else child.stdin.end();
  });
  say();
  await new Promise((resolve) => child.once('exit', resolve));
  return perTurn(rig.times().slice(before));
}

describeWith(['git', 'postgres'], 'a fleet under load', () => {
  it('takes many sessions through three workers', async () => {
    await withFleet('postgres', async (fleet, rig, database) => {
      const writes = (): readonly number[] =>
        server
          .sql(
            'postgres',
            `SELECT xact_commit, tup_inserted + tup_updated + tup_deleted FROM pg_stat_database WHERE datname = '${database}'`,
          )
          .split('|')
          .map(Number);
      const kinds = ['unsafe', 'keyed', 'write', 'mcp', 'talk'];
      for (let session = 0; session < SESSIONS; session++) {
        const prompts = Array.from({ length: TURNS }, (_, turn) =>
          mailOf(`task:${kinds[(session + turn) % kinds.length]}:s${session}t${turn}`),
        );
        await fleet.submit(rig.orderWithServer(), prompts);
      }
      const [commits = 0, rows = 0] = writes();
      const started = Date.now();
      for (const _ of [1, 2, 3]) rig.startWorker(['--slots', '4']);
      const idle = async () => (await fleet.list({ phase: 'idle', limit: SESSIONS })).length;
      await until(async () => (await idle()) === SESSIONS, LIMIT_MS);
      const seconds = (Date.now() - started) / 1_000;
      const turns = SESSIONS * TURNS;
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const [nowCommits = 0, nowRows = 0] = writes();
      process.stderr.write(
        `${SESSIONS} sessions of ${TURNS} turns: ${seconds.toFixed(1)} s, ${(turns / seconds).toFixed(1)} turns/s, ${((nowCommits - commits) / turns).toFixed(1)} transactions and ${((nowRows - rows) / turns).toFixed(1)} rows a turn\n`,
      );
      for (const session of await fleet.list({ limit: SESSIONS })) {
        expect(session.turns).toBe(TURNS);
        expect(await transcriptProblems(fleet, session)).toEqual([]);
      }
    });
  });

  it('adds little to a turn', async () => {
    const turns = FULL ? 200 : 5;
    for (const driver of ['local', 'postgres'] as const) {
      await withFleet(driver, async (fleet, rig) => {
        const plain = await localTurns(rig, turns);
        const before = rig.times().length;
        const order = rig.order();
        const prompts = Array.from({ length: turns }, (_, at) => mailOf(`task:talk:t${at}`));
        await fleet.submit(order, prompts);
        rig.startWorker(['--slots', '1', '--max-turns', '1000']);
        await until(async () => (await fleet.show(order.id))?.turns === turns);
        const driven = perTurn(rig.times().slice(before));
        process.stderr.write(`a turn: ${plain} ms alone, ${driven} ms in the ${driver} fleet\n`);
        expect(rig.times().length - before).toBe(turns);
      });
    }
  });

  for (const driver of ['local', 'postgres'] as const) {
    it.concurrent(`holds the limits of two tenants (${driver})`, async () => {
      await withFleet(driver, async (fleet, rig) => {
        await fleet.setTenant('small', { concurrency: 1 });
        await fleet.setTenant('large', { concurrency: 4 });
        for (let at = 0; at < TENANT_SESSIONS; at++) {
          const tenant = at % 3 === 0 ? 'small' : 'large';
          await fleet.submit(rig.order({ tenant }), [mailOf(`task:unsafe:t${at}`)]);
        }
        for (const _ of [1, 2, 3]) rig.startWorker(['--slots', '4']);
        const most = { small: 0, large: 0 };
        await until(async () => {
          const all = await fleet.list();
          for (const tenant of ['small', 'large'] as const) {
            const running = all.filter(
              ({ phase, order }) => phase === 'running' && order.tenant === tenant,
            );
            most[tenant] = Math.max(most[tenant], running.length);
          }
          return all.every(({ phase }) => phase === 'idle');
        });
        expect(most.small).toBe(1);
        expect(most.large).toBeLessThanOrEqual(4);
        expect([...rig.effects('unsafe').values()]).toEqual(Array(TENANT_SESSIONS).fill(1));
      });
    });
  }

  it.concurrent('is not confused by workers whose clocks are wrong by minutes', async () => {
    await withFleet('postgres', async (fleet, rig) => {
      const ids: string[] = [];
      for (let at = 0; at < 9; at++) {
        const order = rig.order();
        ids.push(order.id);
        await fleet.submit(order, [mailOf(`task:unsafe:a${at}`), mailOf(`task:keyed:b${at}`)]);
      }
      for (const minutes of [-10, 0, 10]) {
        const file = path.join(rig.root, `clock${minutes}.cjs`);
        writeFileSync(file, wrongClock(minutes * 60_000));
        rig.startWorker(['--slots', '1', '--deadline', '30'], {
          NODE_OPTIONS: `--require=${file}`,
        });
      }
      await until(async () => (await fleet.list({ phase: 'idle' })).length === ids.length);
      for (const id of ids) {
        const session = (await fleet.show(id)) as FleetSession;
        expect(session).toMatchObject({ turns: 2, epoch: 1 });
        expect(await transcriptProblems(fleet, session)).toEqual([]);
      }
      expect([...rig.effects('unsafe').values()]).toEqual(ids.map(() => 1));
      expect([...rig.effects('keyed').values()]).toEqual(ids.map(() => 1));
    });
  });

  it.concurrent('goes on with a parked session after an upgrade of all workers', async () => {
    await withFleet('postgres', async (fleet, rig) => {
      const order = rig.order();
      await fleet.submit(order, [mailOf('task:ask:it'), mailOf('task:talk:end')]);
      const old = rig.startWorker(['--grace', '0']);
      await until(async () => (await fleet.show(order.id))?.phase === 'parked');
      old.child.kill('SIGTERM');
      expect(await old.ended).toBe(0);
      const [ask] = await fleet.asks();
      const at = new Date().toISOString();
      await fleet.answer(ask?.id ?? '', { by: 'ann', answer: { behavior: 'allow' }, at });
      rig.startWorker(['--grace', '0'], {}, newBuild(rig.root));
      await until(async () => (await fleet.show(order.id))?.phase === 'idle');
      expect((await fleet.show(order.id))?.turns).toBe(2);
      const versions = (await fleet.workers()).map(({ version }) => version);
      expect(versions).toEqual(['99.0.0']);
    });
  });

  for (const driver of ['local', 'postgres'] as const) {
    it.skipIf(process.getuid?.() !== 0)(
      `waits while the disk is full, and loses nothing (${driver})`,
      async () => {
        const disk = mkdirTemporary();
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m,mode=777', 'tmpfs', disk]);
        try {
          let tablespace: string | undefined;
          if (driver === 'postgres') {
            tablespace = 'small_disk';
            mkdirSync(path.join(disk, 'data'));
            execFileSync('chown', ['postgres', path.join(disk, 'data')]);
            server.sql('postgres', `CREATE TABLESPACE small_disk LOCATION '${disk}/data'`);
          }
          const place = { directory: path.join(disk, 'fleet'), ...(tablespace && { tablespace }) };
          await withFleet(driver, (fleet, rig) => fillAndFree(fleet, rig, disk), place);
          if (driver === 'postgres') {
            server.sql('postgres', `DROP DATABASE load_${count} WITH (FORCE)`);
            server.sql('postgres', 'DROP TABLESPACE small_disk');
          }
        } finally {
          execFileSync('umount', ['-l', disk]);
          rmSync(disk, { recursive: true, force: true });
        }
      },
    );
  }
});

/** The disk fills up while a session runs, and is freed later. */
async function fillAndFree(fleet: Fleet, rig: Rig, disk: string): Promise<void> {
  const order = rig.order();
  await fleet.submit(order, [mailOf('task:slow:x')]);
  const slow = path.join(rig.root, 'bin/slow');
  // It prints more than fits into blocks that are in use already.
  writeFileSync(
    slow,
    `#!/bin/sh\nwhile [ ! -e ${rig.root}/full ]; do sleep 0.1; done\nhead -c 18000 /dev/urandom | base64\n`,
  );
  const worker = rig.startWorker();
  await until(async () => (await fleet.intents(order.id)).length === 1);
  const filler = path.join(disk, 'filler');
  // Down to the last block, so that nothing more fits.
  execFileSync('sh', ['-c', `dd if=/dev/zero of=${filler} bs=4096 2>/dev/null || true`]);
  writeFileSync(path.join(rig.root, 'full'), '');
  await until(() => worker.output().includes('write is tried again'));
  expect(worker.output()).toMatch(/ENOSPC|No space left/);
  rmSync(filler);
  await until(async () => (await fleet.show(order.id))?.phase === 'idle');
  const session = (await fleet.show(order.id)) as FleetSession;
  expect(session.turns).toBe(1);
  expect(await transcriptProblems(fleet, session)).toEqual([]);
}

function mkdirTemporary(): string {
  return execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim();
}

/** What a process with a wrong clock sees. */
function wrongClock(ms: number): string {
  return `const now = Date.now; Date.now = () => now() + ${ms};
const Real = Date;
globalThis.Date = class extends Real { constructor(...args) { super(...(args.length === 0 ? [Real.now()] : args)); } };
`;
}

/** The program with another version, in a directory of its own. */
function newBuild(root: string): string {
  const home = path.dirname(path.dirname(PROGRAM));
  const next = path.join(root, 'next');
  mkdirSync(next);
  for (const name of ['bin', 'dist']) {
    cpSync(path.join(home, name), path.join(next, name), {
      recursive: true,
      filter: (from) => path.basename(from) !== '.cache',
    });
  }
  for (const name of ['package.json', 'node_modules', 'schema']) {
    symlinkSync(path.join(home, name), path.join(next, name));
  }
  const main = path.join(next, 'dist/cli/main.js');
  const { version } = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8'));
  writeFileSync(main, readFileSync(main, 'utf8').replaceAll(`"${version}"`, '"99.0.0"'));
  return path.join(next, 'bin/portcullis');
}
