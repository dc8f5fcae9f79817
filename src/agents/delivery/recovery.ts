import type { Processes } from '../../platform/process/process-stamp.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { addUsage, textOf, ZERO_USAGE } from '../../protocol/content.js';
import type { AssistantEntry, TranscriptEntry } from '../../protocol/transcript.js';
import { SYNTHETIC_MODEL } from '../../session/recorder.js';
import { INTERRUPTED_RESULT } from '../../session/transcript/messages.js';
import type { AgentReport } from '../runtime/report.js';
import { deliveryId, type EndedRecord, type RunState, type StartedRecord } from './journal.js';
import { deliveryIds } from './notification.js';

export interface RecoveryParts {
  readonly sessionId: string;
  readonly runs: readonly RunState[];
  readonly processes: Processes;
  /** The entries of an agent's transcript, `main` for the session's; undefined when there is none. */
  entries(agentId: string): Promise<readonly TranscriptEntry[] | undefined>;
}

export interface Recovered {
  /** Arrived, although the journal does not say so yet. */
  readonly proven: readonly RunState[];
  /** Ended, but not delivered. */
  readonly owed: readonly EndedRecord[];
  /** Running when their process died, with a report from their transcript. */
  readonly cutOff: readonly { readonly started: StartedRecord; readonly report: AgentReport }[];
}

/** Finds what a resumed session still has to deliver. */
export async function recover(parts: RecoveryParts): Promise<Recovered> {
  const open = parts.runs.filter((run) => !run.delivered && !isElsewhere(run, parts));
  if (open.length === 0) return { proven: [], owed: [], cutOff: [] };
  const isProven = await proof(parts, open);
  const rest = open.filter((run) => !isProven(run));
  const cutOff: { started: StartedRecord; report: AgentReport }[] = [];
  for (const { key, started, ended } of rest) {
    if (ended !== undefined || started === undefined) continue;
    const all = (await parts.entries(key.id)) ?? [];
    // Text of earlier runs was reported then.
    const own =
      key.run === 1 ? all : all.filter((entry) => Date.parse(entry.timestamp) >= started.at);
    cutOff.push({ started, report: cutOffReport(started, own) });
  }
  return { proven: open.filter(isProven), owed: rest.flatMap(({ ended }) => ended ?? []), cutOff };
}

/** Another living process handles the run and will deliver it. */
function isElsewhere({ started, ended }: RunState, { processes }: RecoveryParts): boolean {
  const by = ended?.by ?? started?.by;
  if (by === undefined) return false;
  return by.pid !== processes.self().pid && processes.isAlive(by);
}

/**
 * Checks whether the transcripts of possible receivers, the main agent and the ancestors, contain a report.
 * Entries before a compaction or on an abandoned branch count, too: the report was delivered once.
 */
async function proof(
  { runs, entries, sessionId }: RecoveryParts,
  open: readonly RunState[],
): Promise<(run: RunState) => boolean> {
  const parents = new Map(
    runs.map(({ key, started, ended }) => [
      key.id,
      (started?.agent ?? ended?.report.agent)?.parentId,
    ]),
  );
  const receivers = new Set<string>([MAIN_AGENT.id]);
  for (const { key, carriers } of open) {
    for (const { agentId } of carriers) receivers.add(agentId);
    for (let id = parents.get(key.id); id !== undefined && !receivers.has(id); ) {
      receivers.add(id);
      id = parents.get(id);
    }
  }
  const told = new Set<string>();
  const results = new Set<string>();
  for (const agentId of receivers) {
    for (const entry of (await entries(agentId)) ?? []) {
      if (entry.type !== 'user') continue;
      const { content } = entry.message;
      for (const id of deliveryIds(content)) told.add(id);
      for (const toolUseId of resultsIn(content)) results.add(`${agentId} ${toolUseId}`);
    }
  }
  return ({ key, carriers }) =>
    told.has(deliveryId(sessionId, key)) ||
    carriers.some(({ agentId, toolUseId }) => results.has(`${agentId} ${toolUseId}`));
}

/** Ids of calls with a real result; placeholders for lost results carry nothing. */
function resultsIn(content: Extract<TranscriptEntry, { type: 'user' }>['message']['content']) {
  if (typeof content === 'string') return [];
  return content.flatMap((block) =>
    block.type === 'tool_result' && block.content !== INTERRUPTED_RESULT ? [block.tool_use_id] : [],
  );
}

const WHY = 'the process that it ran in was ended before it had reported';

/** A report from the transcript of an agent that could not report itself. */
function cutOffReport(started: StartedRecord, entries: readonly TranscriptEntry[]): AgentReport {
  const { agent, description } = started;
  const answers = answersIn(entries);
  const blocks = answers.flatMap(({ content }) => content);
  const texts = answers.map(({ content }) => textOf(content)).filter((one) => one.trim() !== '');
  const times = entries.map(({ timestamp }) => Date.parse(timestamp)).filter(Number.isFinite);
  const last = times.reduce((a, b) => Math.max(a, b), started.at);
  return {
    agent,
    description,
    end: { kind: 'cut-off', by: 'process', reason: WHY },
    text: texts.at(-1) ?? '',
    account: {
      agent,
      turns: answers.length,
      toolUses: blocks.filter(({ type }) => type === 'tool_use').length,
      usage: answers.reduce((sum, { usage }) => addUsage(sum, usage ?? ZERO_USAGE), ZERO_USAGE),
      // The transcript does not contain costs, and an estimate would pass for a price.
      costUsd: undefined,
      models: [...new Set(answers.map(({ model }) => model))],
      seconds: Math.max(0, last - started.at) / 1_000,
    },
    resume: started.resumable ? started.id : undefined,
  };
}

/** The model's answers, joined from one entry per block. */
function answersIn(entries: readonly TranscriptEntry[]): readonly AssistantEntry['message'][] {
  const answers = new Map<string, AssistantEntry['message']>();
  for (const entry of entries) {
    if (entry.type !== 'assistant' || entry.message.model === SYNTHETIC_MODEL) continue;
    const { id, content } = entry.message;
    // Other programs write such entries.
    if (typeof content === 'string') continue;
    const before = answers.get(id)?.content ?? [];
    answers.set(id, { ...entry.message, content: [...before, ...content] });
  }
  return [...answers.values()];
}
