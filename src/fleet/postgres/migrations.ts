/** One step of the schema. `compatibleFrom`: the oldest schema whose programs still work after it. */
export interface Migration {
  readonly version: number;
  readonly compatibleFrom: number;
  readonly sql: string;
}

const TABLES = `
CREATE TABLE sessions (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  spec text NOT NULL,
  phase text NOT NULL DEFAULT 'ready'
    CHECK (phase IN ('ready', 'running', 'parked', 'idle', 'stopped', 'cancelled')),
  reason text NOT NULL DEFAULT '',
  epoch integer NOT NULL DEFAULT 0,
  owner text NOT NULL DEFAULT '',
  batch integer NOT NULL DEFAULT 0,
  priority integer NOT NULL,
  labels text[] NOT NULL,
  turns integer NOT NULL DEFAULT 0,
  turn_open boolean NOT NULL DEFAULT false,
  snapshot text,
  policy_digest text NOT NULL DEFAULT '',
  budget_usd double precision,
  spent_usd double precision NOT NULL DEFAULT 0,
  reserved_usd double precision NOT NULL DEFAULT 0,
  entry_count integer NOT NULL DEFAULT 0,
  receipt_count integer NOT NULL DEFAULT 0,
  event_count integer NOT NULL DEFAULT 0,
  watched_until timestamptz NOT NULL DEFAULT '-infinity',
  ready_at timestamptz NOT NULL DEFAULT now(),
  submitted_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_ready ON sessions (priority DESC, ready_at) WHERE phase = 'ready';
CREATE INDEX sessions_running ON sessions (tenant, owner) WHERE phase = 'running';
CREATE INDEX sessions_parked ON sessions (id) WHERE phase = 'parked';
CREATE INDEX sessions_recent ON sessions (submitted_at DESC);

-- Lines are text, not jsonb: jsonb takes no NUL character, and a line is given back as it was written.
CREATE TABLE entries (
  session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
  seq integer NOT NULL,
  epoch integer NOT NULL,
  agent text NOT NULL,
  line text NOT NULL,
  PRIMARY KEY (session, seq)
);
CREATE TABLE receipts (
  session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
  seq integer NOT NULL,
  epoch integer NOT NULL,
  line text NOT NULL,
  PRIMARY KEY (session, seq)
);
CREATE TABLE intents (
  key text PRIMARY KEY,
  session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
  epoch integer NOT NULL,
  call_id text NOT NULL,
  agent text NOT NULL,
  tool text NOT NULL,
  input_hash text NOT NULL,
  effect text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz
);
CREATE INDEX intents_session ON intents (session);
CREATE TABLE mail (
  seq bigserial PRIMARY KEY,
  session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
  id text NOT NULL UNIQUE,
  key text NOT NULL,
  sender text NOT NULL,
  body text NOT NULL,
  timing text NOT NULL,
  delivered_epoch integer,
  UNIQUE (session, key)
);
CREATE INDEX mail_waiting ON mail (session, seq) WHERE delivered_epoch IS NULL;
CREATE TABLE asks (
  id text PRIMARY KEY,
  session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
  epoch integer NOT NULL,
  call_hash text NOT NULL,
  policy_digest text NOT NULL,
  question text NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  closed boolean NOT NULL DEFAULT false
);
CREATE INDEX asks_open ON asks (session) WHERE NOT closed;
CREATE TABLE answers (
  ask text PRIMARY KEY REFERENCES asks ON DELETE CASCADE,
  given_by text NOT NULL,
  answer text NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE events (
  session text NOT NULL REFERENCES sessions ON DELETE CASCADE,
  seq integer NOT NULL,
  epoch integer NOT NULL,
  event text NOT NULL,
  PRIMARY KEY (session, seq)
);
CREATE TABLE workers (
  id text PRIMARY KEY,
  info text NOT NULL,
  lost boolean NOT NULL DEFAULT false,
  beat timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE tenants (
  name text PRIMARY KEY,
  concurrency integer,
  rate_per_minute double precision,
  budget_usd double precision,
  reserve_usd double precision,
  next_start timestamptz NOT NULL DEFAULT '-infinity'
);
CREATE TABLE rates (
  name text PRIMARY KEY,
  per_minute double precision NOT NULL CHECK (per_minute > 0),
  next_at timestamptz NOT NULL DEFAULT '-infinity'
);
CREATE TABLE schedules (
  name text PRIMARY KEY,
  body text NOT NULL,
  last_run text NOT NULL DEFAULT ''
);`;

/** Every row of a drive carries its epoch; a row of an older one is refused, whichever way it comes. */
const FENCE = `
CREATE FUNCTION fence() RETURNS trigger LANGUAGE plpgsql SET search_path = portcullis AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM sessions WHERE id = NEW.session AND epoch = NEW.epoch AND owner <> '') THEN
    RAISE EXCEPTION 'stale epoch % of session %', NEW.epoch, NEW.session USING ERRCODE = 'PF001';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER fence BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION fence();
CREATE TRIGGER fence BEFORE INSERT ON receipts FOR EACH ROW EXECUTE FUNCTION fence();
CREATE TRIGGER fence BEFORE INSERT ON intents FOR EACH ROW EXECUTE FUNCTION fence();
CREATE TRIGGER fence BEFORE INSERT ON asks FOR EACH ROW EXECUTE FUNCTION fence();
CREATE TRIGGER fence BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION fence();`;

const CLAIM = `
CREATE FUNCTION claim_session(p_worker text, p_labels text[], p_tenant text)
RETURNS SETOF sessions LANGUAGE plpgsql SET search_path = portcullis AS $$
DECLARE
  eligible text[];
  chosen text;
  chosen_tenant text;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM sessions WHERE phase = 'ready') THEN RETURN; END IF;
  -- One claim at a time: the limits of a tenant are counted, and two claims must not both find room.
  PERFORM pg_advisory_xact_lock(7305126);
  SELECT array_agg(t.name) INTO eligible FROM tenants t
  WHERE (p_tenant IS NULL OR t.name = p_tenant)
    AND t.name IN (SELECT tenant FROM sessions WHERE phase = 'ready')
    AND (t.rate_per_minute IS NULL OR t.next_start <= now())
    AND (t.concurrency IS NULL OR t.concurrency >
      (SELECT count(*) FROM sessions r WHERE r.phase = 'running' AND r.tenant = t.name))
    AND (t.budget_usd IS NULL OR t.budget_usd >= coalesce(t.reserve_usd, 1) +
      (SELECT coalesce(sum(spent_usd + reserved_usd), 0) FROM sessions b WHERE b.tenant = t.name));
  SELECT id, tenant INTO chosen, chosen_tenant FROM sessions
  WHERE phase = 'ready' AND tenant = ANY (eligible) AND labels <@ p_labels
  ORDER BY priority DESC, ready_at LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF chosen IS NULL THEN RETURN; END IF;
  UPDATE tenants SET next_start = now() + make_interval(secs => 60 / rate_per_minute)
  WHERE name = chosen_tenant AND rate_per_minute IS NOT NULL;
  RETURN QUERY UPDATE sessions s
  SET phase = 'running', epoch = s.epoch + 1, owner = p_worker, batch = 0, updated_at = now(),
    reserved_usd = (SELECT CASE WHEN t.budget_usd IS NULL THEN 0 ELSE coalesce(t.reserve_usd, 1) END
      FROM tenants t WHERE t.name = s.tenant)
  WHERE s.id = chosen RETURNING s.*;
END $$;`;

const COMMIT = `
CREATE FUNCTION commit_batch(
  p_session text, p_epoch integer, p_number integer,
  p_agents text[], p_lines text[], p_receipts text[],
  p_intents json, p_ended text[], p_delivered text[],
  p_ask_ids text[], p_ask_calls text[], p_ask_digests text[], p_ask_questions text[], p_ask_seconds integer[],
  p_events text[], p_patch json
) RETURNS TABLE (watched boolean, cancelled boolean)
LANGUAGE plpgsql SET search_path = portcullis AS $$
DECLARE
  s sessions%ROWTYPE;
  phase_now text;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session FOR UPDATE;
  IF NOT FOUND OR s.epoch <> p_epoch OR s.owner = '' THEN
    -- A release that was written, and whose reply was lost, is asked for again.
    IF FOUND AND s.epoch = p_epoch AND p_number = s.batch THEN
      RETURN QUERY SELECT false, s.phase = 'cancelled';
      RETURN;
    END IF;
    RAISE EXCEPTION 'stale epoch % of session %', p_epoch, p_session USING ERRCODE = 'PF001';
  END IF;
  IF p_number <= s.batch THEN
    RETURN QUERY SELECT s.watched_until > now(), s.phase = 'cancelled';
    RETURN;
  END IF;
  INSERT INTO entries SELECT p_session, s.entry_count + n, p_epoch, a, l
    FROM unnest(p_agents, p_lines) WITH ORDINALITY AS t (a, l, n);
  INSERT INTO receipts SELECT p_session, s.receipt_count + n, p_epoch, l
    FROM unnest(p_receipts) WITH ORDINALITY AS t (l, n);
  INSERT INTO intents (key, session, epoch, call_id, agent, tool, input_hash, effect)
    SELECT i ->> 'key', p_session, p_epoch, i ->> 'callId', i ->> 'agent', i ->> 'tool',
      i ->> 'inputHash', i ->> 'effect' FROM json_array_elements(p_intents) i
    ON CONFLICT (key) DO UPDATE SET epoch = excluded.epoch, started_at = now();
  IF cardinality(p_ended) > 0 THEN
    UPDATE intents SET ended_at = now() WHERE key = ANY (p_ended) AND session = p_session;
  END IF;
  IF cardinality(p_delivered) > 0 THEN
    UPDATE mail SET delivered_epoch = p_epoch
    WHERE session = p_session AND id = ANY (p_delivered) AND delivered_epoch IS NULL;
  END IF;
  IF (p_patch ->> 'closeAsks')::boolean THEN
    UPDATE asks SET closed = true WHERE session = p_session AND NOT closed;
  END IF;
  INSERT INTO asks (id, session, epoch, call_hash, policy_digest, question, expires_at)
    SELECT i, p_session, p_epoch, c, d, q, now() + make_interval(secs => e)
    FROM unnest(p_ask_ids, p_ask_calls, p_ask_digests, p_ask_questions, p_ask_seconds) AS t (i, c, d, q, e)
    ON CONFLICT (id) DO NOTHING;
  INSERT INTO events SELECT p_session, s.event_count + n, p_epoch, l
    FROM unnest(p_events) WITH ORDINALITY AS t (l, n);
  phase_now := s.phase;
  IF p_patch ->> 'release' IS NOT NULL AND s.phase <> 'cancelled' THEN
    phase_now := p_patch ->> 'release';
    IF phase_now = 'idle' AND EXISTS
      (SELECT 1 FROM mail WHERE session = p_session AND delivered_epoch IS NULL) THEN
      phase_now := 'ready';
    END IF;
    IF phase_now = 'parked' AND EXISTS (SELECT 1 FROM asks k WHERE k.session = p_session AND NOT k.closed
      AND (k.expires_at <= now() OR EXISTS (SELECT 1 FROM answers WHERE ask = k.id))) THEN
      phase_now := 'ready';
    END IF;
    IF phase_now = 'ready' THEN PERFORM pg_notify('portcullis', ''); END IF;
  END IF;
  UPDATE sessions SET
    batch = p_number,
    entry_count = s.entry_count + cardinality(p_lines),
    receipt_count = s.receipt_count + cardinality(p_receipts),
    event_count = s.event_count + cardinality(p_events),
    turns = coalesce((p_patch ->> 'turns')::integer, turns),
    turn_open = coalesce((p_patch ->> 'turnOpen')::boolean, turn_open),
    snapshot = coalesce(p_patch ->> 'snapshot', snapshot),
    policy_digest = coalesce(p_patch ->> 'policyDigest', policy_digest),
    spent_usd = coalesce((p_patch ->> 'spentUsd')::double precision, spent_usd),
    reason = coalesce(p_patch ->> 'reason', reason),
    phase = phase_now,
    owner = CASE WHEN p_patch ->> 'release' IS NULL THEN owner ELSE '' END,
    reserved_usd = CASE WHEN p_patch ->> 'release' IS NULL THEN reserved_usd ELSE 0 END,
    ready_at = CASE WHEN p_patch ->> 'release' IS NULL THEN ready_at ELSE now() END,
    updated_at = now()
  WHERE id = p_session;
  IF cardinality(p_events) > 0 THEN PERFORM pg_notify('portcullis', p_session); END IF;
  RETURN QUERY SELECT s.watched_until > now(), s.phase = 'cancelled';
END $$;`;

const REAP = `
CREATE FUNCTION reap_sessions(p_deadline_ms integer)
RETURNS SETOF text LANGUAGE plpgsql SET search_path = portcullis AS $$
BEGIN
  UPDATE workers SET lost = true
  WHERE NOT lost AND beat < now() - make_interval(secs => p_deadline_ms / 1000.0);
  RETURN QUERY UPDATE sessions s
  SET phase = 'ready', epoch = s.epoch + 1, owner = '', batch = 0, reserved_usd = 0, ready_at = now(), updated_at = now()
  WHERE s.phase = 'running' AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = s.owner AND NOT w.lost)
  RETURNING s.id;
  UPDATE sessions s SET phase = 'ready', ready_at = now(), updated_at = now()
  WHERE s.phase = 'parked' AND EXISTS (SELECT 1 FROM asks k WHERE k.session = s.id AND NOT k.closed AND
    (k.expires_at <= now() OR EXISTS (SELECT 1 FROM answers WHERE ask = k.id)));
END $$;`;

/** Workers append lines, receipts and events and cannot change or remove them; they give no answers. */
const RIGHTS = `
-- Roles belong to all databases of a server: another one may be migrated at this moment.
DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['portcullis_worker', 'portcullis_client'] LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
  END LOOP;
END $$;
GRANT USAGE ON SCHEMA portcullis TO portcullis_worker, portcullis_client;
GRANT SELECT ON ALL TABLES IN SCHEMA portcullis TO portcullis_worker, portcullis_client;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA portcullis TO portcullis_worker, portcullis_client;
GRANT INSERT ON entries, receipts, events, intents, asks, workers, sessions, mail, tenants TO portcullis_worker;
GRANT UPDATE ON sessions, workers, tenants, rates, schedules TO portcullis_worker;
GRANT UPDATE (epoch, started_at, ended_at) ON intents TO portcullis_worker;
GRANT UPDATE (delivered_epoch) ON mail TO portcullis_worker;
GRANT UPDATE (closed) ON asks TO portcullis_worker;
GRANT DELETE ON workers TO portcullis_worker;
GRANT INSERT ON sessions, mail, answers, tenants, rates, schedules TO portcullis_client;
GRANT UPDATE (phase, reason, ready_at, updated_at, watched_until) ON sessions TO portcullis_client;
GRANT UPDATE ON tenants, rates, schedules TO portcullis_client;
GRANT DELETE ON rates, schedules TO portcullis_client;`;

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, compatibleFrom: 1, sql: [TABLES, FENCE, CLAIM, COMMIT, REAP, RIGHTS].join('\n') },
];

export const SCHEMA_VERSION = 1;
