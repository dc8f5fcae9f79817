import type { Client, ClientConfig, Pool, PoolConfig, QueryResult, QueryResultRow } from 'pg';
import { messageOf, PortcullisError, systemCodeOf } from '../../errors.js';
import { MIGRATIONS, SCHEMA_VERSION } from './migrations.js';

interface Driver {
  readonly Pool: new (config: PoolConfig) => Pool;
  readonly Client: new (config: ClientConfig) => Client;
}

/** The error of a write with a stale epoch. */
export const STALE_CODE = 'PF001';
const CHANNEL = 'portcullis';
const RECONNECT_MS = 2_000;
const RETRY_MS = 500;
const USUAL_SIZE = 4;
/** The server ends, starts, has no room for a connection, or no disk. */
const TRANSIENT = /^(57P0[123]|08...|53[0-9]{3}|ECONN(RESET|REFUSED)|EPIPE|ETIMEDOUT)$/;

/** The optional packages are looked for when a database is configured, and not before. */
export async function loadDriver(): Promise<Driver> {
  try {
    const loaded = await import('pg');
    return loaded.default ?? loaded;
  } catch (thrown) {
    throw new PortcullisError(
      'config',
      'PORTCULLIS_FLEET names a database, and the package pg is not installed',
      {
        remedy: 'npm install pg @dbos-inc/dbos-sdk',
        cause: thrown,
      },
    );
  }
}

export interface ConnectionOptions {
  /** Connections at most. */
  readonly size?: number;
  /** How long statements wait for a database that is away. */
  readonly waitMs?: number;
  /** Called once for each time that it is away. */
  onAway?(problem: string): void;
}

/** A pool of connections, and the notifications of other processes. */
export class Connection {
  readonly #pool: Pool;
  readonly #driver: Driver;
  readonly #url: string;
  readonly #options: ConnectionOptions;
  #isAway = false;
  #listener: Client | undefined;
  #closed = false;
  #reconnecting: ReturnType<typeof setTimeout> | undefined;
  /** What each waits for: a session, or an empty name. */
  readonly #waiting = new Map<() => void, string>();

  constructor(driver: Driver, url: string, options: ConnectionOptions) {
    this.#options = options;
    this.#driver = driver;
    this.#url = url;
    this.#pool = new driver.Pool({
      connectionString: url,
      max: options.size ?? USUAL_SIZE,
      connectionTimeoutMillis: 5_000,
      // A statement that hangs must not keep a worker from noticing that it lost its sessions.
      query_timeout: 20_000,
      application_name: 'portcullis',
      options: '-c search_path=portcullis',
    });
    // A connection that breaks while it is idle is replaced by the next query.
    this.#pool.on('error', () => undefined);
  }

  /**
   * Runs a statement that may run twice. Where the database cannot be reached, it is tried again for as long as the
   * connection was opened to wait.
   */
  async query<Row extends QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    const { waitMs = 0, onAway } = this.#options;
    const deadline = performance.now() + waitMs;
    for (;;) {
      try {
        const result = await this.queryOnce<Row>(sql, values);
        this.#isAway = false;
        return result;
      } catch (thrown) {
        if (!isTransient(thrown) || this.#closed || performance.now() >= deadline) throw thrown;
        if (!this.#isAway) onAway?.(messageOf(thrown));
        this.#isAway = true;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async queryOnce<Row extends QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    return await this.#pool.query<Row>(sql, [...values]);
  }

  /** Runs statements in one transaction. */
  async transaction<T>(work: (query: Pool['query']) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    try {
      await client.query('BEGIN');
      const value = await work(client.query.bind(client) as Pool['query']);
      await client.query('COMMIT');
      return value;
    } catch (thrown) {
      failure = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
      await client.query('ROLLBACK').catch(() => undefined);
      throw thrown;
    } finally {
      client.release(failure);
    }
  }

  /** Resolves at the next notification of another process, or after the time. */
  async wait(ms: number, signal?: AbortSignal, topic = ''): Promise<void> {
    this.#listen();
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
      this.#waiting.set(done, topic);
      if (signal?.aborted === true) done();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#reconnecting);
    for (const wake of [...this.#waiting.keys()]) wake();
    await this.#listener?.end().catch(() => undefined);
    await this.#pool.end();
  }

  /** A notification is a hint: without the connection for it everything works by polling. */
  #listen(): void {
    if (this.#listener !== undefined || this.#closed || this.#reconnecting !== undefined) return;
    const client = new this.#driver.Client({
      connectionString: this.#url,
      application_name: 'portcullis listen',
    });
    this.#listener = client;
    const lost = (): void => {
      if (this.#listener !== client) return;
      this.#listener = undefined;
      client.end().catch(() => undefined);
      this.#reconnecting = setTimeout(() => {
        this.#reconnecting = undefined;
      }, RECONNECT_MS);
      this.#reconnecting.unref();
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload = '' }) => {
      for (const [wake, topic] of [...this.#waiting]) if (topic === payload) wake();
    });
    client
      .connect()
      .then(() => client.query(`LISTEN ${CHANNEL}`), lost)
      .catch(lost);
  }
}

/** Creates the schema, or brings it up to date. Each step is one transaction. */
export async function migrate(connection: Connection): Promise<number> {
  await connection.transaction(async (query) => {
    await query('CREATE SCHEMA IF NOT EXISTS portcullis');
    await query(`CREATE TABLE IF NOT EXISTS portcullis.schema_version (
      version integer PRIMARY KEY, compatible_from integer NOT NULL, at timestamptz NOT NULL DEFAULT now())`);
  });
  const known = await connection.query<{ version: number }>(
    'SELECT coalesce(max(version), 0) AS version FROM portcullis.schema_version',
  );
  const from = known.rows[0]?.version ?? 0;
  for (const { version, compatibleFrom, sql } of MIGRATIONS) {
    if (version <= from) continue;
    await connection.transaction(async (query) => {
      await query('SET LOCAL search_path = portcullis');
      await query(sql);
      await query('INSERT INTO schema_version (version, compatible_from) VALUES ($1, $2)', [
        version,
        compatibleFrom,
      ]);
    });
  }
  return from;
}

/** fail-closed: a program does not write to tables that it does not know. */
export async function requireSchema(connection: Connection): Promise<void> {
  let rows: readonly { version: number; compatible_from: number }[];
  try {
    ({ rows } = await connection.query<{ version: number; compatible_from: number }>(
      'SELECT version, compatible_from FROM portcullis.schema_version ORDER BY version DESC LIMIT 1',
    ));
  } catch (thrown) {
    throw connectionError(thrown);
  }
  const { version = 0, compatible_from: oldest = 0 } = rows[0] ?? {};
  if (version < SCHEMA_VERSION) throw notMigrated(version);
  if (oldest > SCHEMA_VERSION) {
    throw new PortcullisError(
      'config',
      `the fleet database has schema ${version}, and this program knows ${SCHEMA_VERSION}`,
      {
        remedy: 'upgrade this program',
      },
    );
  }
}

/** The connection broke, or the server cannot serve now: the same statement may succeed later. */
function isTransient(thrown: unknown): boolean {
  // The driver has no code for a connection that was closed before or during a statement.
  const isClosed =
    /^(Connection terminated|Client has encountered|timeout exceeded|Query read timeout)/;
  return TRANSIENT.test(systemCodeOf(thrown) ?? '') || isClosed.test(messageOf(thrown));
}

function notMigrated(version: number): PortcullisError {
  const has = version === 0 ? 'is not set up' : `has schema ${version} and needs ${SCHEMA_VERSION}`;
  return new PortcullisError('config', `the fleet database ${has}`, {
    remedy: 'run as its owner: portcullis fleet migrate',
  });
}

/** What is wrong with a database, in words for people; never the address, which holds a password. */
export function connectionError(thrown: unknown): PortcullisError {
  if (thrown instanceof PortcullisError) return thrown;
  const code = systemCodeOf(thrown) ?? '';
  if (code === '42P01' || code === '3F000') return notMigrated(0);
  const remedies: Readonly<Record<string, string>> = {
    '28P01': 'check the user and the password in PORTCULLIS_FLEET',
    '28000': 'check the user in PORTCULLIS_FLEET and pg_hba.conf',
    '3D000': 'create the database, or correct its name in PORTCULLIS_FLEET',
    '42501': 'grant the role portcullis_worker or portcullis_client to this user',
    '53100': 'free disk space on the database server',
    ECONNREFUSED: 'start the database, or correct host and port in PORTCULLIS_FLEET',
    ENOTFOUND: 'correct the host in PORTCULLIS_FLEET',
  };
  return new PortcullisError('network', `the fleet database cannot be used: ${messageOf(thrown)}`, {
    remedy: remedies[code] ?? 'check PORTCULLIS_FLEET and the database',
    cause: thrown,
  });
}
