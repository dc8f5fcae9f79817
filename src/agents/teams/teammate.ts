import type { Scene } from '../../hooks/dispatch/scene.js';
import { taskLeft, teammateIdle } from '../../hooks/events/agent.js';
import { stopHookCap } from '../../hooks/events/stop.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { RestMove, Stays } from '../runtime/run.js';
import type { Duty } from './duty.js';
import { LEAD, type TeammateState } from './records.js';
import { releaseTasks, tasksInProgress } from './tasks.js';
import type { TeamBase } from './team-base.js';
import type { TeamClient } from './team-client.js';

/** How much of a teammate's last text the lead is shown. */
const LONGEST_LAST = 8_000;

/** Decides what a teammate does when it has nothing left to do; one per teammate. */
export function createIdleWait(base: TeamBase, client: TeamClient, duty: Duty): Stays {
  const { hooks, warn, team } = base;
  const { name } = duty;
  const cap = stopHookCap(base.environment.env);
  let kept = 0;
  let told: Promise<void> = Promise.resolve();
  /** Changes run in order, so that the last one wins. */
  const changeTo = (state: TeammateState): Promise<void> => {
    told = told.then(() => setState(client, name, state, warn));
    return told;
  };
  /** Work that hooks require before it rests. */
  const moveOfHooks = async (scene: Scene): Promise<RestMove | undefined> => {
    for (const { id, subject, description } of await tasksInProgress(base.tasks, team, name)) {
      const task = { id, subject, description, teammateName: name, teamName: team };
      const { stop, goOn } = await taskLeft(hooks, task, scene);
      if (stop !== undefined) return { kind: 'leave', stop };
      if (goOn !== undefined) return { kind: 'go-on', text: `Task ${id} is not done: ${goOn}` };
    }
    const idle = await teammateIdle(hooks, { teammate_name: name, team_name: team }, scene);
    if (idle.stop !== undefined) return { kind: 'leave', stop: idle.stop };
    return idle.keepWorking === undefined ? undefined : { kind: 'go-on', text: idle.keepWorking };
  };
  return {
    async beforeRest(scene, text) {
      if (duty.isOver) return { kind: 'leave' };
      const move = await moveOfHooks(scene);
      if (move?.kind === 'leave') return move;
      if (move !== undefined && ++kept <= cap) return move;
      if (move !== undefined) {
        warn(`hooks have kept ${name} at work ${cap} times in a row: it rests now`);
      }
      kept = 0;
      await changeTo('idle');
      const sent = await sendLast(client, { name, kind: 'idle', text });
      if (!sent.ok) warn(`the lead was not told that ${name} rests: ${sent.error}`);
      return { kind: 'rest' };
    },
    woken() {
      void changeTo('working');
    },
  };
}

/** Sends the lead a teammate's last text when it rests or ends. */
export function sendLast(
  client: TeamClient,
  { name, kind, text }: { name: string; kind: 'idle' | 'ended'; text: string },
) {
  const said = sliceWhole(text.trim() || '(It said nothing.)', 0, LONGEST_LAST);
  return client.send({ from: name, to: LEAD, kind, text: said });
}

export async function setState(
  { team }: TeamClient,
  name: string,
  state: TeammateState,
  warn: (text: string) => void,
): Promise<void> {
  const done = await team.change(name, (member) => ({ ...member, state }));
  if (!done.ok) warn(`the team does not know that ${name} is ${state}: ${done.error}`);
}

/** Records that a teammate has left, and reopens and returns its unfinished tasks. */
export async function leaveTeam(
  { tasks, warn }: TeamBase,
  client: TeamClient,
  name: string,
): Promise<readonly string[]> {
  await setState(client, name, 'ended', warn);
  const released = await releaseTasks(tasks, client.team.name, name);
  if (released.ok) return released.value;
  warn(`what ${name} had begun is still called its own: ${released.error}`);
  return [];
}

/** The program's note to a teammate about its team. */
export function teammateNote(facts: {
  readonly name: string;
  readonly team: string;
  readonly others: readonly string[];
  readonly planRequired: boolean;
}): string {
  const { name, team, others, planRequired } = facts;
  return [
    `You are the teammate "${name}" in the team "${team}". "${LEAD}" leads it and has given you your task.`,
    others.length === 0 ? 'Others may join later.' : `Also there: ${others.join(', ')}.`,
    'The others see only what you send with SendMessage; your last text is shown to the lead when you go idle. Messages of others are delivered to you automatically.',
    'The tasks of the team are in TaskList. Take one that is open, not blocked and has no owner by setting it in_progress; set it completed when it is wholly done, and look for the next.',
    ...(planRequired
      ? [
          `You must plan first: look around, but you can change nothing. Present your plan with SendMessage to "${LEAD}", message {"type":"plan_approval_request","plan":"…"}, and end your turn. You can make changes once the lead has approved it.`,
        ]
      : []),
  ].join('\n');
}
