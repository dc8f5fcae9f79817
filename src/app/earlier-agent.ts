import { readWay } from '../agents/limits/inherited-limits.js';
import { AGENT_MARK } from '../agents/runtime/child-log.js';
import type { EarlierAgent } from '../agents/runtime/resume.js';
import type { Roster } from '../agents/runtime/task.js';
import { isRecord } from '../lib/own.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import { isSafeId } from '../session/session-id.js';
import type { Log } from './session-environment.js';

/** An agent of this session that has ended, from its transcript. Undefined: there is none that can be read. */
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
  // fail-closed: without knowing who it was, nobody could say what it may do.
  if (!isRef(agent) || agent.id !== id) return undefined;
  const { loadConversation } = await import('../session/resume.js');
  const conversation = loadConversation(loaded, { sidechain: true });
  return {
    ref: agent,
    description: typeof description === 'string' ? description : agent.type,
    model: typeof model === 'string' ? model : '',
    above: readWay(above, agent.depth),
    once: once === true,
    talk: {
      messages: conversation.messages,
      parentUuid: conversation.lastUuid,
      usedUuids: loaded.entries.map(({ uuid }) => uuid),
    },
  };
}

/** The type of the ended agent that a message to this address makes go on; undefined: it makes none. */
export async function typeToGoOn(
  to: string,
  { roster, log }: { readonly roster: Roster | undefined; readonly log: Log },
): Promise<string | undefined> {
  const task = roster?.find(to);
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
