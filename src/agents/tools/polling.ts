import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import type { GateCall } from '../../permissions/gate/types.js';
import type { CallView } from '../../permissions/gate/view.js';
import { matches, segmentTokens } from '../../permissions/rules/wildcard.js';
import type { SimpleCommand } from '../../permissions/shell/model.js';
import { basename, dirname, join, resolve, toPosix } from '../../platform/fs/paths.js';
import type { AgentTask } from '../runtime/task.js';
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
    async decide(view) {
      const tasks = running();
      if (tasks.length === 0) {
        answered.clear();
        return NOTHING;
      }
      const task = await lookedAt(view, tasks);
      if (task === undefined) return NOTHING;
      const { call } = view;
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

type Tasks = readonly AgentTask[];

type LookingCall = Pick<CallView, 'call' | 'shell' | 'facts'>;

/** The agent whose output or transcript a call names, or which it names by its id as a task. */
async function lookedAt(view: LookingCall, tasks: Tasks): Promise<AgentTask | undefined> {
  const { call } = view;
  const { command, paths } = call.subject;
  const outputs = outputsOf(tasks);
  const { names, places } = outputs;
  const { task_id: id } = call.input;
  const task = typeof id === 'string' ? names.get(id) : undefined;
  if (task !== undefined && isOther(task, call)) return task;
  let isInPlace = false;
  for (const { path, access } of paths) {
    if (access !== 'read') continue;
    const writer = names.get(path);
    if (writer !== undefined && isOther(writer, call)) return writer;
    const toldOf = TRANSCRIPT.exec(path)?.[1];
    const told = toldOf === undefined ? undefined : names.get(toldOf);
    if (told !== undefined && isOther(told, call)) return told;
    isInPlace ||= places.has(resolve(path));
  }
  if (!isInPlace && command === undefined) return undefined;
  for (const tree of await treesRead(view)) {
    const below = writersIn(tree, outputs).find((one) => isOther(one, call));
    if (below !== undefined) return below;
  }
  return command === undefined ? undefined : await lookedAtBy(command, view, tasks);
}

/** TaskStop names it in the same way as a look, and is none. */
function isOther({ id }: AgentTask, { agent, input, tool }: GateCall): boolean {
  return id !== agent.id && (id !== input.task_id || tool.name === 'BashOutput');
}

const TRANSCRIPT = /[\\/]agent-([^\\/]+)\.jsonl$/;

async function lookedAtBy(
  command: string,
  view: LookingCall,
  tasks: Tasks,
): Promise<AgentTask | undefined> {
  const plain = command.replace(/['"\\]/g, '');
  const isWild = WILD.test(command);
  const commands = isWild ? ((await view.shell())?.commands ?? []) : [];
  const words = isWild ? [...plain.split(/[\s;|&<>()]+/), ...wildPaths(commands, plain)] : [];
  const wild = wildNames(words);
  return tasks.find(
    (task) => isOther(task, view.call) && (isNamedIn(plain, task) || isMeant(wild, task)),
  );
}

/** Where agents write what they do. */
const OUTPUT_PLACES: ReadonlySet<string> = new Set(['tool-results', 'subagents']);

/** Who writes what. */
interface Outputs {
  /** By their ids and the files that they write. */
  readonly names: ReadonlyMap<string, AgentTask>;
  /**
   * By directories: those who write there, or in the session around it. A call that goes through more is
   * about something else.
   */
  readonly places: ReadonlyMap<string, readonly Tasks[]>;
}

function outputsOf(tasks: Tasks): Outputs {
  const names = new Map<string, AgentTask>();
  const written = new Map<string, AgentTask[]>();
  for (const task of tasks) {
    names.set(task.outputFile, task).set(task.id, task);
    const place = dirname(task.outputFile);
    const there = written.get(place);
    if (there === undefined) written.set(place, [task]);
    else there.push(task);
  }
  const places = new Map<string, readonly Tasks[]>();
  // Mostly all write into the same directory.
  for (const [place, some] of written) {
    for (const one of placesAround(place)) places.set(one, [...(places.get(one) ?? []), some]);
  }
  return { names, places };
}

/** The agents whose output a walk through a directory finds. */
function writersIn({ directory, takes }: ReadTree, { places }: Outputs): Tasks {
  const there = places.get(directory) ?? [];
  return there.flat().filter(({ id, outputFile }) => namesOf(outputFile, id).some(takes));
}

/** A directory of outputs, and where a look at it may begin. */
function placesAround(place: string): readonly string[] {
  if (!OUTPUT_PLACES.has(basename(place))) return [place];
  const session = dirname(place);
  return [session, ...[...OUTPUT_PLACES].map((one) => join(session, one))];
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
