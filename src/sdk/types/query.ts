import type {
  AccountInfo,
  AgentInfo,
  McpServerStatus,
  McpSetServersResult,
  ModelInfo,
  PermissionMode,
  PolicyReport,
  RewindFilesResult,
  SDKControlGetContextUsageResponse,
  SDKControlInitializeResponse,
  SDKControlInterruptResponse,
  SDKControlMcpReadResourceResponse,
  SDKControlReadFileResponse,
  SDKControlReloadPluginsResponse,
  SDKControlReloadSkillsResponse,
  SDKMessage,
  SDKUserMessage,
  Settings,
  SlashCommand,
} from '../../../build/generated/sdk-types.js';
import type { McpServerConfig } from './mcp.js';
import type { Options } from './options.js';

/** A question of a background agent that waits for an answer. */
export interface PendingQuestion {
  id: string;
  agent: { id: string; path: string; type: string };
  toolUseId: string;
  tool: string;
  summary: string;
  reason: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** The questions of this session's background agents. The first answer counts. */
export interface QueryInbox {
  list(): PendingQuestion[];
  answer(
    id: string,
    answer: { behavior: 'allow' | 'deny'; scope?: 'once' | 'session'; message?: string },
  ): Promise<void>;
}

/** A running session: its messages, and the ways to steer it. */
export interface Query extends AsyncGenerator<SDKMessage, void>, AsyncDisposable {
  /** Ends the running turn; the session goes on. */
  interrupt(): Promise<SDKControlInterruptResponse | undefined>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  setMcpPermissionModeOverride(
    serverName: string,
    mode: 'default' | 'auto' | null,
  ): Promise<{ warning?: string }>;
  /** Undefined: back to the model that the session was opened with. */
  setModel(model?: string): Promise<void>;
  setMaxThinkingTokens(
    maxThinkingTokens: number | null,
    thinkingDisplay?: 'summarized' | 'omitted' | 'highlights' | null,
  ): Promise<void>;
  /** Settings above those of files, merged by top-level key; null takes one away. */
  applyFlagSettings(settings: { [K in keyof Settings]?: Settings[K] | null }): Promise<void>;
  updateSettings(
    source: 'localSettings' | 'userSettings',
    settings: Record<string, unknown>,
  ): Promise<void>;
  initializationResult(): Promise<SDKControlInitializeResponse>;
  reinitialize(): Promise<SDKControlInitializeResponse>;
  supportedCommands(): Promise<SlashCommand[]>;
  supportedModels(): Promise<ModelInfo[]>;
  supportedAgents(): Promise<AgentInfo[]>;
  mcpServerStatus(): Promise<McpServerStatus[]>;
  getContextUsage(opts?: {
    detail?: 'summary' | 'full';
  }): Promise<SDKControlGetContextUsageResponse>;
  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(opts?: {
    skipBehaviors?: boolean;
  }): Promise<Record<string, unknown>>;
  readFile(
    path: string,
    options?: { maxBytes?: number; encoding?: 'utf-8' | 'base64' },
  ): Promise<SDKControlReadFileResponse | null>;
  reloadPlugins(options?: Record<string, unknown>): Promise<SDKControlReloadPluginsResponse>;
  reloadSkills(): Promise<SDKControlReloadSkillsResponse>;
  reloadOutputStyles(): Promise<{ available_output_styles: string[] }>;
  accountInfo(): Promise<AccountInfo>;
  /** Takes files back to how they were when this prompt came. */
  rewindFiles(userMessageId: string, options?: { dryRun?: boolean }): Promise<RewindFilesResult>;
  seedReadState(path: string, mtime: number): Promise<void>;
  reconnectMcpServer(serverName: string): Promise<void>;
  toggleMcpServer(serverName: string, enabled: boolean): Promise<void>;
  readMcpResource(serverName: string, uri: string): Promise<SDKControlMcpReadResourceResponse>;
  /** From now on the program's servers are these. */
  setMcpServers(servers: Record<string, McpServerConfig>): Promise<McpSetServersResult>;
  streamInput(stream: AsyncIterable<SDKUserMessage>): Promise<void>;
  stopTask(taskId: string): Promise<void>;
  backgroundTasks(toolUseId?: string): Promise<boolean>;
  /** Ends the session, whatever it does. */
  close(): void;

  /** Ours: every rule in force, where it was written, and what it keeps from `canUseTool`. */
  policy(): Promise<PolicyReport>;
  /** Ours: what background agents ask. */
  readonly inbox: QueryInbox;
  /** Ours: the id of the session, once it is open. */
  sessionId(): Promise<string>;
}

/** What `query` takes. */
export interface QueryParams {
  prompt: string | AsyncIterable<SDKUserMessage>;
  options?: Options;
}

/** A session that is open already and waits for its prompt. */
export interface WarmQuery extends AsyncDisposable {
  query(prompt: string | AsyncIterable<SDKUserMessage>): Query;
  close(): void;
}
