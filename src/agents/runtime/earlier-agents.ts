import type { AgentUsage, Span } from '../../budget/earlier.js';
import type { SessionBudget } from '../../budget/session-budget.js';
import type { Log } from '../../config/session-environment.js';
import { isRecord } from '../../lib/own.js';
import type { ModelClient } from '../../model/client.js';
import type { UsageLedger } from '../../model/usage.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import { ZERO_USAGE } from '../../protocol/content.js';
import type { AssistantEntry, TranscriptEntry, UserEntry } from '../../protocol/transcript.js';
import { SYNTHETIC_MODEL } from '../../session/recorder.js';
import { isSafeId } from '../../session/session-id.js';
import { INTERRUPTED_RESULT } from '../../session/transcript/messages.js';
import { readInheritedLimits } from '../limits/limits.js';
import { AGENT_MARK } from './agent-log.js';
import type { EarlierAgent } from './resume.js';
import type { Roster } from './roster.js';

/** An ended agent of this session, from its transcript; undefined when none is readable. */
export async function earlierAgent(log: Log, id: string): Promise<EarlierAgent | undefined> {
  if (!isSafeId(id)) return undefined;
  const { sessionId } = log.history;
  const loaded = await log.store.read(sessionId, id);
  if (loaded === undefined) return undefined;
  const mark = loaded.entries.find(
    (entry) => entry.type === 'attachment' && entry.attachment.type === AGENT_MARK,
  );
  if (mark?.type !== 'attachment') return undefined;
  const { agent, description, model, above, once } = mark.attachment;
  // fail-closed: without its identity the agent's permissions are unknown.
  if (!isRef(agent) || agent.id !== id) return undefined;
  const { loadConversation } = await import('../../session/resume.js');
  const conversation = loadConversation(loaded, { sidechain: true });
  return {
    ref: agent,
    description: typeof description === 'string' ? description : agent.type,
    model: typeof model === 'string' ? model : '',
    above: readInheritedLimits(above, agent.depth),
    once: once === true,
    talk: {
      messages: conversation.messages,
      parentUuid: conversation.lastUuid,
      usedUuids: loaded.entries.map(({ uuid }) => uuid),
    },
  };
}

/** The type of the ended agent that a message to this address would resume; undefined when it resumes none. */
export async function resumableType(
  to: string,
  { roster, log }: { readonly roster: Pick<Roster, 'find'>; readonly log: Log },
): Promise<string | undefined> {
  const task = roster.find(to);
  if (task !== undefined) return task.report() === undefined ? undefined : task.ref.type;
  return (await earlierAgent(log, to))?.ref.type;
}

function isRef(value: unknown): value is AgentRef {
  return (
    isRecord(value) &&
    typeof value.id === 'string' &&
    typeof value.type === 'string' &&
    typeof value.path === 'string' &&
    value.path.startsWith('main/') &&
    typeof value.depth === 'number' &&
    value.depth === value.path.split('/').length - 1
  );
}

/**
 * Counts the usage of earlier processes, as recorded in the transcripts, against budgets and costs. A
 * copied session starts at zero.
 */
export async function restoreSpending(
  { budget, ledger, client }: SpendingCounters,
  { store, history, earlierAgents }: Earlier,
): Promise<void> {
  const { sessionId } = history;
  const read = async (agentId?: string): Promise<readonly TranscriptEntry[]> =>
    (await store.read(sessionId, agentId))?.entries ?? [];
  const known = new Set(history.usedUuids);
  const main = (await read()).filter(({ uuid }) => known.has(uuid));
  const uses = [usageIn(main, MAIN_AGENT.path)];
  for (const id of await earlierAgents) {
    const entries = await read(id);
    // fail-closed: an unidentified agent is counted as one of the session's.
    const path = pathIn(entries) ?? `${MAIN_AGENT.path}/${id}`;
    uses.push(usageIn(entries, path));
  }
  budget.recall(uses);
  for (const { path: agent, calls } of uses) {
    for (const { model, usage } of calls)
      ledger.recall({ agent, model, provider: client.provider, usage });
  }
}

export interface SpendingCounters {
  readonly budget: Pick<SessionBudget, 'recall'>;
  readonly ledger: Pick<UsageLedger, 'recall'>;
  readonly client: Pick<ModelClient, 'provider'>;
}

/**
 * The agents and entries that existed when the session was opened; comparing times would fail when the
 * clock is set back.
 */
interface Earlier extends Pick<Log, 'store' | 'history'> {
  /** Agents that had a transcript then; none is resumed before this is read. */
  readonly earlierAgents: Promise<readonly string[]>;
}

function pathIn(entries: readonly TranscriptEntry[]): AgentRef['path'] | undefined {
  for (const entry of entries) {
    if (entry.type !== 'attachment' || entry.attachment.type !== AGENT_MARK) continue;
    const { agent } = entry.attachment;
    if (isRecord(agent) && typeof agent.path === 'string') return agent.path;
  }
  return undefined;
}

export function usageIn(entries: readonly TranscriptEntry[], path: string): AgentUsage {
  /** By answer id, because each block of an answer is an entry with the same usage. */
  const answers = new Map<string, AgentUsage['calls'][number]>();
  const work: Span[] = [];
  let model = SYNTHETIC_MODEL;
  let last: number | undefined;
  for (const entry of entries) {
    const at = Date.parse(entry.timestamp);
    if (entry.forkedFrom !== undefined) continue;
    if (entry.type === 'assistant' && isAsked(entry)) {
      const { id, usage } = entry.message;
      model = entry.message.model;
      answers.set(id, { model, usage: { ...ZERO_USAGE, ...usage } });
    }
    if (entry.type === 'system' && entry.subtype === 'compact_boundary') {
      // The summary was a call as well, with the whole history as input.
      const input_tokens = entry.compactMetadata?.preTokens ?? 0;
      answers.set(entry.uuid, { model, usage: { ...ZERO_USAGE, input_tokens } });
    }
    // The call counts, although its duration is unknown.
    if (Number.isNaN(at)) continue;
    if (last !== undefined && endsWork(entry)) work.push({ from: last, to: at });
    last = at;
  }
  return { path, calls: [...answers.values()], work };
}

/** Copies of earlier answers and messages of the program cost nothing. */
function isAsked({ message }: AssistantEntry): boolean {
  return message.model !== SYNTHETIC_MODEL && isRecord(message.usage);
}

/** Whether the entry ends a span of work: an answer of the model, or the result of a call. */
function endsWork(entry: TranscriptEntry): boolean {
  return entry.type === 'user' ? holdsResult(entry) : entry.type === 'assistant';
}

function holdsResult({ message: { content } }: UserEntry): boolean {
  if (typeof content === 'string') return false;
  const [first] = content;
  // A placeholder for a lost result was written when the session was resumed.
  return first?.type === 'tool_result' && first.content !== INTERRUPTED_RESULT;
}
