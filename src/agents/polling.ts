import { basename } from '../env/paths.js';
import { type Finding, type Guard, NOTHING } from '../permissions/guard.js';
import type { GateCall } from '../permissions/types.js';
import { matches, segmentTokens } from '../permissions/wildcard.js';
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
      const task = lookedAt(call, tasks);
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

/** The agent whose output or transcript a call names, or which it names by its id as a task. */
function lookedAt(call: GateCall, tasks: readonly AgentTask[]): AgentTask | undefined {
  const { agent, subject, tool, input } = call;
  // TaskStop names it in the same way, and is no look.
  const isOther = ({ id }: AgentTask): boolean =>
    id !== agent.id && (id !== input.task_id || tool.name === 'BashOutput');
  const { command } = subject;
  const named = namesIn(call).map((name) => byName(tasks).get(name));
  const found = named.find((task) => task !== undefined && isOther(task));
  if (found !== undefined || command === undefined) return found;
  const plain = command.replace(/['"\\]/g, '');
  const wild = wildNames(plain);
  return tasks.find((task) => isOther(task) && (isNamedIn(plain, task) || isMeant(wild, task)));
}

/** What a call looks at by its input: tasks and files. */
function namesIn({ input, subject }: GateCall): readonly string[] {
  const names = typeof input.task_id === 'string' ? [input.task_id] : [];
  for (const { path, access } of subject.paths) {
    if (access !== 'read') continue;
    const id = TRANSCRIPT.exec(path)?.[1];
    names.push(path, ...(id === undefined ? [] : [id]));
  }
  return names;
}

const TRANSCRIPT = /[\\/]agent-([^\\/]+)\.jsonl$/;

const known = new WeakMap<readonly AgentTask[], ReadonlyMap<string, AgentTask>>();

/** By their ids and the files that they write. There may be hundreds, and every call is asked about. */
function byName(tasks: readonly AgentTask[]): ReadonlyMap<string, AgentTask> {
  const found = known.get(tasks);
  if (found !== undefined) return found;
  const made = new Map(
    tasks.flatMap((task) => [[task.outputFile, task] as const, [task.id, task] as const]),
  );
  known.set(tasks, made);
  return made;
}

/** Where agents write what they do. */
const OUTPUT_PLACES: ReadonlySet<string> = new Set(['tool-results', 'subagents']);

/** Names with wildcards in the places of outputs and transcripts. */
function wildNames(command: string): readonly string[] {
  if (!/[*?[]/.test(command)) return [];
  return command.split(/[\s;|&<>()]+/).flatMap((word) => {
    const [name = '', place = ''] = word.split('/').reverse();
    return /[*?[]/.test(name) && OUTPUT_PLACES.has(place) ? [name] : [];
  });
}

function isMeant(wild: readonly string[], { id, outputFile }: AgentTask): boolean {
  const names = [basename(outputFile), `agent-${id}.jsonl`];
  return wild.some((name) => names.some((file) => matches(segmentTokens(name), file)));
}

function isNamedIn(command: string, { id, outputFile }: AgentTask): boolean {
  if (command.includes(outputFile) || command.includes(`agent-${id}.jsonl`)) return true;
  // The name of the file alone tells when it is made of the id; another one may stand for anything.
  const file = basename(outputFile);
  return file.includes(id) && command.includes(file);
}
