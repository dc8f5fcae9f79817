import type {
  EffortLevel,
  McpServerConfigForProcessTransport,
  PermissionMode,
  SandboxSettings,
  Settings,
} from '../../../build/generated/sdk-types.js';
import type { HookCallbacks } from './hooks.js';
import type { McpServerConfig, OnElicitation, OnUserDialog } from './mcp.js';
import type { CanUseTool } from './permissions.js';
import type { SessionStore } from './sessions.js';

export type SettingSource = 'user' | 'project' | 'local';
export type SandboxNetworkConfig = NonNullable<SandboxSettings['network']>;
export type SandboxFilesystemConfig = NonNullable<SandboxSettings['filesystem']>;

export type AgentMcpServerSpec = string | Record<string, McpServerConfigForProcessTransport>;

export type AgentDefinition = {
  description: string;
  tools?: string[];
  disallowedTools?: string[];
  prompt: string;
  model?: string;
  mcpServers?: AgentMcpServerSpec[];
  criticalSystemReminder_EXPERIMENTAL?: string;
  skills?: string[];
  initialPrompt?: string;
  maxTurns?: number;
  autoCompactWindow?: number;
  background?: boolean;
  omitClaudeMd?: boolean;
  memory?: 'user' | 'project' | 'local';
  effort?: EffortLevel | number;
  permissionMode?: PermissionMode;
  observer?: string;
  observerMessage?: string;
};

export type ThinkingAdaptive = { type: 'adaptive'; display?: 'summarized' | 'omitted' };
export type ThinkingEnabled = {
  type: 'enabled';
  budgetTokens?: number;
  display?: 'summarized' | 'omitted';
};
export type ThinkingDisabled = { type: 'disabled' };
export type ThinkingConfig = ThinkingAdaptive | ThinkingEnabled | ThinkingDisabled;

export type JsonSchemaOutputFormat = { type: 'json_schema'; schema: Record<string, unknown> };
export type OutputFormat = JsonSchemaOutputFormat;

export type SdkPluginConfig = { type: 'local'; path: string; skipMcpDiscovery?: boolean };
export type SdkBeta = 'context-1m-2025-08-07';
export type ToolConfig = { askUserQuestion?: { previewFormat?: 'markdown' | 'html' } };
export type SessionStoreFlush = 'batched' | 'eager';

/** What a session may use up, everything that its agents use included. Absent: no bound. */
export interface Budget {
  /** Model round-trips. */
  turns?: number;
  /** All tokens, those read from a cache included. */
  tokens?: number;
  /** Dollars; refused where a price is not known. */
  usd?: number;
  seconds?: number;
  /** Agents that may be started in all. */
  fanOut?: number;
}

export type Options = {
  /** Aborting it ends the session; the iteration then throws an `AbortError`. */
  abortController?: AbortController;
  additionalDirectories?: string[];
  projectConfigRoot?: string;
  /** The agent that the main conversation runs as. */
  agent?: string;
  agents?: Record<string, AgentDefinition>;
  /** Allow rules. */
  allowedTools?: string[];
  canUseTool?: CanUseTool;
  continue?: boolean;
  cwd?: string;
  /** Bare names take a tool away; scoped ones are deny rules. */
  disallowedTools?: string[];
  toolAliases?: Record<string, string>;
  tools?: string[] | { type: 'preset'; preset: 'claude_code' };
  /** Takes the place of this process's environment. */
  env?: { [envVar: string]: string | undefined };
  /** Nothing is started, so this is ignored with a warning. */
  executable?: 'bun' | 'deno' | 'node';
  /** Ignored with a warning. */
  executableArgs?: string[];
  extraArgs?: Record<string, string | null>;
  /** Names, separated by commas, tried in order when the model is overloaded. */
  fallbackModel?: string;
  enableFileCheckpointing?: boolean;
  toolConfig?: ToolConfig;
  forkSession?: boolean;
  betas?: SdkBeta[];
  hooks?: HookCallbacks;
  onElicitation?: OnElicitation;
  onUserDialog?: OnUserDialog;
  supportedDialogKinds?: string[];
  perTaskStopAffordance?: boolean;
  /** False: no transcript is written. */
  persistSession?: boolean;
  sessionStore?: SessionStore;
  sessionStoreFlush?: SessionStoreFlush;
  loadTimeoutMs?: number;
  includeHookEvents?: boolean;
  includePartialMessages?: boolean;
  forwardSubagentText?: boolean;
  verbatimPrompts?: boolean;
  thinking?: ThinkingConfig;
  effort?: EffortLevel;
  maxThinkingTokens?: number;
  maxTurns?: number;
  maxBudgetUsd?: number;
  taskBudget?: { total: number };
  mcpServers?: Record<string, McpServerConfig>;
  /** No server is put on a command line either way; `initialize` has `mcp_servers_applied` told. */
  mcpServersDelivery?: 'argv' | 'initialize';
  model?: string;
  outputFormat?: OutputFormat;
  /** Ignored with a warning. */
  pathToClaudeCodeExecutable?: string;
  permissionMode?: PermissionMode;
  planModeInstructions?: string;
  allowDangerouslySkipPermissions?: boolean;
  permissionPromptToolName?: string;
  permissionPrompts?: 'host' | 'none';
  plugins?: SdkPluginConfig[];
  pluginDelivery?: 'argv' | 'initialize';
  promptSuggestions?: boolean;
  agentProgressSummaries?: boolean;
  resume?: string;
  sessionId?: string;
  resumeSessionAt?: string;
  resumeDropsTurn?: string;
  sandbox?: SandboxSettings;
  settings?: string | Settings;
  managedSettings?: Settings;
  /** Which settings files are read. Absent: all. Empty: none but an administrator's. */
  settingSources?: SettingSource[];
  skills?: string[] | 'all';
  debug?: boolean;
  debugFile?: string;
  /** Gets what a program would write to standard error: warnings, with `debug` everything. */
  stderr?: (data: string) => void;
  strictMcpConfig?: boolean;
  systemPrompt?:
    | string
    | string[]
    | { type: 'custom'; prompt: string | string[]; snapshot?: boolean }
    | {
        type: 'preset';
        preset: 'claude_code';
        append?: string;
        excludeDynamicSections?: boolean;
        snapshot?: boolean;
      };
  title?: string;
  /** Nothing is started, so this is ignored with a warning. Methods, so that any starter fits. */
  spawnClaudeCodeProcess?(options: never): unknown;

  /** Ours: a message for every decision about a call, with its whole trace. */
  receipts?: boolean;
  /** Ours: a `policy` message before everything else. */
  policyReport?: boolean;
  /** Ours: allow rules of settings files do not count; what they deny or ask about does. */
  ignoreFileGrants?: boolean;
  /** Ours: the strictest of this and the settings' budget holds. */
  budget?: Budget;
  /** Ours: the project's own settings may grant and execute. */
  trustProject?: boolean;
  /** Ours: a scripted model takes the place of a real one, for tests. The name of its file. */
  script?: string;
};
