import { join } from 'node:path';
import { PortcullisError } from '../errors.js';
import { stateDirectory } from '../platform/fs/paths.js';
import type { ConnectionOptions } from './postgres/connection.js';
import type { Fleet } from './types.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that names the fleet: a PostgreSQL address, or a directory of this machine. */
export const FLEET_VARIABLE = 'PORTCULLIS_FLEET';

/** The database of the fleet; undefined: it is kept in files. */
export function fleetDatabase(env: Environment): string | undefined {
  const named = env[FLEET_VARIABLE];
  return named !== undefined && /^postgres(ql)?:\/\//.test(named) ? named : undefined;
}

/** Opens the fleet that the environment names; files below the state directory where it names none. */
export async function openFleet(
  env: Environment,
  connection: ConnectionOptions = {},
): Promise<Fleet> {
  const url = fleetDatabase(env);
  if (url !== undefined) {
    const { openPostgresFleet } = await import('./postgres/postgres-fleet.js');
    return await openPostgresFleet(url, connection);
  }
  const named = env[FLEET_VARIABLE] ?? '';
  if (/^\w+:\/\//.test(named)) {
    throw new PortcullisError(
      'config',
      `${FLEET_VARIABLE} names neither PostgreSQL nor a directory`,
      {
        remedy: 'set it to postgres://user@host/database or to a path',
      },
    );
  }
  const { LocalFleet } = await import('./local/local-fleet.js');
  return new LocalFleet(named === '' ? join(stateDirectory(env), 'fleet') : named);
}

/** Creates the tables of a database, or brings them up to date. Returns the version that it had. */
export async function migrateFleet(env: Environment): Promise<number> {
  const url = fleetDatabase(env);
  if (url === undefined) {
    throw new PortcullisError('config', `${FLEET_VARIABLE} names no database`, {
      remedy: 'set it to postgres://owner@host/database',
    });
  }
  const { Connection, connectionError, loadDriver, migrate } = await import(
    './postgres/connection.js'
  );
  const { migrateEngine } = await import('./postgres/dbos-engine.js');
  const connection = new Connection(await loadDriver(), url, { size: 1 });
  try {
    const from = await migrate(connection);
    await migrateEngine(url);
    return from;
  } catch (thrown) {
    throw connectionError(thrown);
  } finally {
    await connection.close();
  }
}
