import type { FleetClient } from '../fleet/attach.js';
import { FleetFollower } from '../fleet/follower.js';
import { readReceipts } from '../fleet/receipts.js';
import type { FleetSession } from '../fleet/types.js';
import { parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';
import type { ReadJournal } from '../project/journal.js';
import { type RecordedAgent, recordedAgent } from '../project/policy/recorded-session.js';
import { type InboxRow, inboxRow, type LiveRow } from './rows.js';

const KEY_PREFIX = 'fleet-';

const STATES = {
  parked: 'needs you',
  ready: 'working',
  running: 'working',
  idle: 'idle',
  stopped: 'idle',
  cancelled: 'idle',
} as const satisfies Record<FleetSession['phase'], LiveRow['state']>;

/** The sessions of the configured fleet, as the page shows those of this machine. */
export class FleetSessions extends FleetFollower {
  rows(): readonly LiveRow[] {
    return this.sessions.map(({ order, phase, reason, spentUsd }) => ({
      key: `${KEY_PREFIX}${order.id}`,
      sessionId: order.id,
      kind: 'fleet',
      cwd: '',
      repository: order.repository,
      title: titleOf(order),
      state: this.asks.some(({ session }) => session === order.id) ? 'needs you' : STATES[phase],
      startedAt: order.submittedAt,
      model: String(order.options.model ?? ''),
      mode: String(order.options.permissionMode ?? ''),
      models: [],
      costUsd: spentUsd,
      unknownModels: [],
      agents: [],
      tasks: [],
      servers: [],
      problem: phase === 'stopped' && reason !== '' ? reason : undefined,
    }));
  }

  inbox(): readonly InboxRow[] {
    return this.asks.map(({ session: sessionId, question, callHash: hash, title }) => {
      const key = `${KEY_PREFIX}${sessionId}`;
      const named = titleOf({ id: sessionId, title });
      return inboxRow({ question, hash }, { key, sessionId, title: named, remote: true });
    });
  }

  /** Undefined: the key names no session of the fleet. */
  async session(key: string): Promise<FleetClient | undefined> {
    const session = key.startsWith(KEY_PREFIX) && this.find(key.slice(KEY_PREFIX.length));
    return session ? await this.client(session) : undefined;
  }

  /** The stored transcripts of a session. Undefined: it is not of the fleet. */
  async recorded(id: string): Promise<readonly RecordedAgent[] | undefined> {
    if (this.find(id) === undefined) return undefined;
    const agents = new Map<string, Readonly<Record<string, unknown>>[]>();
    for (const { agent, line } of await (await this.fleet()).entries(id)) {
      const parsed = parseJson(line);
      if (!parsed.ok || !isRecord(parsed.value)) continue;
      const lines = agents.get(agent) ?? [];
      lines.push(parsed.value);
      agents.set(agent, lines);
    }
    return [...agents].map(([agent, lines]) => recordedAgent(agent, lines));
  }

  /** The receipts of a session. Undefined: it is not of the fleet. */
  async journal(id: string): Promise<Omit<ReadJournal, 'file'> | undefined> {
    if (this.find(id) === undefined) return undefined;
    return { session: id, ...readReceipts(await (await this.fleet()).receipts(id)) };
  }
}

function titleOf({ id, title }: { readonly id: string; readonly title?: string | undefined }) {
  return title || `Fleet session ${id.slice(0, 8)}`;
}
