import { messageOf } from '../errors.js';
import { copyOptions } from './copy-options.js';
import { createQueryInbox, type HeardInbox } from './inbox.js';
import { type LiveSession, openLiveSession } from './live-session.js';
import type {
  AccountInfo,
  AgentInfo,
  McpServerConfig,
  McpServerStatus,
  McpSetServersResult,
  ModelInfo,
  Options,
  PermissionMode,
  PolicyReport,
  Query,
  QueryParams,
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
  SlashCommand,
  WarmQuery,
} from './types/index.js';

/**
 * Runs a prompt, or a stream of prompts, in a session of its own in this process. The session starts at
 * once; its messages are read by iterating.
 */
export function query({ prompt, options = {} }: QueryParams): Query {
  const own = copyOptions(options);
  const running = new RunningQuery(openLiveSession(own), own);
  running.begin(prompt);
  return running;
}

/** Opens a session that waits for its prompt. */
export async function startup({ options = {} }: { options?: Options } = {}): Promise<WarmQuery> {
  const own = copyOptions(options);
  const session = openLiveSession(own);
  await session.initialized();
  return {
    query(prompt) {
      const running = new RunningQuery(session, own);
      running.begin(prompt);
      return running;
    },
    close: () => void session.stop(),
    [Symbol.asyncDispose]: () => session.stop(),
  };
}

/** A query without a prompt yet, for clients that send theirs one by one. */
export function openQuery(options: Options): { query: Query; session: LiveSession } {
  const own = copyOptions(options);
  const session = openLiveSession(own);
  return { query: new RunningQuery(session, own), session };
}

/** A prompt as the runtime takes it. */
export function textPrompt(text: string): SDKUserMessage {
  return {
    type: 'user',
    session_id: '',
    message: { role: 'user', content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
  };
}

class RunningQuery implements Query {
  readonly inbox: HeardInbox;
  readonly #session: LiveSession;
  readonly #verbatim: boolean;
  #commands: SlashCommand[] | undefined;
  #over = false;

  constructor(session: LiveSession, options: Options) {
    this.#session = session;
    this.#verbatim = options.verbatimPrompts === true;
    this.inbox = createQueryInbox(options);
    session.onRead = (message) => this.#note(message);
  }

  begin(prompt: QueryParams['prompt']): void {
    if (typeof prompt === 'string') {
      this.#push(textPrompt(prompt));
      this.#session.endInput();
      return;
    }
    this.streamInput(prompt).then(
      () => this.#session.endInput(),
      (thrown: unknown) => {
        const error = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
        void this.#session.abandon(error);
      },
    );
  }

  next(): Promise<IteratorResult<SDKMessage, void>> {
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    return this.#session.next();
  }

  async return(): Promise<IteratorResult<SDKMessage, void>> {
    this.#over = true;
    await this.#session.stop();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<SDKMessage, void>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  close(): void {
    this.#over = true;
    void this.#session.stop();
  }

  async interrupt(): Promise<SDKControlInterruptResponse | undefined> {
    return (await this.#ask('interrupt')) as SDKControlInterruptResponse;
  }

  async setPermissionMode(mode: PermissionMode): Promise<void> {
    await this.#ask('set_permission_mode', { mode });
  }

  async setMcpPermissionModeOverride(
    serverName: string,
    mode: 'default' | 'auto' | null,
  ): Promise<{ warning?: string }> {
    return await this.#ask('set_mcp_permission_mode_override', { serverName, mode });
  }

  async setModel(model?: string): Promise<void> {
    await this.#ask('set_model', model === undefined ? {} : { model });
  }

  async setMaxThinkingTokens(
    maxThinkingTokens: number | null,
    thinkingDisplay?: 'summarized' | 'omitted' | 'highlights' | null,
  ): Promise<void> {
    await this.#ask('set_max_thinking_tokens', {
      max_thinking_tokens: maxThinkingTokens,
      ...(thinkingDisplay === undefined ? {} : { thinking_display: thinkingDisplay }),
    });
  }

  async applyFlagSettings(settings: object): Promise<void> {
    await this.#ask('apply_flag_settings', { settings });
  }

  async updateSettings(
    source: 'localSettings' | 'userSettings',
    settings: Record<string, unknown>,
  ): Promise<void> {
    await this.#ask('update_settings', { source, settings });
  }

  async initializationResult(): Promise<SDKControlInitializeResponse> {
    return (await this.#session.initialized()) as unknown as SDKControlInitializeResponse;
  }

  async reinitialize(): Promise<SDKControlInitializeResponse> {
    return (await this.#session.reinitialize()) as unknown as SDKControlInitializeResponse;
  }

  async supportedCommands(): Promise<SlashCommand[]> {
    return this.#commands ?? (await this.initializationResult()).commands;
  }

  async supportedModels(): Promise<ModelInfo[]> {
    return (await this.initializationResult()).models;
  }

  async supportedAgents(): Promise<AgentInfo[]> {
    return (await this.initializationResult()).agents;
  }

  async accountInfo(): Promise<AccountInfo> {
    return (await this.initializationResult()).account;
  }

  async mcpServerStatus(): Promise<McpServerStatus[]> {
    // Before the session is open there would be none.
    await this.#session.opened();
    return (await this.#ask('mcp_status')).mcpServers as McpServerStatus[];
  }

  async getContextUsage(
    opts: { detail?: 'summary' | 'full' } = {},
  ): Promise<SDKControlGetContextUsageResponse> {
    return (await this.#ask(
      'get_context_usage',
      opts,
    )) as unknown as SDKControlGetContextUsageResponse;
  }

  async usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(
    opts: { skipBehaviors?: boolean } = {},
  ): Promise<Record<string, unknown>> {
    return await this.#ask('get_usage', opts);
  }

  async readFile(
    path: string,
    options: { maxBytes?: number; encoding?: 'utf-8' | 'base64' } = {},
  ): Promise<SDKControlReadFileResponse | null> {
    const { maxBytes, encoding } = options;
    return (await this.#ask('read_file', {
      path,
      ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }),
      ...(encoding === undefined ? {} : { encoding }),
    })) as unknown as SDKControlReadFileResponse;
  }

  async reloadPlugins(
    options: Record<string, unknown> = {},
  ): Promise<SDKControlReloadPluginsResponse> {
    return (await this.#ask(
      'reload_plugins',
      options,
    )) as unknown as SDKControlReloadPluginsResponse;
  }

  async reloadSkills(): Promise<SDKControlReloadSkillsResponse> {
    return (await this.#ask('reload_skills')) as unknown as SDKControlReloadSkillsResponse;
  }

  async reloadOutputStyles(): Promise<{ available_output_styles: string[] }> {
    return (await this.#ask('reload_output_styles')) as { available_output_styles: string[] };
  }

  async rewindFiles(
    userMessageId: string,
    options: { dryRun?: boolean } = {},
  ): Promise<RewindFilesResult> {
    return (await this.#ask('rewind_files', {
      user_message_id: userMessageId,
      ...(options.dryRun === undefined ? {} : { dry_run: options.dryRun }),
    })) as unknown as RewindFilesResult;
  }

  async seedReadState(path: string, mtime: number): Promise<void> {
    await this.#ask('seed_read_state', { path, mtime });
  }

  async reconnectMcpServer(serverName: string): Promise<void> {
    await this.#ask('mcp_reconnect', { serverName });
  }

  async toggleMcpServer(serverName: string, enabled: boolean): Promise<void> {
    await this.#ask('mcp_toggle', { serverName, enabled });
  }

  async readMcpResource(
    serverName: string,
    uri: string,
  ): Promise<SDKControlMcpReadResourceResponse> {
    return (await this.#ask('mcp_read_resource', {
      serverName,
      uri,
    })) as unknown as SDKControlMcpReadResourceResponse;
  }

  async setMcpServers(servers: Record<string, McpServerConfig>): Promise<McpSetServersResult> {
    const { names, configs, others } = this.#session.servers.adopt(servers);
    const own = names.map((name) => [name, { ...configs[name], type: 'sdk', name }]);
    return (await this.#ask('mcp_set_servers', {
      servers: { ...others, ...Object.fromEntries(own) },
    })) as unknown as McpSetServersResult;
  }

  async streamInput(stream: AsyncIterable<SDKUserMessage>): Promise<void> {
    for await (const message of stream) this.#push(message);
  }

  async stopTask(taskId: string): Promise<void> {
    await this.#ask('stop_task', { task_id: taskId });
  }

  async backgroundTasks(toolUseId?: string): Promise<boolean> {
    const answer = await this.#ask(
      'background_tasks',
      toolUseId === undefined ? {} : { tool_use_id: toolUseId },
    );
    return answer.backgrounded === true;
  }

  policy(): Promise<PolicyReport> {
    return this.#session.policy();
  }

  async sessionId(): Promise<string> {
    return (await this.#session.opened()).id;
  }

  #push(message: SDKUserMessage): void {
    this.#session.prompt(this.#verbatim ? { ...message, client_composed: true } : message);
  }

  async #ask(subtype: string, fields: object = {}): Promise<Record<string, unknown>> {
    return await this.#session.host.request({ subtype, ...fields });
  }

  #note(message: SDKMessage): void {
    if (message.type !== 'system') return;
    if (message.subtype === 'commands_changed' && Array.isArray(message.commands)) {
      this.#commands = message.commands;
    }
    if (message.subtype === 'inbox') this.inbox.hear(message);
  }
}
