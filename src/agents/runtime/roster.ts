import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentTask, Roster } from './task.js';

export interface AgentLimits {
  /** How deep agents may start agents; the main one is at 0. */
  readonly depth: number;
  /** How many may run at once. */
  readonly concurrency: number;
}

export const DEFAULT_LIMITS: AgentLimits = { depth: 3, concurrency: 20 };

/** Ended agents that are remembered. Older ones live on in their transcripts. */
export const MOST_ENDED = 256;

export interface OpenRoster extends Roster {
  /** Also in place of an ended agent of the same id, which is gone on with. */
  add(task: AgentTask, name: string | undefined): void;
  ended(task: AgentTask): void;
  /** The address of a new agent: `main/planner#2`. No other has had it, nor will. */
  pathFor(parent: AgentRef, type: string): string;
  /** Addresses that agents have had before: no other gets one of them. */
  reserve(paths: readonly string[]): void;
  /** The agent that has this name now. */
  named(name: string): AgentTask | undefined;
}

export function createRoster(): OpenRoster {
  const living = new Map<string, AgentTask>();
  /** Those in a list; asked for with every call of every agent. */
  let running: readonly AgentTask[] | undefined;
  const ended = new Map<string, AgentTask>();
  const names = new Map<string, string>();
  /** How many of each type an agent has started. Kept when it ends: it may be gone on with. */
  const counts = new Map<string, Map<string, number>>();
  const byId = (id: string): AgentTask | undefined => living.get(id) ?? ended.get(id);
  const named = (name: string): AgentTask | undefined => {
    const id = names.get(name);
    return id === undefined ? undefined : byId(id);
  };
  const countsOf = (parent: string): Map<string, number> => {
    const mine = counts.get(parent) ?? new Map<string, number>();
    counts.set(parent, mine);
    return mine;
  };
  const reserve = (path: string): void => {
    const steps = path.split('/');
    for (const [index, step] of steps.entries()) {
      const [, type, number] = /^(.+)#(\d{1,15})$/.exec(step) ?? [];
      if (type === undefined) continue;
      const mine = countsOf(steps.slice(0, index).join('/'));
      mine.set(type, Math.max(mine.get(type) ?? 0, Number(number)));
    }
  };
  /** Whether the address is one that was given away here: then those above it were, too. */
  const isGiven = (path: string): boolean => {
    const at = path.lastIndexOf('/');
    const mark = path.lastIndexOf('#');
    const last = counts.get(path.slice(0, at))?.get(path.slice(at + 1, mark)) ?? 0;
    return Number(path.slice(mark + 1)) <= last;
  };
  return {
    list: () => [...living.values(), ...ended.values()],
    running() {
      running ??= Object.freeze([...living.values()]);
      return running;
    },
    find: (idOrName) => byId(idOrName) ?? named(idOrName),
    named,
    below: (ref) =>
      [...living.values(), ...ended.values()].filter(({ ref: { path } }) =>
        path.startsWith(`${ref.path}/`),
      ),
    add(task, name) {
      ended.delete(task.id);
      living.set(task.id, task);
      running = undefined;
      if (!isGiven(task.ref.path)) reserve(task.ref.path);
      // The newest has the name.
      if (name !== undefined) names.set(name, task.id);
    },
    ended(task) {
      if (living.get(task.id) !== task) return;
      living.delete(task.id);
      running = undefined;
      ended.set(task.id, task);
      if (ended.size <= MOST_ENDED) return;
      const [oldest] = ended.keys();
      if (oldest === undefined) return;
      ended.delete(oldest);
      for (const [name, id] of names) if (id === oldest) names.delete(name);
    },
    reserve(paths) {
      for (const path of paths) reserve(path);
    },
    pathFor(parent, type) {
      const mine = countsOf(parent.path);
      const number = (mine.get(type) ?? 0) + 1;
      mine.set(type, number);
      return `${parent.path}/${type}#${number}`;
    },
  };
}
