import { messageOf, PortcullisError } from '../errors.js';
import { isRecord } from '../util/own.js';
import { createAnswerMemory } from './answer-memory.js';
import type { AgentRegister } from './lineage.js';
import type { HostServers } from './mcp-host.js';
import { plainCopy } from './plain-copy.js';
import type {
  CanUseTool,
  CanUseToolOptions,
  HookCallback,
  HookInput,
  OnElicitation,
  OnUserDialog,
  PermissionUpdate,
} from './types/index.js';

type Message = Readonly<Record<string, unknown>>;

/** What the program gave to be called back. */
export interface HostCallbacks {
  readonly hooks: ReadonlyMap<string, HookCallback>;
  readonly canUseTool: CanUseTool | undefined;
  readonly onElicitation: OnElicitation | undefined;
  readonly onUserDialog: OnUserDialog | undefined;
}

export interface HostEndDeps {
  send(message: Message): void;
  readonly callbacks: HostCallbacks;
  readonly servers: HostServers;
  readonly agents: AgentRegister;
  sessionId(): string;
  uuid(): string;
  now(): number;
}

/** The program's end of the control channel. */
export interface HostEnd {
  /** Puts a request to the runtime. Rejects with its error. */
  request(body: Message): Promise<Message>;
  /** A control frame of the runtime. False: it is none. */
  receive(frame: Message): boolean;
  beginTurn(): void;
  /** Nothing is answered any more. */
  close(reason: Error): void;
}

interface Waiting {
  resolve(response: Message): void;
  reject(error: Error): void;
}

export function createHostEnd(deps: HostEndDeps): HostEnd {
  const waiting = new Map<string, Waiting>();
  const running = new Map<string, AbortController>();
  const memory = createAnswerMemory(deps.now);
  const handling: Handling = { memory, ...deps };
  let counter = 0;
  let closed: Error | undefined;

  const serve = async (id: string, request: Message): Promise<void> => {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      // Copied both ways, as on a wire: what the program gets and gives is not what is judged.
      const shown = plainCopy(request) as Message;
      const response = await handle(handling, shown, { signal: controller.signal, id });
      deps.send(success(id, plainCopy(response)));
    } catch (thrown) {
      const code = thrown instanceof UnsupportedError ? { error_code: 'unsupported_request' } : {};
      deps.send({
        type: 'control_response',
        response: { subtype: 'error', request_id: id, error: messageOf(thrown), ...code },
      });
    } finally {
      running.delete(id);
    }
  };

  return {
    request(body) {
      if (closed !== undefined) return Promise.reject(closed);
      const id = `sdk-${++counter}`;
      return new Promise((resolve, reject) => {
        const request = plainCopy(body);
        waiting.set(id, { resolve, reject });
        deps.send({ type: 'control_request', request_id: id, request });
      });
    },
    receive(frame) {
      const id = String(frame.request_id);
      switch (frame.type) {
        case 'control_request':
          if (isRecord(frame.request)) void serve(id, frame.request);
          return true;
        case 'control_cancel_request':
          running.get(id)?.abort(new Error('the question was withdrawn'));
          return true;
        case 'control_response':
          if (isRecord(frame.response)) settle(waiting, frame.response);
          return true;
        case 'keep_alive':
          return true;
        default:
          return false;
      }
    },
    beginTurn: memory.beginTurn,
    close(reason) {
      closed = reason;
      for (const one of waiting.values()) one.reject(reason);
      waiting.clear();
      for (const controller of running.values()) controller.abort(reason);
      running.clear();
    },
  };
}

class UnsupportedError extends Error {}

function success(id: string, response: unknown): Message {
  return {
    type: 'control_response',
    response: { subtype: 'success', request_id: id, response },
  };
}

function settle(waiting: Map<string, Waiting>, response: Message): void {
  const id = String(response.request_id);
  const one = waiting.get(id);
  if (one === undefined) return;
  waiting.delete(id);
  if (response.subtype === 'success') {
    one.resolve(isRecord(response.response) ? (plainCopy(response.response) as Message) : {});
    return;
  }
  const code = typeof response.error_code === 'string' ? response.error_code : undefined;
  one.reject(
    new PortcullisError(
      code === 'unsupported_request' || code === 'invalid_request' || code === 'invalid_mode'
        ? 'usage'
        : 'session',
      String(response.error ?? 'no reason given'),
    ),
  );
}

interface Handling extends HostEndDeps {
  readonly memory: ReturnType<typeof createAnswerMemory>;
}

interface Asked {
  readonly signal: AbortSignal;
  readonly id: string;
}

async function handle(deps: Handling, request: Message, asked: Asked): Promise<unknown> {
  switch (request.subtype) {
    case 'can_use_tool':
      return await canUseTool(deps, request, asked);
    case 'hook_callback': {
      const callback = deps.callbacks.hooks.get(String(request.callback_id));
      if (callback === undefined) {
        throw new Error(`No hook callback of the id ${String(request.callback_id)}`);
      }
      const id = typeof request.tool_use_id === 'string' ? request.tool_use_id : undefined;
      return await callback(request.input as HookInput, id, { signal: asked.signal });
    }
    case 'mcp_message': {
      const reply = await deps.servers.deliver(String(request.server_name), request.message);
      return { mcp_response: reply ?? { jsonrpc: '2.0', result: {}, id: 0 } };
    }
    case 'elicitation':
      return await elicit(deps, request, asked);
    case 'request_user_dialog': {
      const { onUserDialog } = deps.callbacks;
      if (onUserDialog === undefined) return { behavior: 'cancelled' };
      const answer = await onUserDialog(
        {
          dialogKind: String(request.dialog_kind),
          payload: isRecord(request.payload) ? request.payload : {},
          ...(typeof request.tool_use_id === 'string' ? { toolUseID: request.tool_use_id } : {}),
        },
        { signal: asked.signal, requestId: asked.id },
      );
      return answer ?? { behavior: 'cancelled' };
    }
    default:
      throw new UnsupportedError(`Unsupported control request subtype: ${String(request.subtype)}`);
  }
}

async function elicit(
  { callbacks }: Handling,
  request: Message,
  { signal, id }: Asked,
): Promise<unknown> {
  if (callbacks.onElicitation === undefined) return { action: 'decline' };
  const text = (name: string): string | undefined =>
    typeof request[name] === 'string' ? (request[name] as string) : undefined;
  const mode = request.mode === 'url' ? 'url' : request.mode === 'form' ? 'form' : undefined;
  const answer = await callbacks.onElicitation(
    defined({
      serverName: text('mcp_server_name') ?? '',
      message: text('message') ?? '',
      mode,
      url: text('url'),
      elicitationId: text('elicitation_id'),
      requestedSchema: isRecord(request.requested_schema) ? request.requested_schema : undefined,
      title: text('title'),
      displayName: text('display_name'),
      description: text('description'),
    }),
    { signal, requestId: id },
  );
  return answer ?? { action: 'decline' };
}

async function canUseTool(deps: Handling, request: Message, asked: Asked): Promise<unknown> {
  const { callbacks, memory } = deps;
  if (callbacks.canUseTool === undefined) throw new Error('canUseTool callback is not provided.');
  const remembered = memory.recall(request);
  if (remembered !== undefined) return remembered;
  const input = isRecord(request.input) ? request.input : {};
  // The program may change what it was shown; what it answers to stays as it is.
  const answer = plainCopy(
    await callbacks.canUseTool(
      String(request.tool_name),
      plainCopy(input) as Record<string, unknown>,
      contextOf(deps, request, asked),
    ),
  );
  // fail-closed: nobody else could answer later, so that no answer is a no.
  if (answer === null || answer === undefined) throw new Error('canUseTool gave no answer');
  return memory.translate(request, answer);
}

function contextOf(deps: Handling, request: Message, { signal, id }: Asked): CanUseToolOptions {
  const text = (name: string): string | undefined =>
    typeof request[name] === 'string' ? (request[name] as string) : undefined;
  const rule = isRecord(request.matched_ask_rule) ? request.matched_ask_rule : undefined;
  const server = isRecord(request.mcp_server) ? request.mcp_server : undefined;
  return defined({
    signal,
    requestId: id,
    sessionId: deps.sessionId(),
    agent: deps.agents.find(text('agent_id')),
    toolUseID: text('tool_use_id') ?? '',
    suggestions: Array.isArray(request.permission_suggestions)
      ? (request.permission_suggestions as PermissionUpdate[])
      : undefined,
    blockedPath: text('blocked_path'),
    decisionReason: text('decision_reason'),
    title: text('title'),
    displayName: text('display_name'),
    description: text('description'),
    agentID: text('agent_id'),
    defaultToNo: request.default_to_no === true ? true : undefined,
    suppressAlwaysAllowRule: request.suppress_always_allow_rule === true ? true : undefined,
    mcpServer:
      server === undefined
        ? undefined
        : { name: String(server.name), source: String(server.source) },
    matchedAskRule:
      rule === undefined
        ? undefined
        : defined({
            source: String(rule.source),
            toolName: String(rule.tool_name),
            ruleContent: typeof rule.rule_content === 'string' ? rule.rule_content : undefined,
          }),
  });
}

/** Absent rather than undefined: programs ask with `in`, and print what they get. */
function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
