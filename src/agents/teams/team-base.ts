import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import { ok, type Result } from '../../lib/result.js';
import type { InputMessage } from '../../loop/types.js';
import { join } from '../../platform/fs/paths.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import { createTaskStore, type TaskStore } from '../../tools/tasks/task-store.js';
import type { AnyTool, ToolContext } from '../../tools/tool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { RestMove } from '../runtime/run.js';
import type { AgentRuntime } from '../runtime/runtime.js';
import { mailIn } from './mail.js';
import { LEAD, type TeamMember, type TeamRole, teamNameOf } from './records.js';
import { exclusiveTasks } from './tasks.js';
import { openTeamClient, type TeamClient } from './team-client.js';

/** What a teammate is to be. */
export interface TeammateWish {
  readonly definition: AgentDefinition;
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  /** The call says that it must plan first. */
  readonly planRequired: boolean;
  readonly context: ToolContext;
}

/** A teammate that has been started. */
export interface Started {
  readonly member: TeamMember;
  readonly outputFile?: string;
}

/** What a team asks of the session. */
export interface TeamSession {
  runtime(): AgentRuntime;
  /** Of the main agent, now. */
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  model(): string;
  tool(name: string): AnyTool | undefined;
  /** A skill that holds the main agent, and those that it starts, back from something now. */
  heldBySkill(): string | undefined;
  /** Says something to the main agent. */
  tellMain(message: InputMessage): void;
}

/** What being in a team, on either side, does to a session. */
export interface TeamSide {
  /** The session is joined, and nothing has been said yet. Throws where it must not begin. */
  begin(): Promise<void>;
  /** The main agent has nothing more to do. Undefined: it leaves, as without a team. */
  rest?(scene: Scene, lastText: string): Promise<RestMove>;
  /** Makes a teammate of what a call asks for. */
  start?(wish: TeammateWish): Promise<Result<Started, string>>;
  /** Its questions are put to the lead as well. */
  readonly asks?: { readonly name: string; readonly path: string };
  /** The session is to end now. */
  isOver?(): boolean;
  /** Ends a teammate that has a process of its own. Undefined: there is none of that name. */
  stop?(idOrName: string): { readonly id: string; readonly description: string } | undefined;
  close(): Promise<void>;
}

export interface TeamParts {
  readonly log: Log;
  readonly hooks: OpenHooks;
  readonly session: TeamSession;
}

/** What both sides of a team are made of. */
export class TeamBase {
  readonly config: SessionConfig;
  readonly environment: SessionEnvironment;
  readonly hooks: OpenHooks;
  readonly session: TeamSession;
  readonly sessionId: string;
  readonly tasks: TaskStore;
  readonly team: string;
  readonly self: string;
  /** The way to the team on the disk; undefined: there is none yet. */
  client: TeamClient | undefined;
  readonly #log: Log;

  constructor(
    config: SessionConfig,
    environment: SessionEnvironment,
    { log, hooks, role, session }: TeamParts & { readonly role: TeamRole },
  ) {
    const { fs, configDir } = environment;
    this.config = config;
    this.environment = environment;
    this.hooks = hooks;
    this.session = session;
    this.sessionId = log.history.sessionId;
    this.team = role.kind === 'lead' ? teamNameOf(this.sessionId) : role.identity.team;
    this.self = role.kind === 'lead' ? LEAD : role.identity.name;
    const directory = join(configDir, 'tasks');
    this.tasks = createTaskStore({ fs, directory, exclusive: exclusiveTasks });
    this.#log = log;
  }

  readonly warn = (text: string): void => this.hooks.tell(text);

  open(): Result<TeamClient, string> {
    if (this.client !== undefined) return ok(this.client);
    const { team, self, warn } = this;
    const { clock, configDir } = this.environment;
    const directory = join(configDir, 'teams');
    const opened = openTeamClient({
      directory,
      team,
      self,
      warn,
      uuid: clock.uuid,
      now: clock.now,
    });
    if (opened.ok) this.client = opened.value;
    return opened;
  }

  /** Ids of the messages that stand in the transcript of the main agent. */
  async had(): Promise<ReadonlySet<string>> {
    const read = await this.#log.store.read(this.sessionId);
    return new Set(mailIn(JSON.stringify(read?.entries ?? [])));
  }
}
