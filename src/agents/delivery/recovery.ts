import type { Processes } from '../../platform/process/process-stamp.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { addUsage, textOf, type Usage, ZERO_USAGE } from '../../protocol/content.js';
import type { AssistantEntry, TranscriptEntry } from '../../protocol/transcript.js';
import { SYNTHETIC_MODEL } from '../../session/recorder.js';
import { INTERRUPTED_RESULT } from '../../session/transcript/messages.js';
import type { AgentReport } from '../runtime/report.js';
import { type Carrier, deliveryId, type RunState, type StartedRecord } from './journal.js';
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
  readonly owed: readonly RunState[];
  /** They ran when their process died, and what is known of them. */
  readonly cutOff: readonly { readonly run: RunState; readonly report: AgentReport }[];
}

/** What a session that is taken up again still owes. */
export async function recover(parts: RecoveryParts): Promise<Recovered> {
  const open = parts.runs.filter((run) => !run.delivered && !isElsewhere(run, parts));
  if (open.length === 0) return { proven: [], owed: [], cutOff: [] };
  const transcripts = await receivers(parts, open);
  const proof = proofIn(parts.sessionId, transcripts);
  const proven = open.filter((run) => proof.holds(run));
  const rest = open.filter((run) => !proof.holds(run));
  const cutOff: { run: RunState; report: AgentReport }[] = [];
  for (const run of rest) {
    if (run.ended !== undefined || run.started === undefined) continue;
    const { at } = run.started;
    const all = (await parts.entries(run.key.id)) ?? [];
    // What it said when it ran before was reported then.
    const own = run.key.run === 1 ? all : all.filter((entry) => Date.parse(entry.timestamp) >= at);
    cutOff.push({ run, report: cutOffReport(run.started, own) });
  }
  return { proven, owed: rest.filter(({ ended }) => ended !== undefined), cutOff };
}

/** Another process that still lives has it in its hands, and will tell. */
function isElsewhere({ started, ended }: RunState, { processes }: RecoveryParts): boolean {
  const by = ended?.by ?? started?.by;
  if (by === undefined) return false;
  return by.pid !== processes.self().pid && processes.isAlive(by);
}

/** The transcripts of everybody who may have been told: the main agent and those between. */
async function receivers(
  { runs, entries }: RecoveryParts,
  open: readonly RunState[],
): Promise<ReadonlyMap<string, readonly TranscriptEntry[]>> {
  const parents = new Map(
    runs.flatMap(({ key, started, ended }) => {
      const parent = (started?.agent ?? ended?.report.agent)?.parentId;
      return parent === undefined ? [] : [[key.id, parent] as const];
    }),
  );
  const wanted = new Set<string>([MAIN_AGENT.id]);
  for (const { key, carriers } of open) {
    for (const { agentId } of carriers) wanted.add(agentId);
    for (let id = parents.get(key.id); id !== undefined && !wanted.has(id); ) {
      wanted.add(id);
      id = parents.get(id);
    }
  }
  const found = new Map<string, readonly TranscriptEntry[]>();
  for (const id of wanted) found.set(id, (await entries(id)) ?? []);
  return found;
}

const WHY = 'the process that it ran in was ended before it had reported';

/** What a transcript tells of an agent that could not report itself. */
export function cutOffReport(
  started: StartedRecord,
  entries: readonly TranscriptEntry[],
): AgentReport {
  const answers = answersIn(entries);
  const texts = answers.map(({ blocks }) => textOf(blocks)).filter((text) => text.trim() !== '');
  const times = entries.map(({ timestamp }) => Date.parse(timestamp)).filter(Number.isFinite);
  const last = times.reduce((a, b) => Math.max(a, b), started.at);
  return {
    agent: started.agent,
    description: started.description,
    end: { kind: 'cut-off', by: 'process', reason: WHY },
    text: texts.at(-1) ?? '',
    account: {
      agent: started.agent,
      turns: answers.length,
      toolUses: answers.flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'tool_use'))
        .length,
      usage: answers.reduce((sum, { usage }) => addUsage(sum, usage), ZERO_USAGE),
      // What was paid for it is not in the transcript, and a guess would pass for a price.
      costUsd: undefined,
      models: [...new Set(answers.map(({ model }) => model))],
      seconds: Math.max(0, last - started.at) / 1_000,
    },
    ...(started.resumable ? { resume: started.id } : {}),
  };
}

interface Answer {
  readonly blocks: AssistantEntry['message']['content'];
  readonly usage: Usage;
  readonly model: string;
}

/** Each block of an answer is an entry of its own. */
function answersIn(entries: readonly TranscriptEntry[]): readonly Answer[] {
  const answers = new Map<string, Answer>();
  for (const entry of entries) {
    if (entry.type !== 'assistant' || entry.message.model === SYNTHETIC_MODEL) continue;
    const { id, content, usage, model } = entry.message;
    if (typeof content === 'string') continue;
    const before = answers.get(id);
    const blocks = [...(before?.blocks ?? []), ...content];
    answers.set(id, { blocks, usage: usage ?? ZERO_USAGE, model });
  }
  return [...answers.values()];
}

/** What transcripts show to have arrived. */
export interface Proof {
  /** Also of what stands before a compaction, or on a branch that was left: it was told once. */
  holds(run: RunState): boolean;
}

/** By agent; the main one's under `main`. */
export function proofIn(
  sessionId: string,
  transcripts: ReadonlyMap<string, readonly TranscriptEntry[]>,
): Proof {
  const told = new Set<string>();
  const results = new Set<string>();
  for (const [agentId, entries] of transcripts) {
    for (const entry of entries) {
      if (entry.type !== 'user') continue;
      const { content } = entry.message;
      for (const id of deliveriesIn(content)) told.add(id);
      for (const toolUseId of resultsIn(content)) results.add(`${agentId} ${toolUseId}`);
    }
  }
  const carried = ({ agentId, toolUseId }: Carrier): boolean =>
    results.has(`${agentId} ${toolUseId}`);
  return {
    holds: ({ key, carriers }) => told.has(deliveryId(sessionId, key)) || carriers.some(carried),
  };
}

/** Calls with a result of their own: what stands in for one that was lost carries nothing. */
function resultsIn(content: Extract<TranscriptEntry, { type: 'user' }>['message']['content']) {
  if (typeof content === 'string') return [];
  return content.flatMap((block) =>
    block.type === 'tool_result' && block.content !== INTERRUPTED_RESULT ? [block.tool_use_id] : [],
  );
}
