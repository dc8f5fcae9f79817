import {
  type AgentSession,
  memoryStoreOf,
  type RawLine,
  readSessionOptions,
  type SessionConfig,
} from '../../app.js';
import { PortcullisError } from '../../errors.js';
import { sha256 } from '../../platform/hash.js';
import { mirrored } from '../../session/transcript/mirror.js';
import type { FleetSession, SessionOrder, SessionRecord, Snapshot } from '../types.js';
import { effectOf } from './effects.js';
import { linesByAgent, type SessionWriter } from './session-writer.js';

export interface DrivenSession {
  readonly session: FleetSession;
  readonly record: SessionRecord;
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly writer: SessionWriter;
  /** A call with effects is about to run. */
  onEffect(): void;
  /** Waits until a request to this model may be sent. */
  admit(model: string): Promise<void>;
}

/** The configuration of a session that goes on where the worker before left it. */
export function sessionConfig(driven: DrivenSession): Omit<SessionConfig, 'emit'> {
  const { session, record, writer, directory, env } = driven;
  const { order, spentUsd } = session;
  const read = readSessionOptions(order.options);
  if (!read.ok) throw new PortcullisError('config', read.error);
  const { id } = order;
  const lines = [...linesByAgent(record)];
  const store = memoryStoreOf(
    lines.map(([agent, own]) => ({
      sessionId: id,
      agentId: agent === '' ? undefined : agent,
      lines: own as readonly RawLine[],
    })),
  );
  const left = order.budgetUsd === undefined ? undefined : Math.max(0, order.budgetUsd - spentUsd);
  const budgets = [read.value.maxBudgetUsd, left].filter((one) => one !== undefined);
  return {
    ...read.value,
    cwd: directory,
    env,
    entrypoint: 'portcullis-fleet',
    start:
      lines.length === 0
        ? { kind: 'new', id }
        : { kind: 'resume', id, newId: undefined, at: undefined },
    ...(budgets.length > 0 && { maxBudgetUsd: Math.min(...budgets) }),
    waitForBackground: true,
    store: mirrored(store, (news) => {
      if (news.type === 'transcript') writer.lines(agentOf(news.path), news.lines);
    }),
    drive: {
      journalFiles: writer.journalFiles,
      runsAgain: (call) => {
        const intent = writer.interrupted(call.id);
        return intent === undefined || intent.effect !== 'unsafe';
      },
      beforeCall: async (call) => {
        const effect = effectOf(call, order);
        if (effect === 'read') return undefined;
        driven.onEffect();
        return await writer.begin({
          callId: call.call.id,
          agent: call.agent.path,
          tool: call.tool.name,
          inputHash: sha256(JSON.stringify(call.input)),
          effect,
        });
      },
      beforeRequest: driven.admit,
    },
  };
}

/** Names the policy that a session runs under: its options, the rules in force, the mode. */
export function digestOf(session: AgentSession, order: SessionOrder): string {
  const { rules, managedOnly } = session.inspect.rules();
  const listed = Array.isArray(rules) ? rules : [];
  const facts = listed.map(({ behavior, rule, source }) => [behavior, rule, source]);
  const { mode } = session.info();
  return sha256(JSON.stringify(['policy 1', order.options, facts, managedOnly, mode]));
}

/** The message to the model from the worker that continues its turn. */
export function takeoverNote(snapshot: Snapshot | undefined, isRestored: boolean): string {
  const restored =
    snapshot === undefined
      ? 'The files are those that the session began with; changes since then are lost.'
      : `The files are those of the snapshot of turn ${snapshot.turn}; later changes are lost.`;
  const files = isRestored ? restored : 'The files are as they were.';
  return `<system-reminder>The session was moved to another worker in the middle of your turn. ${files} Calls whose result says "outcome unknown" may have had effects: check before you repeat them. Go on with the task.</system-reminder>`;
}

/** The agent whose transcript a file of the usual layout is; empty: the main one. */
function agentOf(path: string): string {
  return /subagents[/\\]agent-([^/\\]+)\.jsonl$/.exec(path)?.[1] ?? '';
}
