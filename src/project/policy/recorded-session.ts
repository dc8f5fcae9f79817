import { AGENT_MARK } from '../../agents/runtime/agent-log.js';
import { isRecord } from '../../lib/own.js';
import { costOf } from '../../model/catalog/models.js';
import type { DirectoryEnvironment } from '../../platform/fs/paths.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { type Usage, ZERO_USAGE } from '../../protocol/content.js';
import { SYNTHETIC_MODEL } from '../../session/recorder.js';
import type { RawLine } from '../../session/transcript/lines.js';
import { openTranscripts, projectKeyOf } from '../../session/transcripts.js';

/** The transcript of one agent of a session. */
export interface RecordedAgent {
  readonly path: string;
  readonly lines: readonly RawLine[];
}

/** The transcripts of a session, the main agent's first. Undefined: nothing of it is kept. */
export async function recordedSession(
  env: DirectoryEnvironment,
  { sessionId, cwd }: { readonly sessionId: string; readonly cwd: string },
): Promise<readonly RecordedAgent[] | undefined> {
  const archive = openTranscripts(env);
  const place =
    (await archive.find(sessionId, projectKeyOf(cwd))) ??
    (await archive.find(sessionId, undefined));
  const main = place && (await archive.lines(place));
  if (place === undefined || main === undefined) return undefined;
  const found = [recordedAgent('', main)];
  for (const id of await archive.agents(place)) {
    found.push(recordedAgent(id, (await archive.lines(place, id)) ?? []));
  }
  return found;
}

/** The lines of one agent; an empty id names the main agent. */
export function recordedAgent(id: string, lines: readonly RawLine[]): RecordedAgent {
  const { path } = MAIN_AGENT;
  return { path: id === '' ? path : (pathIn(lines) ?? `${path}/${id}`), lines };
}

function pathIn(lines: readonly RawLine[]): string | undefined {
  for (const { type, attachment } of lines) {
    if (type !== 'attachment' || !isRecord(attachment) || attachment.type !== AGENT_MARK) continue;
    const { agent } = attachment;
    if (isRecord(agent) && typeof agent.path === 'string') return agent.path;
  }
  return undefined;
}

/** One call of a model. */
export interface ModelCall {
  /** ISO time. */
  readonly time: string;
  readonly agent: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Dollars; null: the price of the model is not known. */
  readonly usd: number | null;
}

/** Every call of a model that a session's transcripts tell of, oldest first. */
export function modelCalls(
  agents: readonly RecordedAgent[],
  provider: string,
): readonly ModelCall[] {
  const calls: ModelCall[] = [];
  for (const { path, lines } of agents) {
    /** Each block of an answer is a line of its own, and says the same of its use. */
    const answers = new Map<unknown, ModelCall>();
    for (const { type, timestamp, message } of lines) {
      if (type !== 'assistant' || !isRecord(message) || !isRecord(message.usage)) continue;
      if (message.model === SYNTHETIC_MODEL || typeof timestamp !== 'string') continue;
      const usage = { ...ZERO_USAGE, ...message.usage } as Usage;
      const model = String(message.model);
      answers.set(message.id, {
        time: timestamp,
        agent: path,
        model,
        inputTokens: usage.input_tokens,
        outputTokens: usage.output_tokens,
        cacheReadTokens: usage.cache_read_input_tokens,
        cacheWriteTokens: usage.cache_creation_input_tokens,
        usd: costOf({ model, provider, usage }) ?? null,
      });
    }
    calls.push(...answers.values());
  }
  return calls.sort((a, b) => (a.time < b.time ? -1 : 1));
}
