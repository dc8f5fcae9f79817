import {
  contextsFor,
  deniedBy,
  type EventDeps,
  endOf,
  noOf,
  tellIgnored,
  wishToStop,
} from '../answers/round.js';
import { ask, type Scene } from '../dispatch/scene.js';
import type { HookRound } from '../registry/hook.js';

export interface IdleTeammate {
  readonly teammate_name: string;
  readonly team_name?: string | undefined;
}

/** What is to become of a teammate that has nothing left to do. At most one of both is set. */
export interface IdleVerdict {
  /** It goes on, and this is what it is told. */
  readonly keepWorking?: string;
  /** It ends, and this is why. */
  readonly stop?: string;
}

/** Hooks around agents that work for the main one. */
export interface AgentHooks {
  /** `scene.agent` is the agent that starts. Hooks cannot keep it from starting. */
  subagentStart(scene: Scene): Promise<{ readonly contexts: readonly string[] }>;
  teammateIdle(teammate: IdleTeammate, scene: Scene): Promise<IdleVerdict>;
}

export function createAgentHooks(deps: EventDeps): AgentHooks {
  const { dispatch } = deps;
  return {
    async subagentStart(scene) {
      const { id, type } = scene.agent;
      const fields = { agent_id: id, agent_type: type };
      const round = await ask(dispatch, 'SubagentStart', { scene, fields, matched: [type] });
      tellIgnored(deps, 'SubagentStart', round);
      return { contexts: contextsFor('SubagentStart', round) };
    },
    async teammateIdle(teammate, scene) {
      const round = await ask(dispatch, 'TeammateIdle', { scene, fields: { ...teammate } });
      const stop = endOf(round);
      if (stop !== undefined) return { stop };
      // A hook that failed keeps nobody at work: it would fail for ever.
      const wishes = deniedBy(round).map(({ by, reason }) => `${reason} (${by})`);
      return wishes.length === 0 ? {} : { keepWorking: wishes.join('\n') };
    },
  };
}

/** A task of the list that agents share. */
export interface HookTask {
  readonly id: string;
  readonly subject: string;
  readonly description?: string | undefined;
  /** Who works on it, in a team. */
  readonly teammateName?: string | undefined;
  readonly teamName?: string | undefined;
}

/** Hooks that watch the task list. The text that they return is for the model. */
export interface TaskHooks {
  /** Why the task is not to be; undefined when nobody objects. */
  created(task: HookTask, scene: Scene): Promise<string | undefined>;
  /** Why it is not done yet; undefined when nobody objects. */
  completed(task: HookTask, scene: Scene): Promise<string | undefined>;
  /** Its author rests without having finished it: why he must go on, or why he must end. */
  left(task: HookTask, scene: Scene): Promise<{ readonly goOn?: string; readonly stop?: string }>;
}

export function createTaskHooks({ dispatch }: EventDeps): TaskHooks {
  return {
    async created(task, scene) {
      const round = await ask(dispatch, 'TaskCreated', { scene, fields: fieldsOf(task) });
      return joined(round, noOf);
    },
    async completed(task, scene) {
      const round = await ask(dispatch, 'TaskCompleted', { scene, fields: fieldsOf(task) });
      // fail-closed: who wants its author to stop has not agreed that it is done.
      return joined(round, (report) => noOf(report) ?? wishToStop(report));
    },
    async left(task, scene) {
      const round = await ask(dispatch, 'TaskCompleted', { scene, fields: fieldsOf(task) });
      const stop = joined(round, wishToStop);
      if (stop !== undefined) return { stop };
      return { goOn: joined(round, noOf) };
    },
  };
}

function fieldsOf(task: HookTask): Readonly<Record<string, unknown>> {
  return {
    task_id: task.id,
    task_subject: task.subject,
    task_description: task.description,
    teammate_name: task.teammateName,
    team_name: task.teamName,
  };
}

function joined(
  { reports }: HookRound,
  read: (report: HookRound['reports'][number]) => string | undefined,
): string | undefined {
  const all = reports.flatMap((report) => read(report) ?? []);
  return all.length === 0 ? undefined : all.join('\n');
}
