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

/** A request to start a teammate. */
export interface TeammateRequest {
  readonly definition: AgentDefinition;
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  /** The call requires a plan first. */
  readonly planRequired: boolean;
  readonly context: ToolContext;
}

export interface Started {
  readonly member: TeamMember;
  readonly outputFile?: string;
}

/** What a team needs from the session. */
export interface TeamSession {
  runtime(): AgentRuntime;
  /** The main agent's current mode. */
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  model(): string;
  tool(name: string): AnyTool | undefined;
  /** A skill that currently restricts the main agent and the agents it starts. */
  heldBySkill(): string | undefined;
  tellMain(message: InputMessage): void;
}

/** What a team adds to a session, as lead or member. */
export interface TeamSide {
  /** Called once before the first prompt; throws when the session must not start. */
  begin(): Promise<void>;
  /** Called when the main agent has nothing to do; undefined ends the run as without a team. */
  rest?(scene: Scene, lastText: string): Promise<RestMove>;
  start?(wish: TeammateRequest): Promise<Result<Started, string>>;
  /** Set for a member, whose questions also go to the lead. */
  readonly asks?: { readonly name: string; readonly path: string };
  /** Whether the session has to end now. */
  isOver?(): boolean;
  /** Stops a teammate with its own process; undefined for an unknown name. */
  stop?(idOrName: string): { readonly id: string; readonly description: string } | undefined;
  close(): Promise<void>;
}

export interface TeamParts {
  readonly log: Log;
  readonly hooks: OpenHooks;
  readonly session: TeamSession;
}

/** Parts shared by both sides of a team. */
export class TeamBase {
  readonly config: SessionConfig;
  readonly environment: SessionEnvironment;
  readonly hooks: OpenHooks;
  readonly session: TeamSession;
  readonly sessionId: string;
  readonly tasks: TaskStore;
  readonly team: string;
  readonly self: string;
  /** Access to the team on disk; undefined before it is created. */
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

  /** Ids of the messages in the main agent's transcript. */
  async had(): Promise<ReadonlySet<string>> {
    const read = await this.#log.store.read(this.sessionId);
    return new Set(mailIn(JSON.stringify(read?.entries ?? [])));
  }
}
