import { systemCodeOf } from '../../errors.js';
import {
  type Batch,
  type BeatReply,
  type Claim,
  type CommitReply,
  type Fleet,
  type GivenAnswer,
  type Mail,
  type SessionRecord,
  StaleEpochError,
  type WorkerInfo,
} from '../types.js';
import {
  Connection,
  type ConnectionOptions,
  loadDriver,
  requireSchema,
  STALE_CODE,
} from './connection.js';
import { PostgresQueries, type SessionColumns, sessionOf } from './postgres-queries.js';

/** Opens the fleet of a database whose schema this program knows. */
export async function openPostgresFleet(
  url: string,
  options: ConnectionOptions = {},
): Promise<PostgresFleet> {
  const connection = new Connection(await loadDriver(), url, options);
  try {
    await requireSchema(connection);
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
  return new PostgresFleet(connection);
}

/** Sessions in PostgreSQL. Times are the database's, so that the clocks of workers do not matter. */
export class PostgresFleet extends PostgresQueries implements Fleet {
  readonly driver = 'postgres';

  async beat(worker: WorkerInfo): Promise<BeatReply> {
    const { rows } = await this.db.query<{ lost: boolean; rates: string[] | null }>(
      `INSERT INTO workers (id, info) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE
       SET info = $2, beat = CASE WHEN workers.lost THEN workers.beat ELSE now() END
       RETURNING lost, (SELECT array_agg(name) FROM rates) AS rates`,
      [worker.id, JSON.stringify(worker)],
    );
    return { lost: rows[0]?.lost === true, rates: rows[0]?.rates ?? [] };
  }

  async leave(worker: string): Promise<void> {
    await this.db.query('DELETE FROM workers WHERE id = $1', [worker]);
  }

  async claim({ id, labels, tenant }: WorkerInfo): Promise<Claim | undefined> {
    const { rows } = await this.db.queryOnce<SessionColumns>(
      'SELECT * FROM claim_session($1, $2, $3)',
      [id, [...labels], tenant ?? null],
    );
    const [row] = rows;
    return row && { session: sessionOf(row), worker: id, epoch: row.epoch };
  }

  async read({ session }: Claim): Promise<SessionRecord> {
    const { id } = session.order;
    const receipt = await this.db.query<{ line: string }>(
      'SELECT line FROM receipts WHERE session = $1 ORDER BY seq DESC LIMIT 1',
      [id],
    );
    return {
      entries: await this.entries(id),
      lastReceipt: receipt.rows[0]?.line,
      intents: await this.intents(id),
    };
  }

  async mail(session: string): Promise<readonly Mail[]> {
    const { rows } = await this.db.query<Mail>(
      `SELECT id, key, sender AS "from", body AS text, timing AS when FROM mail
       WHERE session = $1 AND delivered_epoch IS NULL ORDER BY seq`,
      [session],
    );
    return rows;
  }

  async answers(
    session: string,
    asks: readonly string[],
  ): Promise<ReadonlyMap<string, GivenAnswer | 'expired'>> {
    const { rows } = await this.db.query<{
      id: string;
      given_by: string;
      answer: string | null;
      at: Date;
    }>(
      `SELECT a.id, given_by, answer, at FROM asks a LEFT JOIN answers ON ask = a.id
       WHERE a.session = $1 AND a.id = ANY ($2) AND (answer IS NOT NULL OR a.expires_at <= now())`,
      [session, [...asks]],
    );
    return new Map(
      rows.map(({ id, given_by: by, answer, at }) => [
        id,
        answer === null ? 'expired' : { by, answer: JSON.parse(answer), at: at.toISOString() },
      ]),
    );
  }

  async commit({ session, epoch }: Claim, batch: Batch): Promise<CommitReply> {
    const { entries, asks, patch } = batch;
    const { snapshot, ...fields } = patch;
    try {
      // The writer tries again by itself, and says so.
      const { rows } = await this.db.queryOnce<CommitReply>(
        'SELECT * FROM commit_batch($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16)',
        [
          session.order.id,
          epoch,
          batch.number,
          entries.map(({ agent }) => agent),
          entries.map(({ line }) => line),
          [...batch.receipts],
          JSON.stringify(batch.intents),
          [...batch.ended],
          [...batch.delivered],
          asks.map(({ id }) => id),
          asks.map(({ callHash }) => callHash),
          asks.map(({ policyDigest }) => policyDigest),
          asks.map(({ question }) => JSON.stringify(question)),
          asks.map((ask) =>
            Math.round((Date.parse(ask.expiresAt) - Date.parse(ask.askedAt)) / 1000),
          ),
          [...batch.events],
          JSON.stringify({ ...fields, snapshot: snapshot && JSON.stringify(snapshot) }),
        ],
      );
      return rows[0] ?? { watched: false, cancelled: false };
    } catch (thrown) {
      if (systemCodeOf(thrown) === STALE_CODE) throw new StaleEpochError(session.order.id, epoch);
      throw thrown;
    }
  }

  async reap(deadlineMs: number): Promise<readonly string[]> {
    const { rows } = await this.db.query<{ id: string }>('SELECT reap_sessions($1) AS id', [
      deadlineMs,
    ]);
    return rows.map(({ id }) => id);
  }

  async takeToken(rate: string): Promise<number> {
    const { rows } = await this.db.query<{ wait: number }>(
      `UPDATE rates SET next_at = greatest(next_at, clock_timestamp()) + make_interval(secs => 60 / per_minute)
       WHERE name = $1 RETURNING extract(epoch FROM
         next_at - make_interval(secs => 60 / per_minute) - clock_timestamp())::double precision * 1000 AS wait`,
      [rate],
    );
    return Math.max(0, rows[0]?.wait ?? 0);
  }

  async takeRun(schedule: string, minute: string): Promise<boolean> {
    const { rowCount } = await this.db.query(
      'UPDATE schedules SET last_run = $2 WHERE name = $1 AND last_run < $2',
      [schedule, minute],
    );
    return rowCount === 1;
  }

  async prune(before: string): Promise<number> {
    const { rowCount } = await this.db.query(
      `DELETE FROM sessions WHERE phase IN ('idle', 'stopped', 'cancelled') AND owner = '' AND updated_at < $1`,
      [before],
    );
    return rowCount ?? 0;
  }

  wait(ms: number, signal?: AbortSignal, session?: string): Promise<void> {
    return this.db.wait(ms, signal, session);
  }

  async check(): Promise<void> {
    await requireSchema(this.db);
  }

  close(): Promise<void> {
    return this.db.close();
  }
}
