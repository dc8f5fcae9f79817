import { PortcullisError, systemCodeOf } from '../../errors.js';
import type {
  FleetSession,
  GivenAnswer,
  Intent,
  Mail,
  OpenAsk,
  Schedule,
  SessionFilter,
  SessionOrder,
  SessionPhase,
  StoredEntry,
  TenantLimits,
  TenantRow,
  WorkerInfo,
  WorkerRow,
} from '../types.js';
import { type Connection, connectionError } from './connection.js';

export interface SessionColumns {
  readonly spec: string;
  readonly phase: SessionPhase;
  readonly reason: string;
  readonly epoch: number;
  readonly owner: string;
  readonly turns: number;
  readonly turn_open: boolean;
  readonly snapshot: string | null;
  readonly policy_digest: string;
  readonly spent_usd: number;
  readonly updated_at: Date;
}

/** What clients of the fleet ask and write. */
export class PostgresQueries {
  protected readonly db: Connection;

  constructor(connection: Connection) {
    this.db = connection;
  }

  async submit(order: SessionOrder, mail: readonly Mail[]): Promise<void> {
    const { id, tenant, priority, labels, budgetUsd } = order;
    try {
      await this.db.transaction(async (query) => {
        await query('INSERT INTO tenants (name) VALUES ($1) ON CONFLICT DO NOTHING', [tenant]);
        await query(
          `INSERT INTO sessions (id, tenant, spec, priority, labels, budget_usd) VALUES ($1, $2, $3, $4, $5, $6)`,
          [id, tenant, JSON.stringify(order), priority, [...labels], budgetUsd ?? null],
        );
        for (const one of mail) await query(INSERT_MAIL, mailValues(id, one));
        await query(`SELECT pg_notify('portcullis', '')`);
      });
    } catch (thrown) {
      if (systemCodeOf(thrown) === UNIQUE)
        throw new PortcullisError('session', `Session ID ${id} is already in use`);
      throw connectionError(thrown);
    }
  }

  async send(session: string, mail: Mail): Promise<boolean> {
    return await this.db.transaction(async (query) => {
      // Locked first: a worker that releases the session waits, and then finds the message.
      const { rows } = await query('SELECT phase FROM sessions WHERE id = $1 FOR UPDATE', [
        session,
      ]);
      const phase = (rows[0] as { phase: SessionPhase } | undefined)?.phase;
      if (phase === undefined || phase === 'cancelled') return false;
      await query(INSERT_MAIL, mailValues(session, mail));
      if (phase === 'idle' || phase === 'stopped') await query(MAKE_READY, [session]);
      await query(`SELECT pg_notify('portcullis', '')`);
      await query(`SELECT pg_notify('portcullis', $1)`, [session]);
      return true;
    });
  }

  async cancel(session: string): Promise<boolean> {
    const { rowCount } = await this.db.query(
      `WITH done AS (UPDATE sessions SET phase = 'cancelled', updated_at = now()
        WHERE id = $1 AND phase <> 'cancelled' RETURNING id)
       SELECT pg_notify('portcullis', id) FROM done`,
      [session],
    );
    return rowCount === 1;
  }

  async show(session: string): Promise<FleetSession | undefined> {
    const { rows } = await this.db.query<SessionColumns>('SELECT * FROM sessions WHERE id = $1', [
      session,
    ]);
    return rows[0] && sessionOf(rows[0]);
  }

  async list({
    tenant,
    phase,
    limit = 1_000,
  }: SessionFilter = {}): Promise<readonly FleetSession[]> {
    const { rows } = await this.db.query<SessionColumns>(
      `SELECT * FROM sessions WHERE ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR phase = $2)
       ORDER BY submitted_at DESC LIMIT $3`,
      [tenant ?? null, phase ?? null, limit],
    );
    return rows.map(sessionOf);
  }

  async entries(session: string, after = 0): Promise<readonly StoredEntry[]> {
    const { rows } = await this.db.query<StoredEntry>(
      'SELECT seq, epoch, agent, line FROM entries WHERE session = $1 AND seq > $2 ORDER BY seq',
      [session, after],
    );
    return rows;
  }

  async receipts(session: string): Promise<readonly string[]> {
    const { rows } = await this.db.query<{ line: string }>(
      'SELECT line FROM receipts WHERE session = $1 ORDER BY seq',
      [session],
    );
    return rows.map(({ line }) => line);
  }

  async intents(session: string): Promise<readonly Intent[]> {
    const { rows } = await this.db.query<Intent>(
      `SELECT key, call_id AS "callId", agent, tool, input_hash AS "inputHash", effect,
        ended_at IS NOT NULL AS ended FROM intents WHERE session = $1 ORDER BY started_at`,
      [session],
    );
    return rows;
  }

  async asks(session?: string): Promise<readonly OpenAsk[]> {
    const { rows } = await this.db.query<
      Record<string, unknown> & { asked_at: Date; expires_at: Date }
    >(
      `SELECT a.*, s.tenant, s.spec FROM asks a JOIN sessions s ON s.id = a.session
       WHERE NOT a.closed AND a.expires_at > now() AND s.phase <> 'cancelled'
         AND ($1::text IS NULL OR a.session = $1) AND NOT EXISTS (SELECT 1 FROM answers WHERE ask = a.id)
       ORDER BY a.asked_at`,
      [session ?? null],
    );
    return rows.map((row) => ({
      id: String(row.id),
      session: String(row.session),
      tenant: String(row.tenant),
      title: (JSON.parse(String(row.spec)) as SessionOrder).title ?? '',
      callHash: String(row.call_hash),
      policyDigest: String(row.policy_digest),
      question: JSON.parse(String(row.question)),
      askedAt: row.asked_at.toISOString(),
      expiresAt: row.expires_at.toISOString(),
    }));
  }

  async answer(ask: string, { by, answer }: GivenAnswer): Promise<'accepted' | 'closed'> {
    return await this.db.transaction(async (query) => {
      const open = await query(
        `SELECT s.id, s.phase FROM asks a JOIN sessions s ON s.id = a.session
         WHERE a.id = $1 AND NOT a.closed AND a.expires_at > now() AND s.phase <> 'cancelled' FOR UPDATE OF s`,
        [ask],
      );
      const session = open.rows[0] as { id: string; phase: SessionPhase } | undefined;
      if (session === undefined) return 'closed';
      const { rowCount } = await query(
        'INSERT INTO answers (ask, given_by, answer) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
        [ask, by, JSON.stringify(answer)],
      );
      if (rowCount !== 1) return 'closed';
      if (session.phase === 'parked') await query(MAKE_READY, [session.id]);
      await query(`SELECT pg_notify('portcullis', '')`);
      await query(`SELECT pg_notify('portcullis', $1)`, [session.id]);
      return 'accepted';
    });
  }

  async watch(session: string, after: number): Promise<readonly { seq: number; event: string }[]> {
    await this.db.query(
      `UPDATE sessions SET watched_until = now() + interval '30 seconds'
       WHERE id = $1 AND watched_until < now() + interval '15 seconds'`,
      [session],
    );
    const { rows } = await this.db.query<{ seq: number; event: string }>(
      'SELECT seq, event FROM events WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT 1000',
      [session, after],
    );
    return rows;
  }

  async workers(): Promise<readonly WorkerRow[]> {
    const { rows } = await this.db.query<{
      info: string;
      lost: boolean;
      ago: number;
      running: number;
    }>(
      `SELECT info, lost, extract(epoch FROM now() - beat)::double precision * 1000 AS ago,
        (SELECT count(*)::integer FROM sessions WHERE phase = 'running' AND owner = workers.id) AS running
       FROM workers WHERE beat > now() - interval '1 day' ORDER BY id`,
    );
    return rows.map(({ info, lost, ago, running }) => ({
      ...(JSON.parse(info) as WorkerInfo),
      lost,
      running,
      beatAgoMs: Math.round(ago),
    }));
  }

  async tenants(): Promise<readonly TenantRow[]> {
    const { rows } = await this.db.query<TenantRow>(
      `SELECT name, concurrency, rate_per_minute AS "ratePerMinute", t.budget_usd AS "budgetUsd",
        reserve_usd AS "reserveUsd", count(s.id) FILTER (WHERE phase = 'running')::integer AS running,
        count(s.id) FILTER (WHERE phase = 'ready')::integer AS ready,
        coalesce(sum(spent_usd), 0) AS "spentUsd"
       FROM tenants t LEFT JOIN sessions s ON s.tenant = t.name GROUP BY t.name ORDER BY t.name`,
    );
    return rows;
  }

  async setTenant(name: string, limits: TenantLimits): Promise<void> {
    const { concurrency, ratePerMinute, budgetUsd, reserveUsd } = limits;
    await this.db.query(
      `INSERT INTO tenants (name, concurrency, rate_per_minute, budget_usd, reserve_usd) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO UPDATE SET concurrency = $2, rate_per_minute = $3, budget_usd = $4, reserve_usd = $5`,
      [name, concurrency ?? null, ratePerMinute ?? null, budgetUsd ?? null, reserveUsd ?? null],
    );
  }

  async setRate(name: string, perMinute: number | null): Promise<void> {
    await (perMinute === null
      ? this.db.query('DELETE FROM rates WHERE name = $1', [name])
      : this.db.query(
          'INSERT INTO rates (name, per_minute) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET per_minute = $2',
          [name, perMinute],
        ));
  }

  async schedules(): Promise<readonly Schedule[]> {
    const { rows } = await this.db.query<{ body: string; last_run: string }>(
      'SELECT body, last_run FROM schedules ORDER BY name',
    );
    return rows.map(({ body, last_run: lastRun }) => ({ ...JSON.parse(body), lastRun }));
  }

  async putSchedule(schedule: Schedule): Promise<void> {
    await this.db.query(
      'INSERT INTO schedules (name, body) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET body = $2',
      [schedule.name, JSON.stringify(schedule)],
    );
  }

  async removeSchedule(name: string): Promise<boolean> {
    return (await this.db.query('DELETE FROM schedules WHERE name = $1', [name])).rowCount === 1;
  }
}

const UNIQUE = '23505';
const INSERT_MAIL = `INSERT INTO mail (session, id, key, sender, body, timing) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (session, key) DO NOTHING`;
const MAKE_READY = `UPDATE sessions SET phase = 'ready', ready_at = now(), updated_at = now() WHERE id = $1`;

function mailValues(session: string, { id, key, from, text, when }: Mail): string[] {
  // A text column takes no NUL character.
  return [session, id, key, from, text.replaceAll('\0', ''), when];
}

export function sessionOf(row: SessionColumns): FleetSession {
  return {
    order: JSON.parse(row.spec),
    phase: row.phase,
    reason: row.reason,
    epoch: row.epoch,
    owner: row.phase === 'running' ? row.owner : '',
    turns: row.turns,
    turnOpen: row.turn_open,
    snapshot: row.snapshot === null ? undefined : JSON.parse(row.snapshot),
    policyDigest: row.policy_digest,
    spentUsd: row.spent_usd,
    updatedAt: row.updated_at.toISOString(),
  };
}
