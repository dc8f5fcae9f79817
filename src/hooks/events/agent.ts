import { deniedBy, endOf } from '../answers/round.js';
import { EVERY_HOOK, occasionOf, type Scene, withoutAbsent } from '../dispatch/scene.js';
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

const NO_CONTEXTS = Object.freeze({ contexts: Object.freeze([]) as readonly [] });
const IDLE: IdleVerdict = Object.freeze({});

export function createAgentHooks(deps: EventDeps): AgentHooks {
  const { dispatch } = deps;
  return {
    async subagentStart(scene) {
      const { agent } = scene;
      const matched = [agent.type];
      if (!dispatch.has('SubagentStart', { agent, matched })) return NO_CONTEXTS;
      const fields = { agent_id: agent.id, agent_type: agent.type };
      const round = await dispatch.fire('SubagentStart', occasionOf(scene, matched, fields));
      tellIgnored(deps, 'SubagentStart', round);
      return { contexts: contextsFor('SubagentStart', round) };
    },
    async teammateIdle(teammate, scene) {
      const asked = { agent: scene.agent, matched: EVERY_HOOK };
      if (!dispatch.has('TeammateIdle', asked)) return IDLE;
      const fields = withoutAbsent({ ...teammate });
      const occasion = occasionOf(scene, EVERY_HOOK, fields);
      const round = await dispatch.fire('TeammateIdle', occasion);
      const stop = endOf(round);
      if (stop !== undefined) return { stop };
      // A hook that failed keeps nobody at work: it would fail for ever.
      const wishes = deniedBy(round).map(({ by, reason }) => `${reason} (${by})`);
      return wishes.length === 0 ? IDLE : { keepWorking: wishes.join('\n') };
    },
  };
}
