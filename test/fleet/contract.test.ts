import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LocalFleet } from '../../src/fleet/local/local-fleet.js';
import { Connection, loadDriver, migrate } from '../../src/fleet/postgres/connection.js';
import { openPostgresFleet } from '../../src/fleet/postgres/postgres-fleet.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { describeWith } from '../support/programs.js';
import { batchOf, fleetContract, mailOf, orderOf, workerOf } from './fleet-contract.js';

const roots: string[] = [];
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

fleetContract('local', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'portcullis-fleet-'));
  roots.push(root);
  return new LocalFleet(root);
});

describeWith(['postgres'], 'PostgreSQL', () => {
  let server: TestPostgres;
  let count = 0;
  const database = async (): Promise<string> => {
    const url = await server.create(`fleet_${++count}`);
    const connection = new Connection(await loadDriver(), url, { size: 2 });
    await migrate(connection);
    await connection.close();
    return url;
  };
  beforeAll(async () => {
    server = await startPostgres(['fsync=off']);
  });
  afterAll(async () => {
    await server?.stop();
  });

  fleetContract('postgres', async () => openPostgresFleet(await database()));

  it('lets workers append lines, receipts and events, and not change them', async () => {
    const url = await database();
    const fleet = await openPostgresFleet(url);
    const order = orderOf();
    await fleet.submit(order, [mailOf('go')]);
    await fleet.beat(workerOf('w1'));
    const name = `fleet_${count}`;
    server.sql(name, 'CREATE ROLE w LOGIN; GRANT portcullis_worker TO w');
    const worker = await openPostgresFleet(server.url(name, 'w'));
    const claim = await worker.claim(workerOf('w1'));
    if (claim === undefined) throw new Error('nothing was claimed');
    const entries = [{ agent: '', line: '{}' }];
    await worker.commit(claim, batchOf(1, { entries, receipts: ['r'], events: ['{}'] }));
    await worker.close();
    const connection = new Connection(await loadDriver(), server.url(name, 'w'), { size: 1 });
    for (const sql of [
      `UPDATE entries SET line = 'x'`,
      'DELETE FROM entries',
      `UPDATE receipts SET line = 'x'`,
      'DELETE FROM receipts',
      `INSERT INTO answers (ask, given_by, answer) VALUES ('q', 'me', '{}')`,
      'TRUNCATE entries',
      'DELETE FROM sessions',
    ]) {
      await expect(connection.query(sql), sql).rejects.toThrow('permission denied');
    }
    const stale = `INSERT INTO entries VALUES ('${order.id}', 99, 0, '', '{}')`;
    await expect(connection.query(stale)).rejects.toThrow('stale epoch');
    await connection.close();
    await fleet.close();
  });

  it('says what is wrong with a database, and how to mend it', async () => {
    const empty = await server.create('empty');
    await expect(openPostgresFleet(empty)).rejects.toMatchObject({
      message: 'the fleet database is not set up',
      remedy: expect.stringContaining('portcullis fleet migrate'),
    });
    await expect(openPostgresFleet(server.url('missing'))).rejects.toMatchObject({
      remedy: expect.stringContaining('create the database'),
    });
    await expect(openPostgresFleet('postgres://x@127.0.0.1:1/x')).rejects.toMatchObject({
      remedy: expect.stringContaining('start the database'),
    });
    const url = await database();
    server.sql(`fleet_${count}`, 'INSERT INTO portcullis.schema_version VALUES (99, 50)');
    await expect(openPostgresFleet(url)).rejects.toMatchObject({
      message: expect.stringContaining('schema 99'),
      remedy: 'upgrade this program',
    });
    // A newer schema that older programs may use: a rolling upgrade.
    server.sql(`fleet_${count}`, 'UPDATE portcullis.schema_version SET compatible_from = 1');
    await (await openPostgresFleet(url)).close();
  });

  it('changes nothing when it is migrated a second time', async () => {
    const url = await database();
    const connection = new Connection(await loadDriver(), url, { size: 2 });
    expect(await migrate(connection)).toBe(1);
    await connection.close();
  });
});
