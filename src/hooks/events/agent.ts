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

/** SubagentStart: `scene.agent` is the agent that starts. Hooks cannot keep it from starting. */
export async function subagentStart(
  deps: EventDeps,
  scene: Scene,
): Promise<{ readonly contexts: readonly string[] }> {
  const { id, type } = scene.agent;
  const fields = { agent_id: id, agent_type: type };
  const round = await ask(deps.dispatch, 'SubagentStart', { scene, fields, matched: [type] });
  tellIgnored(deps, 'SubagentStart', round);
  return { contexts: contextsFor('SubagentStart', round) };
}

export async function teammateIdle(
  { dispatch }: EventDeps,
  teammate: IdleTeammate,
  scene: Scene,
): Promise<IdleVerdict> {
  const round = await ask(dispatch, 'TeammateIdle', { scene, fields: { ...teammate } });
  const stop = endOf(round);
  if (stop !== undefined) return { stop };
  // A hook that failed keeps nobody at work: it would fail for ever.
  const wishes = deniedBy(round).map(({ by, reason }) => `${reason} (${by})`);
  return wishes.length === 0 ? {} : { keepWorking: wishes.join('\n') };
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

/** TaskCreated: why the task is not to be, for the model; undefined when nobody objects. */
export async function taskCreated(
  deps: EventDeps,
  task: HookTask,
  scene: Scene,
): Promise<string | undefined> {
  return joined(await askAboutTask(deps, 'TaskCreated', task, scene), noOf);
}

/** TaskCompleted: why it is not done yet, for the model; undefined when nobody objects. */
export async function taskCompleted(
  deps: EventDeps,
  task: HookTask,
  scene: Scene,
): Promise<string | undefined> {
  const round = await askAboutTask(deps, 'TaskCompleted', task, scene);
  // fail-closed: who wants its author to stop has not agreed that it is done.
  return joined(round, (report) => noOf(report) ?? wishToStop(report));
}

/** TaskCompleted of a task whose author rests without having finished it: why to go on or to end. */
export async function taskLeft(
  deps: EventDeps,
  task: HookTask,
  scene: Scene,
): Promise<{ readonly goOn?: string; readonly stop?: string }> {
  const round = await askAboutTask(deps, 'TaskCompleted', task, scene);
  const stop = joined(round, wishToStop);
  return stop === undefined ? { goOn: joined(round, noOf) } : { stop };
}

function askAboutTask(
  { dispatch }: EventDeps,
  event: 'TaskCreated' | 'TaskCompleted',
  task: HookTask,
  scene: Scene,
): Promise<HookRound> {
  const fields = {
    task_id: task.id,
    task_subject: task.subject,
    task_description: task.description,
    teammate_name: task.teammateName,
    team_name: task.teamName,
  };
  return ask(dispatch, event, { scene, fields });
}

function joined(
  { reports }: HookRound,
  read: (report: HookRound['reports'][number]) => string | undefined,
): string | undefined {
  return reports.flatMap((report) => read(report) ?? []).join('\n') || undefined;
}
