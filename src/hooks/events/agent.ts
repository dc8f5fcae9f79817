import { deniedBy, endOf } from '../answers/round.js';
import { ask, type Scene } from '../dispatch/scene.js';
import { contextsFor, type EventDeps, tellIgnored } from './event-answers.js';

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
