import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import type { LoopEvent } from '../../loop/types.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { ToolContext } from '../../tools/tool.js';
import type { SendMessageDeps } from '../tools/send-message.js';
import { LEAD } from './records.js';
import { claims } from './tasks.js';
import { type TeamView, viewTeam } from './team.js';
import { TeamBase, type TeamParts, type TeamSide } from './team-base.js';
import { teamMessageTool } from './team-message.js';

/**
 * Opens the team of a session. Teams need a person in the conversation and have to be turned on; undefined
 * without one.
 */
export async function openTeams(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: TeamParts,
) {
  const role = config.team;
  if (role === undefined || (role.kind === 'lead' && !areOn(environment))) return undefined;
  const base = new TeamBase(config, environment, { ...parts, role });
  const side: TeamSide =
    role.kind === 'lead'
      ? (await import('./lead.js')).openLead(base, role)
      : (await import('./member.js')).openMember(base, role);
  const nameOf = (agent: AgentRef): string =>
    base.client?.nameOf(agent) ?? (agent.id === MAIN_AGENT.id ? base.self : agent.path);
  const living = (): readonly string[] => [
    LEAD,
    ...(base.client?.living() ?? []).map(({ name }) => name),
  ];
  return {
    side,
    isLead: role.kind === 'lead',
    /** The tasks are shared by the team. */
    tasks: {
      store: base.tasks,
      listId: () => base.team,
      review: ({ agent }: ToolContext, taskId: string) =>
        claims({ name: nameOf(agent), living }, taskId),
    },
    /** The teammate behind a task, for hooks. */
    who: (agent: AgentRef) => ({ teammateName: nameOf(agent), teamName: base.team }),
    /** Whether the agent is a teammate, in the lead's process or in its own. */
    isTeammate(agent: AgentRef): boolean {
      const name = base.client?.nameOf(agent);
      return name !== undefined && name !== LEAD;
    },
    messageTool: (plain: SendMessageDeps) => teamMessageTool(() => base.client, plain),
    /** Called for every event that an agent records. */
    heard(event: LoopEvent | SessionNews): void {
      const [id, said] =
        event.type === 'child' ? [event.agent.id, event.event] : [MAIN_AGENT.id, event];
      const name = base.client?.nameOf({ id });
      // fail-closed: a message leaves the mailbox only once it is in the transcript.
      if (said.type === 'input' && name !== undefined) {
        base.client?.post.recorded(name, said.message);
      }
    },
    view(): TeamView | undefined {
      const view = base.client === undefined ? undefined : viewTeam(base.client.team);
      return view?.ok === true ? view.value : undefined;
    },
    close: () => side.close(),
  };
}

export type OpenTeams = NonNullable<Awaited<ReturnType<typeof openTeams>>>;

/** The environment overrides the setting; off by default. */
function areOn({ env, settings }: SessionEnvironment): boolean {
  const said = env.CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS?.trim().toLowerCase();
  if (said !== undefined && said !== '') return said === '1' || said === 'true';
  return settings.values.get('portcullis.teams')?.value === true;
}
