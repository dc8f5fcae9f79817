import { basename } from '../env/paths.js';
import { type Finding, type Guard, NOTHING } from '../permissions/guard.js';
import type { GateCall } from '../permissions/types.js';
import type { AgentTask } from './task.js';

/** By which a look at a running agent goes on for nothing: its report arrives by itself. */
const INSTEAD =
  'go on with something else, call WaitForAgents when nothing else is left to do, or end your turn';

/**
 * Answers calls that only look whether a running agent has got anywhere: the first time with where
 * it stands, from then on with a refusal. Nothing is lost by it: the report arrives by itself.
 */
export function pollingGuard(running: () => readonly AgentTask[]): Guard {
  /** By agent and the one looked at: the call that was answered. One that is judged twice is still the first. */
  const answered = new Map<string, string>();
  return {
    name: 'polling',
    onFailure: 'ask',
    decide({ call }) {
      const tasks = running();
      if (tasks.length === 0) {
        answered.clear();
        return NOTHING;
      }
      const task = tasks.find((one) => one.id !== call.agent.id && looksAt(call, one));
      if (task === undefined) return NOTHING;
      const key = `${call.agent.id} ${task.id}`;
      const first = answered.get(key) ?? call.toolUseId;
      answered.set(key, first);
      return held(task, first === call.toolUseId);
    },
  };
}

function held({ id, description }: AgentTask, isFirst: boolean): Finding {
  const where = `the agent ${id} ("${description}") is still running, and you will be told when it has ended, with its report`;
  return {
    decision: 'deny',
    source: 'polling',
    reason: isFirst
      ? `${where}; there is nothing to look at before`
      : `${where}. Looking again and again is refused: ${INSTEAD}`,
  };
}

/** Whether a call names the output of an agent, its transcript, or it by its id as a task. */
function looksAt({ tool, input, subject }: GateCall, { id, outputFile }: AgentTask): boolean {
  // TaskStop names it in the same way, and is no look.
  if (input.task_id === id) return tool.name === 'BashOutput';
  const transcript = `agent-${id}.jsonl`;
  const names = (path: string): boolean => path === outputFile || basename(path) === transcript;
  if (subject.paths.some(({ path, access }) => access === 'read' && names(path))) return true;
  const { command } = subject;
  if (command === undefined) return false;
  const plain = command.replace(/['"\\]/g, '');
  const file = basename(outputFile);
  // The name of the file alone tells when it is made of the id; another one may stand for anything.
  const known = [outputFile, transcript, ...(file.includes(id) ? [file] : [])];
  return known.some((name) => plain.includes(name));
}
