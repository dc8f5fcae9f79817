import type { ToolInputs } from '../../protocol/tools.schema.js';
import type { BackgroundShells } from '../bash/shells.js';
import { defineTool } from '../define-tool.js';
import type { Tool, ToolContext, ToolOutput } from '../tool.js';
import description from './task-stop.md';

/** The agents that a call may end. */
export interface StopsAgents {
  /** Undefined: no agent has this id or name, or it is none of the caller's business. */
  stop(
    id: string,
    context: ToolContext,
  ): { readonly id: string; readonly description: string; readonly had: boolean } | undefined;
}

export function taskStopTool(deps: {
  readonly shells: BackgroundShells;
  readonly agents?: StopsAgents | undefined;
}): Tool<ToolInputs['TaskStop']> {
  return defineTool({
    name: 'TaskStop',
    aliases: ['KillShell'],
    kind: 'control',
    description,
    subject: (input) => ({ paths: [], summary: `stop ${idOf(input) ?? '(no id)'}` }),
    run: async (input, context) =>
      stopAgent(deps.agents, idOf(input), context) ?? (await stop(deps.shells, idOf(input))),
  });
}

function stopAgent(
  agents: StopsAgents | undefined,
  id: string | undefined,
  context: ToolContext,
): ToolOutput | undefined {
  const stopped = id === undefined ? undefined : agents?.stop(id, context);
  if (stopped === undefined) return undefined;
  const message = stopped.had
    ? `${stopped.id} had already ended.`
    : `Stopped the agent ${stopped.id} (${stopped.description}).`;
  return {
    content: message,
    structured: { message, task_id: stopped.id, task_type: 'local_agent' },
  };
}

export function unknownShell(shells: BackgroundShells, id: string): ToolOutput {
  const known = shells.list().map((shell) => `${shell.id} (${shell.status.replace('_', ' ')})`);
  const list = known.length === 0 ? 'There are none.' : `Known: ${known.join(', ')}.`;
  return {
    content: `No background command has the id ${JSON.stringify(id)}. ${list}`,
    isError: true,
  };
}

function idOf(input: ToolInputs['TaskStop']): string | undefined {
  return input.task_id ?? input.shell_id;
}

async function stop(shells: BackgroundShells, id: string | undefined): Promise<ToolOutput> {
  if (id === undefined)
    return { content: 'Give the `task_id` of what is to be ended.', isError: true };
  const before = shells.get(id);
  if (before === undefined) return unknownShell(shells, id);
  const message =
    before.status === 'running'
      ? `Ended ${id} (${before.command})`
      : `${id} had already ended (${before.status.replace('_', ' ')}).`;
  await shells.kill(id);
  return {
    content: message,
    structured: { message, task_id: id, task_type: 'local_bash', command: before.command },
  };
}
