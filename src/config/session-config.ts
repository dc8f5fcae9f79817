import type { SessionOptions } from '../../build/generated/session-options.js';
import type { AgentDefinition } from '../agents/definitions/definition.js';
import type { TeamRole } from '../agents/teams/records.js';
import type { AskIncludes } from '../context/instructions/include-approvals.js';
import type { OutputStyle } from '../context/prompt/output-styles.js';
import type { HostCallbacks } from '../hooks/registry/host-callbacks.js';
import type { JournalParts } from '../journal/journal.js';
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

/** What a worker adds to a session that outlives it. */
export interface SessionDrive {
  /**
   * Awaited right before a call runs, after it was allowed; a rejection keeps it from running. Resolves to the key by
   * which a second run of the same call is known.
   */
  beforeCall(call: DrivenCall): Promise<string | undefined>;
  /** Awaited before each request to a model. */
  beforeRequest(model: string): Promise<void>;
  /** Whether a call runs again that the worker before left without a result; otherwise its outcome is unknown. */
  runsAgain(call: ToolUseBlock): boolean;
  /** Where receipts are kept, in the place of a file. */
  readonly journalFiles: JournalParts['files'];
}

export interface DrivenCall extends Pick<StartingCall, 'call' | 'tool' | 'input'> {
  readonly agent: AgentRef;
  /** The gate judges that it changes nothing. */
  readonly readsOnly: boolean;
}

/** Options that the fields below stand for. */
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

/** Options as callers give them; `session-options.schema.ts` says what they mean. */
type SameOptions = {
  readonly [Name in Exclude<keyof SessionOptions, OtherOption>]?: Lists<SessionOptions[Name]>;
};

type Lists<V> = V extends readonly (infer Item)[] ? readonly Item[] : V;

/** Everything that shapes a session. Absent means: the default. */
export interface SessionConfig extends SameOptions {
  /** Where the agent works. Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Recorded in the transcript: which program opened the session. */
  readonly entrypoint: string;
  readonly fallbackModels?: readonly string[];
  /** Allow rules and other grants of settings files do not count; what they hold back does. */
  readonly ignoreFileGrants?: boolean;
  /** How the model is to answer, as the setting `outputStyle` names it. */
  readonly outputStyle?: OutputStyle | undefined;
  readonly addDirs?: readonly string[];
  readonly permissionMode?: PermissionMode | undefined;
  /** Whether bypassPermissions may be chosen later. */
  readonly bypassArmed?: boolean;
  /** MCP servers of this session, as `--mcp-config` takes them: names of files, JSON text, or a host's table. */
  readonly mcpConfig?: readonly DynamicServers[];
  /** Plugins of this session: directories with skills, commands, agents, hooks and MCP servers. */
  readonly plugins?: readonly GivenPlugin[];
  /** The way to servers that live in the host's process, by their names. */
  readonly mcpBridge?: ((server: string) => SdkBridge | undefined) | undefined;
  /** False: only what is remembered of servers is told, and none is started. */
  readonly startServers?: boolean;
  /**
   * Servers that are started for the first time are not waited for, or only for so many milliseconds;
   * the tools of those that take longer join later.
   */
  readonly serversMayComeLater?: boolean | number;
  /** Answers what servers ask people. Absent: nobody does, and they are told so. */
  readonly elicit?: AskElicitation | undefined;
  /** Kinds of agents by their names, as `--agents` and a host's `initialize` give them, or the same as JSON text. */
  readonly agents?: string | Readonly<Record<string, unknown>> | undefined;
  /** The same, once it has been found. */
  readonly runsAs?: AgentDefinition | undefined;
  /** What the session is to a team. Absent: there is none, as where no person converses. */
  readonly team?: TeamRole | undefined;
  readonly start: SessionStart;
  /** It takes the place of one that was cleared. */
  readonly startedBy?: 'clear' | undefined;
  readonly fork: boolean;
  /** False: no transcript is written. */
  readonly persist: boolean;
  /** Whether changes of files are journalled for rewind, where no setting forbids it. Absent: they are. */
  readonly fileCheckpoints?: boolean | undefined;
  /** The host keeps a copy of the transcript: every line is told to it. */
  readonly mirror?: boolean;
  /** Where the transcript goes, in the place of files. */
  readonly store?: SessionStore | undefined;
  /** Set where one of several workers drives the session, which others may take over. */
  readonly drive?: SessionDrive | undefined;
  /** The project's own settings may grant and execute, for this session. */
  readonly trust: boolean;
  /** Setup hooks run first, and why. */
  readonly setup?: 'init' | 'maintenance' | undefined;
  /** A run may end with a call that a hook put off. */
  readonly mayDefer?: boolean;
  /** The end of a run waits, for a bounded time, for background work and tells the agent of it. */
  readonly waitForBackground?: boolean;
  /** Trust that the host has already asked a person about; takes the place of looking it up. */
  readonly projectTrust?: ProjectTrust | undefined;
  /** Full name of an MCP tool that answers what no rule decides; then there is no `asker`. */
  readonly promptTool?: string | undefined;
  /** Answers what no rule decides. Absent: nobody does, which means no. */
  readonly asker?: Asker;
  /** Answers for files from outside the project that its instructions name. Absent: they are not read. */
  readonly askIncludes?: AskIncludes | undefined;
  /** Puts a hook's question about a change of the model to a person. Absent: such a change is refused. */
  readonly confirmModelSwitch?: ((question: string) => Promise<boolean>) | undefined;
  /** The host's own guards: asked about every call before the rules are. */
  readonly callbacks?: HostCallbacks;
  emit(event: LoopEvent | SessionNews): void;
  /**
   * Undefined: whoever is told keeps up. Otherwise resolves when more may be told; what a model says
   * is read no faster than that.
   */
  ready?(): Promise<void> | undefined;
}
