import { messageOf } from '../errors.js';
import { copyOptions } from './copy.js';
import { InProcessSession } from './in-process-session.js';
import { createQueryInbox } from './inbox.js';
import type {
  Options,
  Query,
  QueryParams,
  SDKControlInitializeResponse,
  SDKUserMessage,
  SlashCommand,
  WarmQuery,
} from './types/index.js';

/**
 * Runs a prompt, or a stream of prompts, in a session of its own in this process. The session starts at
 * once; its messages are read by iterating.
 */
export function query({ prompt, options = {} }: QueryParams): Query {
  const { query: running, begin } = openQuery(options);
  begin(prompt);
  return running;
}

/** Opens a session that waits for its prompt. */
export async function startup({ options = {} }: { options?: Options } = {}): Promise<WarmQuery> {
  const { query: running, session, begin } = openQuery(options);
  await session.initialized();
  return {
    query(prompt) {
      begin(prompt);
      return running;
    },
    close: () => void session.stop(),
    [Symbol.asyncDispose]: () => session.stop(),
  };
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

/** A query that waits for its prompt. */
export interface OpenQuery {
  readonly query: Query;
  readonly session: InProcessSession;
  begin(prompt: QueryParams['prompt']): void;
}

export function openQuery(options: Options): OpenQuery {
  const own = copyOptions(options);
  const session = new InProcessSession(own);
  const inbox = createQueryInbox(own);
  let commands: SlashCommand[] | undefined;
  let isOver = false;
  session.onRead = (message) => {
    if (message.type !== 'system') return;
    if (message.subtype === 'commands_changed') ({ commands } = message);
    if (message.subtype === 'inbox') inbox.hear(message);
  };
  const push = (message: SDKUserMessage): void =>
    session.prompt(own.verbatimPrompts === true ? { ...message, client_composed: true } : message);
  const initializationResult = async (): Promise<SDKControlInitializeResponse> =>
    (await session.initialized()) as unknown as SDKControlInitializeResponse;
  const stop = async (): Promise<void> => {
    isOver = true;
    await session.stop();
  };
  const query: Query = {
    ...createRequests(session),
    inbox,
    async next() {
      return isOver ? { done: true, value: undefined } : await session.next();
    },
    async return() {
      await stop();
      return { done: true, value: undefined };
    },
    async throw(error) {
      await stop();
      throw error;
    },
    close: () => void stop(),
    [Symbol.asyncIterator]: () => query,
    [Symbol.asyncDispose]: stop,
    initializationResult,
    reinitialize: async () =>
      (await session.reinitialize()) as unknown as SDKControlInitializeResponse,
    supportedCommands: async () => commands ?? (await initializationResult()).commands,
    supportedModels: async () => (await initializationResult()).models,
    supportedAgents: async () => (await initializationResult()).agents,
    accountInfo: async () => (await initializationResult()).account,
    async streamInput(stream) {
      for await (const message of stream) push(message);
    },
    policy: () => session.policy(),
    sessionId: async () => (await session.opened()).id,
  };
  return {
    query,
    session,
    begin(prompt) {
      const sending =
        typeof prompt === 'string' ? push(textPrompt(prompt)) : query.streamInput(prompt);
      Promise.resolve(sending).then(
        () => session.endInput(),
        (thrown: unknown) =>
          void session.fail(thrown instanceof Error ? thrown : new Error(messageOf(thrown))),
      );
    },
  };
}

/** Methods that are one control request. */
type RequestMethod =
  | 'interrupt'
  | 'setPermissionMode'
  | 'setMcpPermissionModeOverride'
  | 'setModel'
  | 'setMaxThinkingTokens'
  | 'applyFlagSettings'
  | 'updateSettings'
  | 'mcpServerStatus'
  | 'getContextUsage'
  | 'usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET'
  | 'readFile'
  | 'reloadPlugins'
  | 'reloadSkills'
  | 'reloadOutputStyles'
  | 'rewindFiles'
  | 'seedReadState'
  | 'reconnectMcpServer'
  | 'toggleMcpServer'
  | 'readMcpResource'
  | 'setMcpServers'
  | 'stopTask'
  | 'backgroundTasks';

/** The name of a request, its fields, and what of the answer the caller gets; absent: all of it. */
type Request<Method extends RequestMethod> = readonly [
  subtype: string,
  fields?: (...args: Parameters<Query[Method]>) => object | undefined,
  result?: (answer: Readonly<Record<string, unknown>>) => unknown,
];

const nothing = (): void => undefined;

function requestsOf(session: InProcessSession): { [M in RequestMethod]: Request<M> } {
  return {
    interrupt: ['interrupt'],
    setPermissionMode: ['set_permission_mode', (mode) => ({ mode }), nothing],
    setMcpPermissionModeOverride: [
      'set_mcp_permission_mode_override',
      (serverName, mode) => ({ serverName, mode }),
    ],
    setModel: ['set_model', (model) => ({ model }), nothing],
    setMaxThinkingTokens: [
      'set_max_thinking_tokens',
      (tokens, display) => ({ max_thinking_tokens: tokens, thinking_display: display }),
      nothing,
    ],
    applyFlagSettings: ['apply_flag_settings', (settings) => ({ settings }), nothing],
    updateSettings: ['update_settings', (source, settings) => ({ source, settings }), nothing],
    mcpServerStatus: ['mcp_status', undefined, ({ mcpServers }) => mcpServers],
    getContextUsage: ['get_context_usage', (options) => options],
    usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET: ['get_usage', (options) => options],
    readFile: [
      'read_file',
      (path, { maxBytes, encoding } = {}) => ({ path, max_bytes: maxBytes, encoding }),
    ],
    reloadPlugins: ['reload_plugins', (options) => options],
    reloadSkills: ['reload_skills'],
    reloadOutputStyles: ['reload_output_styles'],
    rewindFiles: [
      'rewind_files',
      (id, { dryRun } = {}) => ({ user_message_id: id, dry_run: dryRun }),
    ],
    seedReadState: ['seed_read_state', (path, mtime) => ({ path, mtime }), nothing],
    reconnectMcpServer: ['mcp_reconnect', (serverName) => ({ serverName }), nothing],
    toggleMcpServer: ['mcp_toggle', (serverName, enabled) => ({ serverName, enabled }), nothing],
    readMcpResource: ['mcp_read_resource', (serverName, uri) => ({ serverName, uri })],
    setMcpServers: [
      'mcp_set_servers',
      (servers) => ({ servers: session.servers.entriesOf(servers) }),
    ],
    stopTask: ['stop_task', (id) => ({ task_id: id }), nothing],
    backgroundTasks: [
      'background_tasks',
      (id) => ({ tool_use_id: id }),
      ({ backgrounded }) => backgrounded === true,
    ],
  };
}

function createRequests(session: InProcessSession): Pick<Query, RequestMethod> {
  const methods = Object.entries(requestsOf(session)).map(([name, request]) => {
    const [subtype, fields, result] = request as Request<RequestMethod>;
    const call = async (...args: unknown[]): Promise<unknown> => {
      const given = fields?.(...(args as Parameters<NonNullable<typeof fields>>));
      // Before the session is open there would be no server.
      if (name === 'mcpServerStatus') await session.opened();
      const answer = await session.request({ subtype, ...given });
      return result === undefined ? answer : result(answer);
    };
    return [name, call];
  });
  return Object.fromEntries(methods) as Pick<Query, RequestMethod>;
}
