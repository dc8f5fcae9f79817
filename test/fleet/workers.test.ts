import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FleetClient } from '../../src/fleet/attach.js';
import { LocalFleet } from '../../src/fleet/local/local-fleet.js';
import { migrateFleet } from '../../src/fleet/open.js';
import { openPostgresFleet } from '../../src/fleet/postgres/postgres-fleet.js';
import type { Fleet, FleetSession } from '../../src/fleet/types.js';
import { freePort, startPostgres, type TestPostgres } from '../support/postgres.js';
import { describeWith } from '../support/programs.js';
import { mailOf, openRig, type Rig, snapshotFiles, transcriptProblems, until } from './rig.js';

// Only for what hangs: a busy machine starts workers slowly.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let server: TestPostgres;
let count = 0;
beforeAll(async () => {
  server = await startPostgres(['fsync=off']);
});
afterAll(async () => {
  await server?.stop();
});

interface World {
  readonly rig: Rig;
  readonly fleet: Fleet;
  phaseOf(id: string): Promise<string | undefined>;
}

async function openLocal(): Promise<Omit<World, 'phaseOf'>> {
  const rig = await openRig((root) => path.join(root, 'fleet'));
  return { rig, fleet: new LocalFleet(path.join(rig.root, 'fleet')) };
}

async function openPostgres(): Promise<Omit<World, 'phaseOf'>> {
  const url = await server.create(`workers_${++count}`);
  await migrateFleet({ PORTCULLIS_FLEET: url });
  return { rig: await openRig(() => url), fleet: await openPostgresFleet(url) };
}

for (const [driver, open] of [
  ['local', openLocal],
  ['postgres', openPostgres],
] as const) {
  describeWith(['git', 'postgres'], `workers of the ${driver} fleet`, () => {
    // At the same time: most of what a test does is waiting for its workers.
    const it = (title: string, body: (world: World) => Promise<void>): void =>
      test.concurrent(title, async () => {
        const { rig, fleet } = await open();
        try {
          await body({ rig, fleet, phaseOf: async (id) => (await fleet.show(id))?.phase });
        } finally {
          await rig.close();
          await fleet.close();
        }
      });

    it('drive a session turn by turn and save its files after each', async ({
      rig,
      fleet,
      phaseOf,
    }) => {
      const order = { ...rig.orderWithServer(), title: 'first' };
      await fleet.submit(
        order,
        ['write:a', 'talk:b', 'unsafe:c', 'mcp:d'].map((one) => mailOf(`task:${one}`)),
      );
      const worker = rig.startWorker();
      await until(async () => (await phaseOf(order.id)) === 'idle');
      const session = await fleet.show(order.id);
      if (session === undefined) throw new Error('it is gone');
      expect(session).toMatchObject({ turns: 4, turnOpen: false, snapshot: { turn: 1 } });
      expect(session.policyDigest).not.toBe('');
      expect(await transcriptProblems(fleet, session)).toEqual([]);
      expect(snapshotFiles(rig.root, session)).toEqual(['a.txt']);
      expect([...rig.effects('unsafe')]).toEqual([['c', 1]]);
      expect([...rig.effects('mcp')]).toEqual([['d', 1]]);
      expect(await fleet.intents(order.id)).toMatchObject([
        { tool: 'Write', effect: 'idempotent', ended: true },
        { tool: 'Bash', effect: 'unsafe', ended: true },
        { tool: 'mcp__rec__record', effect: 'idempotent', ended: true },
      ]);
      expect(rig.cli('fleet', 'show', order.id.slice(0, 8), '--verify')).toContain(
        'the chain is whole',
      );
      expect(rig.cli('fleet', 'list')).toContain('first');
      // A session leaves no process behind in its worker.
      const list = (): string =>
        readFileSync(`/proc/${worker.pid}/task/${worker.pid}/children`, 'utf8');
      if (process.platform === 'linux') await until(() => list() === '');
      worker.child.kill('SIGTERM');
      expect(await worker.ended).toBe(0);
      expect(await fleet.workers()).toEqual([]);
    });

    it('park a question, free the slot, and go on with the answer after all workers were restarted', async ({
      rig,
      fleet,
      phaseOf,
    }) => {
      const order = rig.order({ repository: undefined });
      await fleet.submit(order, [
        mailOf('task:write:before'),
        mailOf('task:ask:it'),
        mailOf('task:talk:end'),
      ]);
      const first = rig.startWorker(['--grace', '0']);
      await until(async () => (await phaseOf(order.id)) === 'parked');
      const parked = await fleet.show(order.id);
      expect(parked).toMatchObject({ turnOpen: true, turns: 1, reason: 'waits for an answer' });
      const [ask] = await fleet.asks();
      expect(ask).toMatchObject({
        session: order.id,
        question: { kind: 'permission', call: { tool: 'Bash' } },
      });
      expect(rig.cli('fleet', 'inbox')).toContain('touch it.asked');
      first.child.kill('SIGTERM');
      expect(await first.ended).toBe(0);
      const at = new Date().toISOString();
      expect(
        await fleet.answer(ask?.id ?? '', { by: 'ann', answer: { behavior: 'allow' }, at }),
      ).toBe('accepted');
      rig.startWorker(['--grace', '0']);
      await until(async () => (await phaseOf(order.id)) === 'idle');
      const session = await fleet.show(order.id);
      if (session === undefined) throw new Error('it is gone');
      expect(session.turns).toBe(3);
      expect(await transcriptProblems(fleet, session)).toEqual([]);
      expect([...snapshotFiles(rig.root, session)].sort()).toEqual(['before.txt', 'it.asked']);
    });

    it('refuse an expired question, and tell the model', async ({ rig, fleet, phaseOf }) => {
      const order = rig.order({ askHours: 1 / 3_600 });
      await fleet.submit(order, [mailOf('task:ask:late')]);
      rig.startWorker(['--grace', '0', '--deadline', '2']);
      await until(async () => (await phaseOf(order.id)) === 'idle');
      const texts = (await fleet.entries(order.id)).map(({ line }) => line).join('\n');
      expect(texts).toContain('expired');
      expect(snapshotFiles(rig.root, (await fleet.show(order.id)) as FleetSession)).toEqual([]);
    });

    it('ask again where the rules have changed since the question', async ({
      rig,
      fleet,
      phaseOf,
    }) => {
      const order = rig.order();
      await fleet.submit(order, [mailOf('task:ask:again')]);
      const first = rig.startWorker(['--grace', '0']);
      await until(async () => (await phaseOf(order.id)) === 'parked');
      const [ask] = await fleet.asks();
      first.child.kill('SIGTERM');
      await first.ended;
      const settings = path.join(rig.root, 'home/.claude/settings.json');
      mkdirSync(path.dirname(settings), { recursive: true });
      writeFileSync(settings, JSON.stringify({ permissions: { deny: ['Bash(rm *)'] } }));
      const at = new Date().toISOString();
      await fleet.answer(ask?.id ?? '', { by: 'ann', answer: { behavior: 'allow' }, at });
      rig.startWorker(['--grace', '0']);
      await until(async () => (await fleet.asks()).some(({ id }) => id !== ask?.id));
      expect(await phaseOf(order.id)).not.toBe('idle');
    });

    it('hand a session over at SIGTERM, in the middle of a turn the second time', async ({
      rig,
      fleet,
      phaseOf,
    }) => {
      const order = rig.order();
      await fleet.submit(order, [mailOf('task:ask:handed'), mailOf('task:talk:end')]);
      const first = rig.startWorker(['--grace', '3600', '--drain', '0']);
      await until(async () => (await fleet.asks()).length === 1);
      first.child.kill('SIGTERM');
      expect(await first.ended).toBe(0);
      expect(await fleet.show(order.id)).toMatchObject({ phase: 'ready', turnOpen: true });
      const [ask] = await fleet.asks();
      const at = new Date().toISOString();
      await fleet.answer(ask?.id ?? '', {
        by: 'ann',
        answer: { behavior: 'deny', message: 'no' },
        at,
      });
      rig.startWorker();
      await until(async () => (await phaseOf(order.id)) === 'idle');
      expect(await transcriptProblems(fleet, (await fleet.show(order.id)) as FleetSession)).toEqual(
        [],
      );
    });

    it('do not run an unsafe call again whose worker died, and say that its outcome is unknown', async ({
      rig,
      fleet,
      phaseOf,
    }) => {
      const order = rig.order();
      await fleet.submit(order, [mailOf('task:slow:x')]);
      const first = rig.startWorker(['--deadline', '2']);
      await until(async () => (await fleet.intents(order.id)).length === 1);
      first.child.kill('SIGKILL');
      rig.startWorker(['--deadline', '2']);
      await until(async () => (await phaseOf(order.id)) === 'idle');
      const lines = (await fleet.entries(order.id)).map(({ line }) => line).join('\n');
      expect(lines).toContain('outcome unknown');
      expect(lines).toContain('moved to another worker');
      expect(await fleet.intents(order.id)).toMatchObject([{ effect: 'unsafe', ended: true }]);
    });

    it('stop a cancelled session and its commands', async ({ rig, fleet, phaseOf }) => {
      const order = rig.order();
      await fleet.submit(order, [mailOf('task:slow:x')]);
      rig.startWorker(['--deadline', '2']);
      await until(async () => (await fleet.intents(order.id)).length === 1);
      rig.cli('fleet', 'cancel', order.id);
      await until(async () => (await fleet.workers())[0]?.running === 0);
      expect(await phaseOf(order.id)).toBe('cancelled');
    });

    it('work in a clone of a repository, restore commits and changes, and keep secrets out of snapshots', async ({
      rig,
      fleet,
      phaseOf,
    }) => {
      const repository = path.join(rig.root, 'repo');
      const git = (...args: string[]): string =>
        execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
          cwd: repository,
          encoding: 'utf8',
        });
      mkdirSync(repository);
      git('init', '-q', '-b', 'main');
      writeFileSync(path.join(repository, 'README'), 'hello\n');
      git('add', '-A');
      git('commit', '-q', '-m', 'first');
      const order = rig.order({ repository, base: 'main' });
      await fleet.submit(order, [mailOf('task:write:one')]);
      const first = rig.startWorker();
      await until(async () => (await phaseOf(order.id)) === 'idle');
      const work = path.join(rig.root, 'work/sessions', order.id, 'work');
      expect(readFileSync(path.join(work, 'README'), 'utf8')).toBe('hello\n');
      writeFileSync(path.join(work, '.env'), 'SECRET=1\n');
      await fleet.send(order.id, mailOf('task:write:two'));
      await until(
        async () =>
          (await fleet.show(order.id))?.turns === 2 && (await phaseOf(order.id)) === 'idle',
      );
      first.child.kill('SIGKILL');
      rmSync(path.join(rig.root, 'work/sessions'), { recursive: true });
      rig.startWorker(['--deadline', '2']);
      await fleet.send(order.id, mailOf('task:write:three'));
      await until(
        async () =>
          (await fleet.show(order.id))?.turns === 3 && (await phaseOf(order.id)) === 'idle',
      );
      const session = (await fleet.show(order.id)) as FleetSession;
      expect([...snapshotFiles(rig.root, session)].sort()).toEqual([
        'README',
        'one.txt',
        'three.txt',
        'two.txt',
      ]);
    });

    it('say why a session could not start', async ({ rig, fleet, phaseOf }) => {
      const order = rig.order({ repository: path.join(rig.root, 'missing') });
      await fleet.submit(order, [mailOf('task:talk:x')]);
      rig.startWorker();
      await until(async () => (await phaseOf(order.id)) === 'stopped');
      expect((await fleet.show(order.id))?.reason).toContain('no workspace');
      expect(rig.cli('fleet', 'list')).toContain('no workspace');
    });

    it('share a rate limit: every request gets its turn, and none is lost', async ({
      rig,
      fleet,
    }) => {
      const start = Date.now();
      await fleet.setRate('model:*', 60);
      const orders = Array.from({ length: 4 }, () => rig.order());
      for (const order of orders) await fleet.submit(order, [mailOf('task:talk:x')]);
      for (const _ of [1, 2, 3]) rig.startWorker(['--slots', '2']);
      await until(async () => (await fleet.list({ phase: 'idle' })).length === 4);
      const times = rig.times();
      for (const [at, time] of times.entries())
        expect(time - start).toBeGreaterThan(at * 1_000 - 100);
    });

    it('show a session live to those who attach', async ({ rig, fleet }) => {
      const order = rig.order();
      await fleet.submit(order, [mailOf('task:ask:live')]);
      rig.startWorker(['--grace', '3600']);
      await until(async () => (await fleet.asks()).length === 1);
      const client = await FleetClient.attach(
        fleet,
        (await fleet.show(order.id)) as FleetSession,
        'ann',
      );
      const seen: string[] = [];
      client.subscribe(
        ({ event }) => {
          seen.push(event.type);
          if (event.type === 'question')
            void client.answer(event.question.id, { behavior: 'allow' });
        },
        { after: 0 },
      );
      await until(() => seen.includes('question_closed') && seen.includes('turn_finished'));
      await client.send('prompt', { content: [{ type: 'text', text: 'task:talk:thanks' }] });
      await until(async () => (await fleet.show(order.id))?.turns === 2);
      const history = await client.send('history', {});
      expect(history.map(({ text }) => text)).toContain('task:talk:thanks');
      await expect(client.send('shell', { command: 'ls' })).rejects.toThrow('takes no shell');
      client.close();
    });

    it('serve health and metrics', async ({ rig, fleet }) => {
      const port = await freePort();
      rig.startWorker(['--health', String(port)]);
      await until(async () => (await fleet.workers()).length === 1);
      const get = async (at: string) => await (await fetch(`http://127.0.0.1:${port}${at}`)).text();
      expect(await get('/healthz')).toBe('ok\n');
      expect(await get('/metrics')).toContain('portcullis_drives_started_total 0');
    });
  });
}
