import type { SessionOptions } from '../../build/generated/session-options.js';
import type { AgentDefinition } from '../agents/definitions/definition.js';
import type { TeamRole } from '../agents/teams/records.js';
import type { AskIncludes } from '../context/instructions/include-approvals.js';
import type { OutputStyle } from '../context/prompt/output-styles.js';
import type { HostCallbacks } from '../hooks/registry/host-callbacks.js';
import type { JournalFiles } from '../journal/journal.js';
import type { LoopEvent } from '../loop/types.js';
import type { DynamicServers } from '../mcp/config/types.js';
import type { SdkBridge } from '../mcp/connection/deps.js';
import type { Asker } from '../permissions/gate/types.js';
import type { GivenPlugin } from '../plugins/plugin.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { AskElicitation } from '../protocol/elicitation.js';
import type { PermissionMode } from '../protocol/permissions.js';
import type { SessionNews } from '../protocol/session-events.js';
import type { SessionStart } from '../session/open.js';
import type { SessionStore } from '../session/transcript/store.js';
import type { ProjectTrust } from '../settings/trust/project-trust.js';
import type { StartingCall } from '../tools/invocation.js';

/** Callbacks of a worker that drives a session which can continue on another worker. */
export interface SessionDrive {
  /**
   * Awaited right before an allowed call runs; a rejection keeps it from running. Resolves to a key
   * that identifies the call if it runs again.
   */
  beforeCall(call: DrivenCall): Promise<string | undefined>;
  /** Awaited before each request to a model. */
  beforeRequest(model: string): Promise<void>;
  /** Whether a call that the previous worker left without a result runs again; otherwise its outcome is unknown. */
  runsAgain(call: ToolUseBlock): boolean;
  /** Stores receipts in place of a file. */
  readonly journalFiles: JournalFiles;
}

export interface DrivenCall extends Pick<StartingCall, 'call' | 'tool' | 'input'> {
  readonly agent: AgentRef;
  /** The gate judges that it changes nothing. */
  readonly readsOnly: boolean;
}

/** Options that have a field of another name or type below. */
type OtherOption =
  | 'fallbackModel'
  | 'additionalDirectories'
  | 'permissionMode'
  | 'dangerouslySkipPermissions'
  | 'allowDangerouslySkipPermissions'
  | 'permissionPromptToolName'
  | 'mcpServers'
  | 'plugins'
  | 'agents'
  | 'sessionId'
  | 'continue'
  | 'resume'
  | 'forkSession'
  | 'resumeSessionAt'
  | 'resumeDropsTurn'
  | 'persistSession'
  | 'trustProject';

/** Options in the form in which callers give them; `session-options.schema.ts` documents them. */
type SameOptions = {
  readonly [Name in Exclude<keyof SessionOptions, OtherOption>]?: Lists<SessionOptions[Name]>;
};

type Lists<V> = V extends readonly (infer Item)[] ? readonly Item[] : V;

/** Everything that configures a session; an absent field means its default. */
export interface SessionConfig extends SameOptions {
  /** The agent's working directory, absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program that opened the session, as recorded in the transcript. */
  readonly entrypoint: string;
  readonly fallbackModels?: readonly string[];
  /** Ignores allow rules and other grants of settings files, but not their restrictions. */
  readonly ignoreFileGrants?: boolean;
  /** The output style, as the setting `outputStyle` names it. */
  readonly outputStyle?: OutputStyle | undefined;
  readonly addDirs?: readonly string[];
  readonly permissionMode?: PermissionMode | undefined;
  /** Whether the mode bypassPermissions may be chosen later. */
  readonly bypassArmed?: boolean;
  /** MCP servers of this session, as `--mcp-config` takes them: names of files, JSON text, or a host's table. */
  readonly mcpConfig?: readonly DynamicServers[];
  /** Plugins of this session: directories with skills, commands, agents, hooks and MCP servers. */
  readonly plugins?: readonly GivenPlugin[];
  /** Connects to servers that run in the host's process, by name. */
  readonly mcpBridge?: ((server: string) => SdkBridge | undefined) | undefined;
  /** False: servers are not started, and only remembered facts about them are shown. */
  readonly startServers?: boolean;
  /**
   * Servers that start for the first time are not awaited, or only for so many milliseconds; tools of
   * slower ones join later.
   */
  readonly serversMayComeLater?: boolean | number;
  /** Answers elicitations of servers. Absent: they are declined. */
  readonly elicit?: AskElicitation | undefined;
  /** Agent types by name, as `--agents` and a host's `initialize` give them, or the same as JSON text. */
  readonly agents?: string | Readonly<Record<string, unknown>> | undefined;
  /** The resolved definition of the main agent. */
  readonly runsAs?: AgentDefinition | undefined;
  /** The session's role in a team. Absent: no team, as in sessions without a person. */
  readonly team?: TeamRole | undefined;
  readonly start: SessionStart;
  /** The session replaces one that was cleared. */
  readonly startedBy?: 'clear' | undefined;
  readonly fork: boolean;
  /** False: no transcript is written. */
  readonly persist: boolean;
  /** Whether file changes are recorded for rewind, unless a setting forbids it. Absent: they are. */
  readonly fileCheckpoints?: boolean | undefined;
  /** Sends every line of the transcript to the host, which keeps a copy. */
  readonly mirror?: boolean;
  /** Stores the transcript in place of files. */
  readonly store?: SessionStore | undefined;
  /** Set when one of several workers drives the session and another may take over. */
  readonly drive?: SessionDrive | undefined;
  /** The project's own settings may grant and execute, for this session. */
  readonly trust: boolean;
  /** Runs Setup hooks first, with this reason. */
  readonly setup?: 'init' | 'maintenance' | undefined;
  /** A run may end with a call that a hook deferred. */
  readonly mayDefer?: boolean;
  /** The end of a run waits, for a bounded time, for background work and reports its results to the agent. */
  readonly waitForBackground?: boolean;
  /** Trust that the host has already asked a person about; replaces looking it up. */
  readonly projectTrust?: ProjectTrust | undefined;
  /** Full name of an MCP tool that decides calls no rule decides; excludes `asker`. */
  readonly promptTool?: string | undefined;
  /** Decides calls that no rule decides. Absent: they are refused. */
  readonly asker?: Asker;
  /** Asks whether instructions may include files from outside the project. Absent: they are not read. */
  readonly askIncludes?: AskIncludes | undefined;
  /** Asks a person about a model change that a hook questions. Absent: the change is refused. */
  readonly confirmModelSwitch?: ((question: string) => Promise<boolean>) | undefined;
  /** The host's own guards, called for every call before the rules. */
  readonly callbacks?: HostCallbacks;
  emit(event: LoopEvent | SessionNews): void;
  /**
   * Backpressure: resolves when the client can take more events, and the model's stream is read no
   * faster. Undefined: the client keeps up.
   */
  ready?(): Promise<void> | undefined;
}
