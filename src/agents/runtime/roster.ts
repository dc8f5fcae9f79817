import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentRun, SpawnRequest } from './run.js';

/** How many ended agents are remembered; older ones are found in their transcripts. */
export const MOST_ENDED = 256;

/** All agents of a session, running and ended. */
export class Roster {
  readonly #living = new Map<string, AgentRun>();
  readonly #ended = new Map<string, AgentRun>();
  readonly #names = new Map<string, string>();
  /** How many of each type an agent has started, kept after its end because it may be resumed. */
  readonly #counts = new Map<string, Map<string, number>>();

  list(): readonly AgentRun[] {
    return [...this.#living.values(), ...this.#ended.values()];
  }

  running(): readonly AgentRun[] {
    return [...this.#living.values()];
  }

  living(id: string): AgentRun | undefined {
    return this.#living.get(id);
  }

  /** By id, or by the name's current owner. */
  find(idOrName: string): AgentRun | undefined {
    const byId = (id: string) => this.#living.get(id) ?? this.#ended.get(id);
    return byId(idOrName) ?? byId(this.#names.get(idOrName) ?? '');
  }

  below({ path }: AgentRef): readonly AgentRun[] {
    return this.list().filter(({ ref }) => ref.path.startsWith(`${path}/`));
  }

  /** Adds an agent, replacing an ended one of the same id; the newest gets the name. */
  add(run: AgentRun, name: string | undefined): void {
    this.#ended.delete(run.id);
    this.#living.set(run.id, run);
    this.reserve([run.ref.path]);
    if (name !== undefined) this.#names.set(name, run.id);
  }

  ended(run: AgentRun): void {
    if (this.#living.get(run.id) !== run) return;
    this.#living.delete(run.id);
    this.#ended.set(run.id, run);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size <= MOST_ENDED || oldest === undefined) return;
    this.#ended.delete(oldest);
    for (const [name, id] of this.#names) if (id === oldest) this.#names.delete(name);
  }

  /** Reserves the paths of earlier agents, so that no new agent gets one of them. */
  reserve(paths: readonly string[]): void {
    for (const path of paths) {
      const steps = path.split('/');
      for (const [index, step] of steps.entries()) {
        const [, type, number] = /^(.+)#(\d{1,15})$/.exec(step) ?? [];
        if (type === undefined) continue;
        const counts = this.#countsOf(steps.slice(0, index).join('/'));
        counts.set(type, Math.max(counts.get(type) ?? 0, Number(number)));
      }
    }
  }

  /** The path of a new agent, `main/planner#2`, which is unique in the session. */
  pathFor(parent: Pick<AgentRef, 'path'>, type: string): string {
    const counts = this.#countsOf(parent.path);
    const number = (counts.get(type) ?? 0) + 1;
    counts.set(type, number);
    return `${parent.path}/${type}#${number}`;
  }

  #countsOf(parent: string): Map<string, number> {
    const counts = this.#counts.get(parent) ?? new Map<string, number>();
    this.#counts.set(parent, counts);
    return counts;
  }
}

export function newAgentId(uuid: string): string {
  return `a${uuid.replaceAll('-', '').slice(0, 16)}`;
}

export function newRef(request: SpawnRequest, id: string, path: string): AgentRef {
  const { definition, parent, background, name, toolUseId } = request;
  return {
    id,
    type: definition.name,
    name,
    path,
    parentId: parent.id,
    depth: parent.depth + 1,
    spawnedBy: toolUseId,
    background,
    workspace: parent.workspace,
    isolation: parent.isolation,
    ...(definition.trusted === false ? { untrusted: true as const } : {}),
  };
}
