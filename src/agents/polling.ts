import { basename, dirname, join, resolve, toPosix } from '../env/paths.js';
import { type Finding, type Guard, NOTHING } from '../permissions/guard.js';
import type { SimpleCommand } from '../permissions/shell/model.js';
import type { GateCall } from '../permissions/types.js';
import type { CallView } from '../permissions/view.js';
import { matches, segmentTokens } from '../permissions/wildcard.js';
import type { AgentTask } from './task.js';
import { type ReadTree, treesRead } from './trees-read.js';

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
    decide(view) {
      const tasks = running();
      if (tasks.length > 0) return judged(view, tasks);
      answered.clear();
      return NOTHING;
    },
  };

  async function judged(view: CallView, tasks: readonly AgentTask[]): Promise<Finding> {
    const { call } = view;
    const task = await lookedAt(view, tasks);
    if (task === undefined) return NOTHING;
    const key = `${call.agent.id} ${task.id}`;
    const first = answered.get(key) ?? call.toolUseId;
    answered.set(key, first);
    return held(task, first === call.toolUseId);
  }
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
async function lookedAt(
  view: Pick<CallView, 'call' | 'shell' | 'facts'>,
  tasks: readonly AgentTask[],
): Promise<AgentTask | undefined> {
  const { call } = view;
  const { agent, subject, tool, input } = call;
  // TaskStop names it in the same way, and is no look.
  const isOther = ({ id }: AgentTask): boolean =>
    id !== agent.id && (id !== input.task_id || tool.name === 'BashOutput');
  const { command } = subject;
  const named = namesIn(call).map((name) => byName(tasks).get(name));
  const found = named.find((task) => task !== undefined && isOther(task));
  if (found !== undefined) return found;
  const trees = await treesRead(view);
  const below = tasks.find((task) => isOther(task) && trees.some((tree) => isIn(tree, task)));
  if (below !== undefined || command === undefined) return below;
  const plain = command.replace(/['"\\]/g, '');
  const isWild = WILD.test(command);
  const commands = isWild ? ((await view.shell())?.commands ?? []) : [];
  const words = isWild ? [...plain.split(/[\s;|&<>()]+/), ...wildPaths(commands, plain)] : [];
  const wild = wildNames(words);
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

/**
 * Whether a call goes through the directory of an agent's output, or that of the session around it. One
 * that goes through more is about something else.
 */
function isIn({ directory, takes }: ReadTree, { id, outputFile }: AgentTask): boolean {
  const place = dirname(outputFile);
  const session = OUTPUT_PLACES.has(basename(place)) ? dirname(place) : undefined;
  const places = [place, ...(session === undefined ? [] : placesOf(session))];
  return places.includes(directory) && namesOf(outputFile, id).some(takes);
}

function placesOf(session: string): readonly string[] {
  return [session, ...[...OUTPUT_PLACES].map((place) => join(session, place))];
}

function namesOf(outputFile: string, id: string): readonly string[] {
  return [basename(outputFile), `agent-${id}.jsonl`];
}

const WILD = /[*?[]/;

/** Names with wildcards in the places of outputs and transcripts. */
function wildNames(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => {
    const [name = '', place = ''] = word.split('/').reverse();
    return WILD.test(name) && OUTPUT_PLACES.has(place) ? [name] : [];
  });
}

/** Patterns as seen from where their commands run: `cd …/tool-results && cat *`. */
function wildPaths(commands: readonly SimpleCommand[], plain: string): readonly string[] {
  return commands.flatMap(({ words, redirections, directories }) => {
    const targets = redirections.flatMap(({ target }) => target ?? []);
    const patterns = [...words, ...targets].flatMap((word) => word.pattern ?? []);
    const from = directories ?? placesIn(plain);
    return patterns.flatMap((pattern) =>
      from.map((directory) => toPosix(resolve(directory, pattern))),
    );
  });
}

/** Where nobody can tell in which directory a command runs, it may be any that the line names. */
function placesIn(plain: string): readonly string[] {
  const names = plain.split(/[\s;|&<>()/=]+/);
  return [...OUTPUT_PLACES].filter((place) => names.includes(place)).map((place) => `/${place}`);
}

function isMeant(wild: readonly string[], { id, outputFile }: AgentTask): boolean {
  const names = namesOf(outputFile, id);
  return wild.some((name) => names.some((file) => matches(segmentTokens(name), file)));
}

function isNamedIn(command: string, { id, outputFile }: AgentTask): boolean {
  if (command.includes(outputFile) || command.includes(`agent-${id}.jsonl`)) return true;
  // The name of the file alone tells when it is made of the id; another one may stand for anything.
  const file = basename(outputFile);
  return file.includes(id) && command.includes(file);
}
