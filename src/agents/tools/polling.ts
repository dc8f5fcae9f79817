import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import type { GateCall } from '../../permissions/gate/types.js';
import { basename } from '../../platform/fs/paths.js';
import type { AgentRun } from '../runtime/run.js';

type Watched = Pick<AgentRun, 'id' | 'description' | 'outputFile'>;

/**
 * Answers calls that only check on a running agent: the first with its state, later ones with a refusal.
 * Nothing is lost, because the report is delivered automatically.
 */
export function pollingGuard(running: () => readonly Watched[]): Guard {
  /** The answered call, by agent and watched agent; judging the same call again gives the same answer. */
  const answered = new Map<string, string>();
  return {
    name: 'polling',
    onFailure: 'ask',
    async decide({ call }) {
      const agents = running();
      if (agents.length === 0) answered.clear();
      const agent = agents.find(looksAt(call));
      if (agent === undefined) return NOTHING;
      const key = `${call.agent.id} ${agent.id}`;
      const first = answered.get(key) ?? call.toolUseId;
      answered.set(key, first);
      return refusal(agent, first === call.toolUseId);
    },
  };
}

function refusal({ id, description }: Watched, isFirst: boolean): Finding {
  const where = `the agent ${id} ("${description}") is still running, and you will be told when it has ended, with its report`;
  return {
    decision: 'deny',
    source: 'polling',
    reason: isFirst
      ? `${where}; there is nothing to look at before`
      : `${where}. Looking again and again is refused: go on with something else, call WaitForAgents when nothing else is left to do, or end your turn`,
  };
}

/** Whether a call names the output or the transcript of an agent, or requests its output by id. */
function looksAt({ agent, input, tool, subject }: GateCall): (watched: Watched) => boolean {
  const read = subject.paths.flatMap(({ path, access }) => (access === 'read' ? [path] : []));
  const names = read.map((path) => basename(path));
  const command = subject.command?.replace(/['"\\]/g, '');
  return ({ id, outputFile }) => {
    if (id === agent.id) return false;
    if (input.task_id === id) return tool.name === 'BashOutput';
    const transcript = `agent-${id}.jsonl`;
    if (read.includes(outputFile) || names.includes(transcript)) return true;
    if (command === undefined) return false;
    if (command.includes(transcript)) return true;
    // The file name alone identifies the output only if it contains the id.
    const name = basename(outputFile).includes(id) ? basename(outputFile) : outputFile;
    return name !== '' && command.includes(name);
  };
}
