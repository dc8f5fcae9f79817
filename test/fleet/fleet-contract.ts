import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PermissionAnswer } from '../../src/client/questions.js';
import {
  type Ask,
  type Batch,
  type Claim,
  type Fleet,
  type Mail,
  type SessionOrder,
  StaleEpochError,
  type WorkerInfo,
} from '../../src/fleet/types.js';

export function orderOf(more: Partial<SessionOrder> = {}): SessionOrder {
  return {
    id: randomUUID(),
    tenant: 'main',
    options: {},
    priority: 0,
    labels: [],
    idempotent: [],
    pinPolicy: false,
    askHours: 1,
    submittedAt: new Date().toISOString(),
    ...more,
  };
}

export function mailOf(text: string, more: Partial<Mail> = {}): Mail {
  const id = randomUUID();
  return { id, key: id, from: 'test', text, when: 'later', ...more };
}

export function workerOf(id: string, more: Partial<WorkerInfo> = {}): WorkerInfo {
  const facts = { host: 'here', pid: process.pid, version: '0', slots: 1, draining: false };
  return { id, labels: [], ...facts, ...more };
}

export function batchOf(number: number, more: Partial<Batch> = {}): Batch {
  return {
    number,
    entries: [],
    receipts: [],
    intents: [],
    ended: [],
    delivered: [],
    asks: [],
    events: [],
    patch: {},
    ...more,
  };
}

function askOf(session: string, id = `q${randomUUID()}`, ms = 3_600_000): Ask {
  const now = Date.now();
  return {
    id,
    session,
    callHash: 'hash',
    policyDigest: 'digest',
    question: { id, kind: 'permission', reason: 'because \u0000' } as unknown as Ask['question'],
    askedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + ms).toISOString(),
  };
}

const YES: PermissionAnswer = { behavior: 'allow' };
const line = (text: string) => ({ agent: '', line: JSON.stringify({ type: 'user', text }) });

/** What every driver of the fleet must do. `open` gives an empty fleet. */
export function fleetContract(name: string, open: () => Promise<Fleet>): void {
  const begin = async (fleet: Fleet, order = orderOf()): Promise<Claim> => {
    await fleet.submit(order, [mailOf('go')]);
    await fleet.beat(workerOf('w1'));
    const claim = await fleet.claim(workerOf('w1'));
    if (claim === undefined) throw new Error('nothing was claimed');
    return claim;
  };

  describe(`fleet driver ${name}`, () => {
    it('gives a session to one worker, whoever asks at the same time', async () => {
      const fleet = await open();
      const order = orderOf();
      await fleet.submit(order, [mailOf('go')]);
      const workers = ['a', 'b', 'c', 'd'].map((id) => workerOf(id));
      for (const worker of workers) await fleet.beat(worker);
      const claims = await Promise.all(workers.map((worker) => fleet.claim(worker)));
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect(await fleet.show(order.id)).toMatchObject({ phase: 'running', epoch: 1 });
      await fleet.close();
    });

    it('refuses an id that is in use', async () => {
      const fleet = await open();
      const order = orderOf();
      await fleet.submit(order, []);
      await expect(fleet.submit(order, [])).rejects.toThrow('already in use');
      await fleet.close();
    });

    it('keeps transcript lines and receipts in order and as they were written', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      const odd = { agent: 'a1', line: JSON.stringify({ text: 'nul \u0000 \ud800 ä' }) };
      await fleet.commit(claim, batchOf(1, { entries: [line('1'), odd], receipts: ['r1'] }));
      await fleet.commit(claim, batchOf(2, { entries: [line('2')], receipts: ['r2', 'r3'] }));
      const { id } = claim.session.order;
      const entries = await fleet.entries(id);
      expect(entries.map(({ seq, agent, line: text }) => [seq, agent, text])).toEqual([
        [1, '', line('1').line],
        [2, 'a1', odd.line],
        [3, '', line('2').line],
      ]);
      expect(await fleet.entries(id, 2)).toHaveLength(1);
      expect(await fleet.receipts(id)).toEqual(['r1', 'r2', 'r3']);
      expect(await fleet.read(claim)).toMatchObject({ lastReceipt: 'r3' });
      await fleet.close();
    });

    it('writes a batch once that arrives twice', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      const batch = batchOf(1, { entries: [line('1')] });
      await fleet.commit(claim, batch);
      await fleet.commit(claim, batch);
      expect(await fleet.entries(claim.session.order.id)).toHaveLength(1);
      await fleet.close();
    });

    it('takes the sessions of a dead worker away and refuses what it still writes', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      const { id } = claim.session.order;
      await fleet.commit(claim, batchOf(1, { entries: [line('1')] }));
      expect(await fleet.reap(60_000)).toEqual([]);
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(await fleet.reap(10)).toEqual([id]);
      await expect(fleet.commit(claim, batchOf(2, { entries: [line('x')] }))).rejects.toThrow(
        StaleEpochError,
      );
      expect(await fleet.beat(workerOf('w1'))).toMatchObject({ lost: true });
      await fleet.beat(workerOf('w2'));
      const next = await fleet.claim(workerOf('w2'));
      expect(next).toMatchObject({ epoch: 3, worker: 'w2' });
      if (next === undefined) return;
      await expect(fleet.commit(claim, batchOf(3, { entries: [line('y')] }))).rejects.toThrow(
        StaleEpochError,
      );
      await fleet.commit(next, batchOf(1, { entries: [line('2')] }));
      const lines = (await fleet.entries(id)).map((entry) => entry.line);
      expect(lines).toEqual([line('1').line, line('2').line]);
      await fleet.close();
    });

    it('delivers a message once by its key, and wakes an idle session', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      const { id } = claim.session.order;
      const [first] = await fleet.mail(id);
      await fleet.commit(
        claim,
        batchOf(1, { delivered: [first?.id ?? ''], patch: { release: 'idle' } }),
      );
      expect(await fleet.show(id)).toMatchObject({ phase: 'idle', owner: '' });
      expect(await fleet.claim(workerOf('w1'))).toBeUndefined();
      const mail = mailOf('more');
      expect(await fleet.send(id, mail)).toBe(true);
      expect(await fleet.send(id, { ...mailOf('again'), key: mail.key })).toBe(true);
      expect((await fleet.mail(id)).map(({ text }) => text)).toEqual(['more']);
      expect(await fleet.claim(workerOf('w1'))).toMatchObject({ epoch: 2 });
      expect(await fleet.send(randomUUID(), mail)).toBe(false);
      await fleet.close();
    });

    it('has no message wait in an idle session', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      await fleet.commit(claim, batchOf(1, { patch: { release: 'idle' } }));
      expect(await fleet.show(claim.session.order.id)).toMatchObject({ phase: 'ready' });
      await fleet.close();
    });

    it('keeps intents until their result is recorded', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      const { id } = claim.session.order;
      const intent = {
        key: `${id}:t1`,
        callId: 't1',
        agent: '',
        tool: 'Bash',
        inputHash: 'h',
        effect: 'unsafe',
        ended: false,
      } as const;
      await fleet.commit(claim, batchOf(1, { intents: [intent] }));
      expect(await fleet.intents(id)).toEqual([intent]);
      await fleet.commit(claim, batchOf(2, { ended: [intent.key] }));
      expect(await fleet.intents(id)).toEqual([{ ...intent, ended: true }]);
      await fleet.close();
    });

    it('parks a session until the first answer, which alone counts', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      const { id } = claim.session.order;
      const ask = askOf(id);
      await fleet.commit(
        claim,
        batchOf(1, { asks: [ask], patch: { turnOpen: true, release: 'parked' } }),
      );
      expect(await fleet.show(id)).toMatchObject({ phase: 'parked', turnOpen: true });
      expect(await fleet.claim(workerOf('w1'))).toBeUndefined();
      expect(await fleet.asks()).toMatchObject([{ id: ask.id, session: id, tenant: 'main' }]);
      const at = new Date().toISOString();
      expect(await fleet.answer(ask.id, { by: 'ann', answer: YES, at })).toBe('accepted');
      expect(await fleet.answer(ask.id, { by: 'bob', answer: { behavior: 'deny' }, at })).toBe(
        'closed',
      );
      expect((await fleet.answers(id, [ask.id])).get(ask.id)).toMatchObject({
        by: 'ann',
        answer: YES,
      });
      expect(await fleet.asks()).toEqual([]);
      expect(await fleet.claim(workerOf('w1'))).toMatchObject({ epoch: 2 });
      await fleet.close();
    });

    it('wakes a parked session when its question expires, and takes no answer then', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      const { id } = claim.session.order;
      const ask = askOf(id, undefined, 1_000);
      await fleet.commit(claim, batchOf(1, { asks: [ask], patch: { release: 'parked' } }));
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      const at = new Date().toISOString();
      expect(await fleet.answer(ask.id, { by: 'ann', answer: YES, at })).toBe('closed');
      await fleet.reap(60_000);
      expect(await fleet.show(id)).toMatchObject({ phase: 'ready' });
      await fleet.close();
    });

    it('closes the questions of a turn that is over', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      const ask = askOf(claim.session.order.id);
      await fleet.commit(claim, batchOf(1, { asks: [ask] }));
      await fleet.commit(claim, batchOf(2, { patch: { closeAsks: true } }));
      expect(await fleet.asks()).toEqual([]);
      const at = new Date().toISOString();
      expect(await fleet.answer(ask.id, { by: 'ann', answer: YES, at })).toBe('closed');
      await fleet.close();
    });

    it('tells the worker of a cancelled session, and gives it to no other', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      const { id } = claim.session.order;
      expect(await fleet.cancel(id)).toBe(true);
      expect(await fleet.cancel(id)).toBe(false);
      expect(await fleet.commit(claim, batchOf(1))).toMatchObject({ cancelled: true });
      await fleet.commit(claim, batchOf(2, { patch: { release: 'ready' } }));
      expect(await fleet.show(id)).toMatchObject({ phase: 'cancelled' });
      expect(await fleet.claim(workerOf('w1'))).toBeUndefined();
      expect(await fleet.send(id, mailOf('x'))).toBe(false);
      await fleet.close();
    });

    it('goes by labels, tenants of workers, and priorities', async () => {
      const fleet = await open();
      const plain = orderOf();
      const urgent = orderOf({ priority: 5 });
      const gpu = orderOf({ priority: 9, labels: ['gpu'], tenant: 'other' });
      for (const order of [plain, urgent, gpu]) await fleet.submit(order, [mailOf('go')]);
      await fleet.beat(workerOf('w1'));
      const claimed = async (worker: WorkerInfo) => (await fleet.claim(worker))?.session.order.id;
      expect(await claimed(workerOf('w1', { tenant: 'other' }))).toBeUndefined();
      expect(await claimed(workerOf('w1'))).toBe(urgent.id);
      expect(await claimed(workerOf('w1', { labels: ['gpu', 'big'] }))).toBe(gpu.id);
      expect(await claimed(workerOf('w1'))).toBe(plain.id);
      await fleet.close();
    });

    it('holds the number of drives of each tenant, under many claims at once', async () => {
      const fleet = await open();
      await fleet.setTenant('one', { concurrency: 1 });
      await fleet.setTenant('four', { concurrency: 4 });
      for (const tenant of ['one', 'four']) {
        for (let count = 0; count < 6; count++) {
          await fleet.submit(orderOf({ tenant }), [mailOf('go')]);
        }
      }
      await fleet.beat(workerOf('w1'));
      const claims = await Promise.all(
        Array.from({ length: 12 }, () => fleet.claim(workerOf('w1'))),
      );
      const won = claims.flatMap((claim) => claim?.session.order.tenant ?? []);
      expect(won.filter((tenant) => tenant === 'one')).toHaveLength(1);
      expect(won.filter((tenant) => tenant === 'four')).toHaveLength(4);
      const rows = await fleet.tenants();
      expect(rows).toMatchObject([
        { name: 'four', running: 4, ready: 2 },
        { name: 'one', running: 1, ready: 5 },
      ]);
      await fleet.close();
    });

    it('starts no more drives of a tenant within a minute than its rate', async () => {
      const fleet = await open();
      await fleet.setTenant('main', { ratePerMinute: 1 });
      for (let count = 0; count < 3; count++) await fleet.submit(orderOf(), [mailOf('go')]);
      await fleet.beat(workerOf('w1'));
      expect(await fleet.claim(workerOf('w1'))).toBeDefined();
      expect(await fleet.claim(workerOf('w1'))).toBeUndefined();
      await fleet.close();
    });

    it('starts no drive that the budget of its tenant does not cover', async () => {
      const fleet = await open();
      await fleet.setTenant('main', { budgetUsd: 2.5, reserveUsd: 1 });
      const first = await begin(fleet);
      for (let count = 0; count < 2; count++) await fleet.submit(orderOf(), [mailOf('go')]);
      expect(await fleet.claim(workerOf('w1'))).toBeDefined();
      expect(await fleet.claim(workerOf('w1'))).toBeUndefined();
      await fleet.commit(
        first,
        batchOf(1, {
          patch: { spentUsd: 0.2, release: 'stopped', turnOpen: false },
          delivered: [],
        }),
      );
      expect(await fleet.claim(workerOf('w1'))).toBeDefined();
      await fleet.close();
    });

    it('gives every request its turn under a shared rate', async () => {
      const fleet = await open();
      await fleet.setRate('model:*', 60);
      expect(await fleet.beat(workerOf('w1'))).toMatchObject({ rates: ['model:*'] });
      const waits = await Promise.all(Array.from({ length: 5 }, () => fleet.takeToken('model:*')));
      const sorted = [...waits].sort((a, b) => a - b);
      for (const [at, wait] of sorted.entries()) {
        expect(wait).toBeGreaterThan(at * 1_000 - 900);
        expect(wait).toBeLessThanOrEqual(at * 1_000);
      }
      expect(await fleet.takeToken('none')).toBe(0);
      await fleet.setRate('model:*', null);
      expect(await fleet.takeToken('model:*')).toBe(0);
      await fleet.close();
    });

    it('runs a schedule once for a minute, however many workers look', async () => {
      const fleet = await open();
      const { id: _id, submittedAt: _at, ...order } = orderOf();
      await fleet.putSchedule({
        name: 'nightly',
        cron: '0 3 * * *',
        prompt: 'go',
        order,
        enabled: true,
        lastRun: '',
      });
      const minute = '2026-01-01T03:00';
      const runs = await Promise.all([1, 2, 3].map(() => fleet.takeRun('nightly', minute)));
      expect(runs.filter(Boolean)).toHaveLength(1);
      expect(await fleet.takeRun('nightly', '2026-01-02T03:00')).toBe(true);
      expect(await fleet.schedules()).toMatchObject([
        { name: 'nightly', lastRun: '2026-01-02T03:00' },
      ]);
      expect(await fleet.removeSchedule('nightly')).toBe(true);
      expect(await fleet.removeSchedule('nightly')).toBe(false);
      await fleet.close();
    });

    it('stores events while a client follows, and gives those after a number', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      const { id } = claim.session.order;
      expect(await fleet.commit(claim, batchOf(1))).toMatchObject({ watched: false });
      expect(await fleet.watch(id, 0)).toEqual([]);
      expect(
        await fleet.commit(claim, batchOf(2, { events: ['{"a":1}', '{"a":2}'] })),
      ).toMatchObject({ watched: true });
      expect(await fleet.watch(id, 1)).toEqual([{ seq: 2, event: '{"a":2}' }]);
      await fleet.close();
    });

    it('lists workers and removes old sessions', async () => {
      const fleet = await open();
      const claim = await begin(fleet);
      expect(await fleet.workers()).toMatchObject([{ id: 'w1', running: 1, lost: false }]);
      const [mail] = await fleet.mail(claim.session.order.id);
      await fleet.commit(
        claim,
        batchOf(1, { delivered: [mail?.id ?? ''], patch: { release: 'idle' } }),
      );
      await fleet.leave('w1');
      expect(await fleet.workers()).toEqual([]);
      expect(await fleet.prune('2020-01-01')).toBe(0);
      expect(await fleet.prune(new Date(Date.now() + 60_000).toISOString())).toBe(1);
      expect(await fleet.list()).toEqual([]);
      await fleet.close();
    });
  });
}
