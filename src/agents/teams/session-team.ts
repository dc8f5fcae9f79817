import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import { taskLeft, teammateIdle } from '../../hooks/events/agent.js';
import { stopHookCap } from '../../hooks/events/stop.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import { ok } from '../../lib/result.js';
import type { LoopEvent } from '../../loop/types.js';
import { join } from '../../platform/fs/paths.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { createTaskStore } from '../../tools/tasks/task-store.js';
import type { ToolContext } from '../../tools/tool.js';
import type { SendMessageDeps } from '../tools/send-message.js';
import { nodeTeamFiles } from './host/files.js';
import { mailIn } from './mail.js';
import { LEAD, type TeamRole, teamNameOf } from './records.js';
import { claims, exclusiveTasks, taskDirectory } from './tasks.js';
import { type TeamView, viewTeam } from './team.js';
import type { TeamBase, TeamSession, TeamSide } from './team-base.js';
import { openDesk, type TeamClient } from './team-client.js';
import { teamMessageTool } from './team-message.js';

export interface TeamParts {
  readonly log: Log;
  readonly hooks: OpenHooks;
  readonly session: TeamSession;
}

/** Teams are for conversations with a person, and have to be wanted. Undefined: there is none. */
export async function openTeams(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: TeamParts,
) {
  const role = config.team;
  if (role === undefined || (role.kind === 'lead' && !areOn(environment))) return undefined;
  const base = baseOf(config, environment, { ...parts, role });
  const side: TeamSide =
    role.kind === 'lead'
      ? (await import('./lead.js')).openLead(base, role)
      : (await import('./member.js')).openMember(base, role);
  const nameOf = (agent: AgentRef): string =>
    base.desk()?.nameOf(agent) ?? (agent.id === MAIN_AGENT.id ? base.self : agent.path);
  const living = (): readonly string[] => [
    LEAD,
    ...(base.desk()?.living() ?? []).map(({ name }) => name),
  ];
  return {
    side,
    isLead: role.kind === 'lead',
    /** The list of tasks is the team's. */
    tasks: {
      store: base.tasks,
      listId: () => base.team,
      review: ({ agent }: ToolContext, taskId: string) =>
        claims({ name: nameOf(agent), living }, taskId),
    },
    /** How hooks are told who works on a task. */
    who: (agent: AgentRef) => ({ teammateName: nameOf(agent), teamName: base.team }),
    /** A teammate, or the main agent of the process of one. */
    isTeammate: (agent: AgentRef): boolean => {
      const name = base.desk()?.nameOf(agent);
      return name !== undefined && name !== LEAD;
    },
    messageTool: (plain: SendMessageDeps) => teamMessageTool({ desk: base.desk, plain }),
    /** What any agent has recorded just now. */
    heard(event: LoopEvent | SessionNews): void {
      const [id, said] =
        event.type === 'child' ? [event.agent.id, event.event] : [MAIN_AGENT.id, event];
      if (said.type !== 'input') return;
      const desk = base.desk();
      const name = desk?.nameOf({ id });
      if (name === undefined) return;
      // fail-closed: the message is in the transcript before it leaves the mailbox.
      desk?.post.recorded(name, said.message);
    },
    view(): TeamView | undefined {
      const desk = base.desk();
      const view = desk === undefined ? undefined : viewTeam(nodeTeamFiles, desk.team);
      return view?.ok === true ? view.value : undefined;
    },
    close: () => side.close(),
  };
}

export type OpenTeams = NonNullable<Awaited<ReturnType<typeof openTeams>>>;

/** The environment decides where it says something, else the setting; they are off by themselves. */
function areOn({ env, settings }: SessionEnvironment): boolean {
  const said = env.CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS?.trim();
  if (said !== undefined && said !== '') return said === '1' || said.toLowerCase() === 'true';
  return settings.values.get('portcullis.teams')?.value === true;
}

function baseOf(
  config: SessionConfig,
  environment: SessionEnvironment,
  { log, hooks, role, session }: TeamParts & { readonly role: TeamRole },
): TeamBase {
  const { clock, fs, configDir } = environment;
  const { sessionId } = log.history;
  const team = role.kind === 'lead' ? teamNameOf(sessionId) : role.identity.team;
  const self = role.kind === 'lead' ? LEAD : role.identity.name;
  const tasks = createTaskStore({
    fs,
    directory: taskDirectory(configDir),
    exclusive: exclusiveTasks(nodeTeamFiles),
  });
  const warn = (text: string): void => hooks.tell(text);
  let desk: TeamClient | undefined;
  return {
    config,
    environment,
    sessionId,
    tasks,
    team,
    self,
    desk: () => desk,
    openDesk() {
      if (desk !== undefined) return ok(desk);
      const opened = openDesk({
        files: nodeTeamFiles,
        directory: join(configDir, 'teams'),
        team,
        self,
        uuid: clock.uuid,
        now: clock.now,
        warn,
      });
      if (opened.ok) desk = opened.value;
      return opened;
    },
    rest: {
      tasks,
      idle: (teammate, scene) => teammateIdle(hooks, teammate, scene),
      left: (task, scene) => taskLeft(hooks, task, scene),
      cap: stopHookCap(environment.env),
      warn,
    },
    async had() {
      const read = await log.store.read(sessionId);
      return new Set(mailIn(JSON.stringify(read?.entries ?? [])));
    },
    session,
    warn,
  };
}
