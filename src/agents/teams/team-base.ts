import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import type { Result } from '../../lib/result.js';
import type { InputMessage } from '../../loop/types.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { TaskStore } from '../../tools/tasks/task-store.js';
import type { AnyTool } from '../../tools/tool.js';
import type { RestMove } from '../runtime/run.js';
import type { AgentRuntime } from '../runtime/runtime.js';
import type { TeamClient } from './team-client.js';
import type { RestParts } from './teammate.js';
import type { Started, TeammateWish } from './teammate-start.js';

/** Makes a teammate of what a call asks for. */
export type StartsTeammates = (wish: TeammateWish) => Promise<Result<Started, string>>;

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

/** What both sides of a team are made of. */
export interface TeamBase {
  readonly config: SessionConfig;
  readonly environment: SessionEnvironment;
  readonly sessionId: string;
  readonly tasks: TaskStore;
  readonly team: string;
  readonly self: string;
  /** Undefined: there is no team yet. */
  desk(): TeamClient | undefined;
  /** The team on the disk, and the way to it; kept from then on. */
  openDesk(): Result<TeamClient, string>;
  readonly rest: Omit<RestParts, 'desk'>;
  /** Ids of the messages that stand in the transcript of the main agent. */
  had(): Promise<ReadonlySet<string>>;
  readonly session: TeamSession;
  warn(text: string): void;
}

/** What being in a team, on either side, does to a session. */
export interface TeamSide {
  /** The session is joined, and nothing has been said yet. Throws where it must not begin. */
  begin(): Promise<void>;
  /** The main agent has nothing more to do. Undefined: it leaves, as without a team. */
  rest?(scene: Scene, lastText: string): Promise<RestMove>;
  readonly start?: StartsTeammates;
  /** Its questions are put to the lead as well. */
  readonly asks?: { readonly name: string; readonly path: string };
  /** The session is to end now. */
  isOver?(): boolean;
  /** Ends a teammate that has a process of its own. Undefined: there is none of that name. */
  stop?(idOrName: string): { readonly id: string; readonly description: string } | undefined;
  close(): Promise<void>;
}
