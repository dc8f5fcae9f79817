import { err, ok, type Result } from '../../lib/result.js';
import { abortableDelay } from '../../platform/turns.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../../tools/define-tool.js';
import { failure } from '../../tools/output.js';
import type { Tool, ToolContext, ToolOutput } from '../../tools/tool.js';
import type { Deliveries, Delivery } from '../delivery/deliveries.js';
import { type DeliveryWords, reportBody } from '../delivery/notification.js';
import { outcomeLabel } from '../runtime/report.js';
import type { AgentRun } from '../runtime/run.js';
import type { AgentRuntime } from '../runtime/runtime.js';
import { label, stateOf } from './send-message.js';
import description from './wait-for-agents.md';

export interface WaitForAgentsDeps {
  runtime(): Pick<AgentRuntime, 'roster'>;
  readonly deliveries: Pick<Deliveries, 'hold' | 'standing'>;
  readonly words: DeliveryWords;
}

type Input = ToolInputs['WaitForAgents'];

const DEFAULT_SECONDS = 300;
const MOST_SECONDS = 3_600;

export function waitForAgentsTool(deps: WaitForAgentsDeps): Tool<Input> {
  return defineTool({
    name: 'WaitForAgents',
    kind: 'control',
    description,
    subject: ({ ids = [] }) => ({
      paths: [],
      summary: ids.length === 0 ? 'wait for agents' : `wait for ${ids.join(', ')}`,
    }),
    run: (input, context) => wait(deps, input, context),
  });
}

async function wait(
  deps: WaitForAgentsDeps,
  input: Input,
  context: ToolContext,
): Promise<ToolOutput> {
  const { agent, toolUseId, signal } = context;
  const chosen = choose(deps, input.ids, agent);
  if (!chosen.ok) return failure(chosen.error);
  const tasks = chosen.value;
  if (tasks.length === 0) return justEnded(deps, agent);
  const hold = deps.deliveries.hold(
    agent,
    tasks.map(({ id }) => id),
  );
  try {
    const seconds = Math.min(input.timeout_seconds ?? DEFAULT_SECONDS, MOST_SECONDS);
    const ends = tasks.map(({ ended }) => ended);
    const enough = input.until === 'any' ? Promise.race(ends) : Promise.all(ends);
    const over = new AbortController();
    const time = abortableDelay(seconds * 1_000, AbortSignal.any([signal, over.signal]));
    // Until enough agents have ended, the time is up, or the call is interrupted.
    await Promise.race([enough, time.catch(() => undefined)]);
    over.abort();
    // An interrupted call has no result, so the reports are delivered as messages.
    if (signal.aborted) return failure('Interrupted while waiting. The agents go on.');
    const come = hold.take({ agentId: agent.id, toolUseId });
    return answer(deps, tasks, come);
  } finally {
    hold.release();
  }
}

/** Shows agents that have just ended, whose reports are on their way. */
function justEnded(deps: WaitForAgentsDeps, agent: AgentRef): ToolOutput {
  const ended = deps
    .runtime()
    .roster.below(agent)
    .filter(({ id }) => deps.deliveries.standing(id) === 'on-its-way');
  if (ended.length > 0) return answer(deps, ended, []);
  return { content: 'There are no agents to wait for.' };
}

/** Chooses among the caller's descendants only: waiting for an ancestor would never end. */
function choose(
  { runtime }: WaitForAgentsDeps,
  ids: readonly string[] | undefined,
  agent: AgentRef,
): Result<readonly AgentRun[], string> {
  const { roster } = runtime();
  const below = roster.below(agent);
  if (ids === undefined || ids.length === 0) {
    const running = below.filter((task) => task.report() === undefined);
    return ok(
      running.filter((task) => task.plan.request.stays === undefined && !hasNearer(task, running)),
    );
  }
  const found: AgentRun[] = [];
  for (const id of new Set(ids)) {
    const task = roster.find(id);
    if (task === undefined) return err(`There is no agent "${id}". ListAgents shows who is there.`);
    if (!below.includes(task)) {
      return err(
        `${label(task)} was not started by you, and does not report to you: it cannot be waited for.`,
      );
    }
    if (task.plan.request.stays !== undefined && task.report() === undefined) {
      return err(
        `${label(task)} is a teammate: it rests and does not end. It tells you by itself when it rests; end your turn.`,
      );
    }
    found.push(task);
  }
  return ok(found);
}

/** Whether the agent reports to another running descendant instead of the caller. */
function hasNearer({ ref: { path } }: AgentRun, running: readonly AgentRun[]): boolean {
  return running.some(({ ref }) => path.startsWith(`${ref.path}/`));
}

function answer(
  { deliveries, words }: WaitForAgentsDeps,
  tasks: readonly AgentRun[],
  come: readonly Delivery[],
): ToolOutput {
  const byId = new Map(come.map((delivery) => [delivery.key.id, delivery]));
  const parts = tasks.map((task) => {
    const delivery = byId.get(task.id);
    const head = `${task.id} ${label(task)}: ${stateOf(task)}`;
    if (delivery !== undefined) {
      return `<agent-report id="${task.id}" status="${outcomeLabel(delivery.report.end)}">\n${reportBody(delivery.report, words)}\n</agent-report>`;
    }
    return task.report() === undefined
      ? `${head}. You will be told when it ends.`
      : `${head}. ${WHERE[deliveries.standing(task.id)]}`;
  });
  const running = tasks.filter((task) => task.report() === undefined);
  return {
    content: parts.join('\n\n'),
    structured: {
      reports: come.map(({ key, report }) => ({
        agentId: key.id,
        status: outcomeLabel(report.end),
      })),
      running: running.map(({ id }) => id),
    },
  };
}

const WHERE = {
  arrived: 'Its report has arrived before.',
  'on-its-way': 'Its report comes with this message, after the results.',
  none: 'It reports to the agent that started it.',
} as const;
