import type { Processes } from '../../platform/process/process-stamp.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { addUsage, textOf, ZERO_USAGE } from '../../protocol/content.js';
import type { AssistantEntry, TranscriptEntry } from '../../protocol/transcript.js';
import { SYNTHETIC_MODEL } from '../../session/recorder.js';
import { INTERRUPTED_RESULT } from '../../session/transcript/messages.js';
import type { AgentReport } from '../runtime/report.js';
import { deliveryId, type EndedRecord, type RunState, type StartedRecord } from './journal.js';
import { deliveriesIn } from './notification.js';

export interface RecoveryParts {
  readonly sessionId: string;
  readonly runs: readonly RunState[];
  readonly processes: Processes;
  /** All that an agent's transcript holds; undefined when there is none. `main`: the session's. */
  entries(agentId: string): Promise<readonly TranscriptEntry[] | undefined>;
}

export interface Recovered {
  /** They have arrived, and the journal does not say so yet. */
  readonly proven: readonly RunState[];
  /** They have ended, and nobody was told. */
  readonly owed: readonly EndedRecord[];
  /** They ran when their process died, and what is known of them. */
  readonly cutOff: readonly { readonly started: StartedRecord; readonly report: AgentReport }[];
}

/** What a session that is taken up again still owes. */
export async function recover(parts: RecoveryParts): Promise<Recovered> {
  const open = parts.runs.filter((run) => !run.delivered && !isElsewhere(run, parts));
  if (open.length === 0) return { proven: [], owed: [], cutOff: [] };
  const isProven = await proof(parts, open);
  const rest = open.filter((run) => !isProven(run));
  const cutOff: { started: StartedRecord; report: AgentReport }[] = [];
  for (const { key, started, ended } of rest) {
    if (ended !== undefined || started === undefined) continue;
    const all = (await parts.entries(key.id)) ?? [];
    // What it said when it ran before was reported then.
    const own =
      key.run === 1 ? all : all.filter((entry) => Date.parse(entry.timestamp) >= started.at);
    cutOff.push({ started, report: cutOffReport(started, own) });
  }
  return { proven: open.filter(isProven), owed: rest.flatMap(({ ended }) => ended ?? []), cutOff };
}

/** Another process that still lives has it in its hands, and will tell. */
function isElsewhere({ started, ended }: RunState, { processes }: RecoveryParts): boolean {
  const by = ended?.by ?? started?.by;
  if (by === undefined) return false;
  return by.pid !== processes.self().pid && processes.isAlive(by);
}

/**
 * Whether the transcripts of those who may have been told, the main agent and those between, show that a report
 * has arrived. Also before a compaction, or on a branch that was left: it was told once.
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
      for (const id of deliveriesIn(content)) told.add(id);
      for (const toolUseId of resultsIn(content)) results.add(`${agentId} ${toolUseId}`);
    }
  }
  return ({ key, carriers }) =>
    told.has(deliveryId(sessionId, key)) ||
    carriers.some(({ agentId, toolUseId }) => results.has(`${agentId} ${toolUseId}`));
}

/** Calls with a result of their own: what stands in for one that was lost carries nothing. */
function resultsIn(content: Extract<TranscriptEntry, { type: 'user' }>['message']['content']) {
  if (typeof content === 'string') return [];
  return content.flatMap((block) =>
    block.type === 'tool_result' && block.content !== INTERRUPTED_RESULT ? [block.tool_use_id] : [],
  );
}

const WHY = 'the process that it ran in was ended before it had reported';

/** What a transcript tells of an agent that could not report itself. */
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
      // What was paid for it is not in the transcript, and a guess would pass for a price.
      costUsd: undefined,
      models: [...new Set(answers.map(({ model }) => model))],
      seconds: Math.max(0, last - started.at) / 1_000,
    },
    resume: started.resumable ? started.id : undefined,
  };
}

/** The answers of the model, whose blocks are entries of their own. */
function answersIn(entries: readonly TranscriptEntry[]): readonly AssistantEntry['message'][] {
  const answers = new Map<string, AssistantEntry['message']>();
  for (const entry of entries) {
    if (entry.type !== 'assistant' || entry.message.model === SYNTHETIC_MODEL) continue;
    const { id, content } = entry.message;
    // Of a file that others wrote.
    if (typeof content === 'string') continue;
    const before = answers.get(id)?.content ?? [];
    answers.set(id, { ...entry.message, content: [...before, ...content] });
  }
  return [...answers.values()];
}
