import type { AgentRef } from '../../protocol/agent-ref.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../../tools/define-tool.js';
import type { Tool, ToolOutput } from '../../tools/tool.js';
import type { AgentRuntime } from '../runtime/spawn.js';
import type { AgentTask } from '../runtime/task.js';
import description from './list-agents.md';
import { label, stateOf } from './send-message.js';

type Input = ToolInputs['ListAgents'];

export interface ListAgentsDeps {
  runtime(): Pick<AgentRuntime, 'roster'>;
  /** Milliseconds since 1970. */
  now(): number;
}

export function listAgentsTool(deps: ListAgentsDeps): Tool<Input> {
  return defineTool({
    name: 'ListAgents',
    aliases: ['ListPeers'],
    kind: 'control',
    description,
    subject: () => ({ paths: [], summary: 'list the agents' }),
    concurrencySafe: () => true,
    run: async (input, { agent }) => list(deps, input, agent),
  });
}

function list({ runtime, now }: ListAgentsDeps, { q }: Input, agent: AgentRef): ToolOutput {
  const wanted = q?.toLowerCase();
  const found = runtime()
    .roster.list()
    .filter((task) => task.id !== agent.id && (wanted === undefined || fits(task, wanted)));
  const agents = found.map((task) => ({
    id: task.id,
    name: task.ref.name,
    type: task.ref.type,
    path: task.ref.path,
    description: task.description,
    state: stateOf(task),
    background: task.ref.background,
    seconds: Math.round((now() - task.startedAt) / 1_000),
  }));
  const lines = found.map((task, index) => {
    const since = agents[index]?.seconds ?? 0;
    return `${task.id}  ${label(task)}  ${stateOf(task)}, started ${since} s ago`;
  });
  const none = wanted === undefined ? 'There are no other agents.' : 'No agent fits.';
  return { content: lines.length === 0 ? none : lines.join('\n'), structured: { agents } };
}

function fits({ id, ref, description: task }: AgentTask, wanted: string): boolean {
  return [id, ref.name ?? '', ref.path, task].some((text) => text.toLowerCase().includes(wanted));
}
