import { openTranscripts, projectKeyOf } from '../app.js';
import { recentSessions, summarizeSession } from '../client/session-summary.js';
import { isRecord } from '../lib/own.js';
import type { RecordedAgent } from '../project/policy/recorded-session.js';
import type { Environment, SessionPlace } from './project.js';
import { shorten } from './shorten.js';

/** A session on disk. */
export interface PastRow {
  readonly sessionId: string;
  readonly title: string;
  readonly cwd: string;
  readonly lastModified: number;
}

const MOST_SESSIONS = 300;

/** The sessions of this user on disk, newest first; `only` is the beginning of an id. */
export async function pastSessions(env: Environment, only = ''): Promise<readonly PastRow[]> {
  const found = await recentSessions(env, undefined, MOST_SESSIONS);
  return found
    .filter(({ sessionId }) => sessionId.startsWith(only))
    .map(({ sessionId, summary: title, cwd = '', lastModified }) => {
      return { sessionId, title, cwd, lastModified };
    });
}

/** An entry of a transcript in the shape of a session event. */
export interface PastEvent {
  readonly time: string;
  readonly event: Readonly<Record<string, unknown>>;
}

/** The transcripts of a session as events, oldest first; `before` is an ISO time. */
export function pastEvents(
  agents: readonly RecordedAgent[],
  before?: string,
): readonly PastEvent[] {
  return agents
    .flatMap(eventsOf)
    .filter(({ time }) => before === undefined || time < before)
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
    .map((one) => shorten(one));
}

function eventsOf({ path, lines }: RecordedAgent): readonly PastEvent[] {
  const found: PastEvent[] = [];
  for (const line of lines) {
    const { timestamp: time, type, message, uuid, isMeta } = line;
    if (typeof time !== 'string') continue;
    const add = (event: PastEvent['event']): void => {
      const child = { type: 'child', agent: { path }, event };
      found.push({ time, event: path === 'main' ? event : child });
    };
    if (type === 'system' && line.subtype === 'compact_boundary') {
      add({ type: 'notice', level: 'info', text: 'The conversation was summarised here.' });
    }
    if (!isRecord(message)) continue;
    if (type === 'assistant') add({ type: 'answer', answer: { message, blockIds: [uuid] } });
    if (type !== 'user') continue;
    const { content } = message;
    const blocks: readonly unknown[] = Array.isArray(content)
      ? content
      : [{ type: 'text', text: content }];
    for (const block of blocks) {
      if (!isRecord(block) || block.type !== 'tool_result') continue;
      add({ type: 'tool_result', call: { id: block.tool_use_id }, result: { block } });
    }
    const texts = blocks.filter((block) => isRecord(block) && block.type === 'text');
    if (texts.length > 0 && isMeta !== true) {
      add({ type: 'prompt', id: uuid, state: 'queued', named: false, content: texts });
    }
  }
  return found;
}

/** The title of a running session, from its transcript. Empty: it has none yet. */
export async function sessionTitle(
  env: Environment,
  { sessionId, cwd }: SessionPlace,
): Promise<string> {
  if (sessionId === '') return '';
  const archive = openTranscripts(env);
  const place = { project: projectKeyOf(cwd), sessionId };
  const lines = await archive.readSummary(place);
  return summarizeSession({ ...place, modifiedAt: 0 }, lines)?.summary ?? '';
}
