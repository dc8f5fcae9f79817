import type { ToolInputs } from '../../protocol/tools.schema.js';
import { builtinDefinition } from '../builtin-definition.js';
import type { BackgroundShells } from '../shells.js';
import type { Tool, ToolOutput } from '../tool.js';
import description from './task-stop.md';

export function taskStopTool(deps: {
  readonly shells: BackgroundShells;
}): Tool<ToolInputs['TaskStop']> {
  return {
    name: 'TaskStop',
    aliases: ['KillShell'],
    kind: 'control',
    ...builtinDefinition('TaskStop', description),
    subject: (input) => ({ paths: [], summary: `stop ${idOf(input) ?? '(no id)'}` }),
    concurrencySafe: () => false,
    run: (input) => stop(deps.shells, idOf(input)),
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
