import { contextsOf, deniedBy, type EventDeps, endOf, noOf, wishToStop } from '../answers/round.js';
import { ask, askObservers, type Scene } from '../dispatch/scene.js';
import type { HookReport, HookRound } from '../registry/hook.js';

interface IdleTeammate {
  readonly teammate_name: string;
  readonly team_name?: string | undefined;
}

/** What becomes of a teammate that has nothing left to do: at most one of both is set. */
interface IdleVerdict {
  /** The instruction that it goes on with. */
  readonly keepWorking?: string;
  /** Why it ends. */
  readonly stop?: string;
}

/** SubagentStart: `scene.agent` is the agent that starts. Hooks cannot keep it from starting. */
export async function subagentStart(
  deps: EventDeps,
  scene: Scene,
): Promise<{ readonly contexts: readonly string[] }> {
  const { id, type } = scene.agent;
  const fields = { agent_id: id, agent_type: type };
  const round = await askObservers(deps, 'SubagentStart', { scene, fields, matched: [type] });
  return { contexts: contextsOf(round) };
}

export async function teammateIdle(
  { dispatch }: EventDeps,
  teammate: IdleTeammate,
  scene: Scene,
): Promise<IdleVerdict> {
  const round = await ask(dispatch, 'TeammateIdle', { scene, fields: { ...teammate } });
  const stop = endOf(round);
  if (stop !== undefined) return { stop };
  // A hook that failed keeps no teammate at work: it would fail for ever.
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

/** TaskCreated: why the task must not be created, for the model; undefined when no hook objects. */
export async function taskCreated(
  deps: EventDeps,
  task: HookTask,
  scene: Scene,
): Promise<string | undefined> {
  return joined(await askAboutTask(deps, 'TaskCreated', task, scene), noOf);
}

/** TaskCompleted: why the task is not done yet, for the model; undefined when no hook objects. */
export async function taskCompleted(
  deps: EventDeps,
  task: HookTask,
  scene: Scene,
): Promise<string | undefined> {
  const round = await askAboutTask(deps, 'TaskCompleted', task, scene);
  // fail-closed: a hook that wants its author to stop has not agreed that it is done.
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
  read: (report: HookReport) => string | undefined,
): string | undefined {
  return reports.flatMap((report) => read(report) ?? []).join('\n') || undefined;
}
