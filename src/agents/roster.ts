import type { AgentRef } from '../protocol/agent-ref.js';
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
  /** The address of a new agent: `main/planner#2`. */
  pathFor(parent: AgentRef, type: string): string;
  /** The agent that has this name now. */
  named(name: string): AgentTask | undefined;
}

export function createRoster(): OpenRoster {
  const living = new Map<string, AgentTask>();
  const ended = new Map<string, AgentTask>();
  const names = new Map<string, string>();
  const counts = new Map<string, Map<string, number>>();
  const byId = (id: string): AgentTask | undefined => living.get(id) ?? ended.get(id);
  const named = (name: string): AgentTask | undefined => {
    const id = names.get(name);
    return id === undefined ? undefined : byId(id);
  };
  return {
    list: () => [...living.values(), ...ended.values()],
    running: () => [...living.values()],
    find: (idOrName) => byId(idOrName) ?? named(idOrName),
    named,
    below: (ref) =>
      [...living.values(), ...ended.values()].filter(({ ref: { path } }) =>
        path.startsWith(`${ref.path}/`),
      ),
    add(task, name) {
      ended.delete(task.id);
      living.set(task.id, task);
      // The newest has the name.
      if (name !== undefined) names.set(name, task.id);
    },
    ended(task) {
      if (living.get(task.id) !== task) return;
      living.delete(task.id);
      ended.set(task.id, task);
      counts.delete(task.ref.path);
      const [oldest] = ended.keys();
      if (ended.size <= MOST_ENDED || oldest === undefined) return;
      ended.delete(oldest);
      for (const [name, id] of names) if (id === oldest) names.delete(name);
    },
    pathFor(parent, type) {
      const mine = counts.get(parent.path) ?? new Map<string, number>();
      counts.set(parent.path, mine);
      const number = (mine.get(type) ?? 0) + 1;
      mine.set(type, number);
      return `${parent.path}/${type}#${number}`;
    },
  };
}
