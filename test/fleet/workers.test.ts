import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { LocalFleet } from '../../src/fleet/local/local-fleet.js';
import { migrateFleet } from '../../src/fleet/open.js';
import { openPostgresFleet } from '../../src/fleet/postgres/postgres-fleet.js';
import type { Fleet } from '../../src/fleet/types.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { describeWith } from '../support/programs.js';
import { mailOf, openRig, type Rig, snapshotFiles, transcriptProblems, until } from './rig.js';

let server: TestPostgres;
let count = 0;
beforeAll(async () => {
  server = await startPostgres(['fsync=off']);
});
afterAll(async () => {
  await server?.stop();
});

for (const driver of ['local', 'postgres'] as const) {
  describeWith(['git', 'postgres'], `workers of the ${driver} fleet`, () => {
    let rig: Rig;
    let fleet: Fleet;
    beforeEach(async () => {
      if (driver === 'local') {
        rig = await openRig((root) => path.join(root, 'fleet'));
        fleet = new LocalFleet(path.join(rig.root, 'fleet'));
      } else {
        const url = await server.create(`workers_${++count}`);
        await migrateFleet({ PORTCULLIS_FLEET: url });
        rig = await openRig(() => url);
        fleet = await openPostgresFleet(url);
      }
    });
    afterEach(async () => {
      await rig.close();
      await fleet.close();
    });
    const phaseOf = async (id: string) => (await fleet.show(id))?.phase;

    it('drive a session turn by turn and save its files after each', async () => {
      const order = rig.order({ title: 'first' });
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
      worker.child.kill('SIGTERM');
      expect(await worker.ended).toBe(0);
      expect(await fleet.workers()).toEqual([]);
    });
  });
}
