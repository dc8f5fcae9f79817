import type { Scene } from '../../hooks/dispatch/scene.js';
import type { HookTask, IdleTeammate, IdleVerdict, taskLeft } from '../../hooks/events/agent.js';
import { sliceWhole } from '../../lib/truncate.js';
import type { TaskStore } from '../../tools/tasks/task-store.js';
import type { RestMove } from '../runtime/run.js';
import type { Duty } from './duty.js';
import { LEAD, type TeammateState } from './records.js';
import { begunBy } from './tasks.js';
import type { TeamClient } from './team-client.js';

export interface RestParts {
  readonly desk: TeamClient;
  readonly tasks: TaskStore;
  /** Asks the hooks about a teammate that has nothing left to do. */
  idle(teammate: IdleTeammate, scene: Scene): Promise<IdleVerdict>;
  /** Asks them about a task that its author leaves unfinished. */
  left(task: HookTask, scene: Scene): ReturnType<typeof taskLeft>;
  /** How often in a row hooks may keep one at work that has nothing to do. */
  readonly cap: number;
  warn(text: string): void;
}

/** What a teammate says last is shown to the lead up to here. */
const LONGEST_LAST = 8_000;

/** What happens when a teammate has nothing more to do. One a teammate. */
export function createIdleWait(parts: RestParts, duty: Duty) {
  const { desk } = parts;
  const { name } = duty;
  const team = desk.team.name;
  let kept = 0;
  const goOn = async (text: string): Promise<RestMove> => {
    kept++;
    if (kept <= parts.cap) return { kind: 'go-on', text };
    parts.warn(`hooks have kept ${name} at work ${parts.cap} times in a row: it rests now`);
    return await rest();
  };
  let lastText = '';
  let told: Promise<void> = Promise.resolve();
  /** One after the other: the last one is how it stands. */
  const stands = (state: TeammateState): Promise<void> => {
    told = told.then(() => setState(desk, name, state, parts.warn));
    return told;
  };
  const rest = async (): Promise<RestMove> => {
    kept = 0;
    await stands('idle');
    const sent = await desk.send({
      from: name,
      to: LEAD,
      kind: 'idle',
      text: sliceWhole(lastText.trim() || '(It said nothing.)', 0, LONGEST_LAST),
    });
    if (!sent.ok) parts.warn(`the lead was not told that ${name} rests: ${sent.error}`);
    return { kind: 'rest' };
  };
  return {
    async beforeRest(scene: Scene, text: string): Promise<RestMove> {
      lastText = text;
      if (duty.isOver) return { kind: 'leave' };
      for (const { id, subject, description } of await begunBy(parts.tasks, team, name)) {
        const task = { id, subject, description, teammateName: name, teamName: team };
        const said = await parts.left(task, scene);
        if (said.stop !== undefined) return { kind: 'leave', stop: said.stop };
        if (said.goOn !== undefined) return await goOn(`Task ${id} is not done: ${said.goOn}`);
      }
      const idle = await parts.idle({ teammate_name: name, team_name: team }, scene);
      if (idle.stop !== undefined) return { kind: 'leave', stop: idle.stop };
      if (idle.keepWorking !== undefined) return await goOn(idle.keepWorking);
      return await rest();
    },
    woken(): void {
      void stands('working');
    },
  };
}

export async function setState(
  { team }: Pick<TeamClient, 'team'>,
  name: string,
  state: TeammateState,
  warn: (text: string) => void,
): Promise<void> {
  const done = await team.change(name, (member) => ({ ...member, state }));
  if (!done.ok) warn(`the team does not know that ${name} is ${state}: ${done.error}`);
}

/** What a teammate is told about its place; the program's own word. */
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
    'Nobody sees what you write unless you send it with SendMessage; what you say last is shown to the lead when you rest. Messages of others come to you by themselves.',
    "The tasks of the team are in TaskList. Take one that is open, not blocked and nobody's by setting it in_progress; set it completed when it is wholly done, and look for the next.",
    ...(planRequired
      ? [
          `You must plan first: look around, but you can change nothing. Present your plan with SendMessage to "${LEAD}", message {"type":"plan_approval_request","plan":"…"}, and end your turn. You can make changes once the lead has approved it.`,
        ]
      : []),
  ].join('\n');
}
