import { messageOf } from '../errors.js';
import type { HostChannel } from '../server/host-channel.js';
import { isRecord } from '../util/own.js';
import type { AgentRegister } from './agent-register.js';
import { createAnswerMemory } from './answer-memory.js';
import { plainCopy } from './copy.js';
import type { HostServers } from './mcp-host.js';
import type {
  CanUseTool,
  CanUseToolOptions,
  HookCallback,
  HookInput,
  OnElicitation,
  PermissionUpdate,
} from './types/index.js';

type Message = Readonly<Record<string, unknown>>;

/** What the program gave to be called back. */
export interface HostCallbacks {
  readonly hooks: ReadonlyMap<string, HookCallback>;
  readonly canUseTool: CanUseTool | undefined;
  readonly onElicitation: OnElicitation | undefined;
}

export interface CallbackChannelDeps {
  readonly callbacks: HostCallbacks;
  readonly servers: HostServers;
  readonly agents: AgentRegister;
  sessionId(): string;
  now(): number;
}

/** Puts the questions of a session to the functions that the program gave. */
export interface CallbackChannel extends HostChannel {
  beginTurn(): void;
}

export function createCallbackChannel(deps: CallbackChannelDeps): CallbackChannel {
  const open = new Set<AbortController>();
  const memory = createAnswerMemory(deps.now);
  let counter = 0;
  let isOpen = true;
  return {
    async request(body, withdrawn) {
      withdrawn.throwIfAborted();
      if (!isOpen) throw new Error(ENDED);
      const controller = new AbortController();
      const { signal } = controller;
      const withdraw = (): void => controller.abort(withdrawn.reason);
      withdrawn.addEventListener('abort', withdraw);
      open.add(controller);
      try {
        // Copied both ways, as on a wire: what the program gets and gives is not what is judged.
        const shown = plainCopy(body) as Message;
        const asked = { signal, id: `portcullis-${++counter}` };
        const answer = handle({ memory, ...deps }, shown, asked);
        return plainCopy(await Promise.race([answer, abortion(signal)]));
      } catch (thrown) {
        throw signal.aborted ? signal.reason : new Error(messageOf(thrown));
      } finally {
        open.delete(controller);
        withdrawn.removeEventListener('abort', withdraw);
      }
    },
    // The program keeps its own list of what it is asked.
    open: () => [],
    isOpen: () => isOpen,
    close() {
      isOpen = false;
      for (const controller of open) controller.abort(new Error(ENDED));
    },
    beginTurn: memory.beginTurn,
  };
}

const ENDED = 'the session has ended';

function abortion(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

interface Handling extends CallbackChannelDeps {
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
      const reply = await deps.servers.dispatch(String(request.server_name), request.message);
      return { mcp_response: reply ?? { jsonrpc: '2.0', result: {}, id: 0 } };
    }
    case 'elicitation':
      return await elicit(deps, request, asked);
    default:
      throw new Error(`Unsupported control request subtype: ${String(request.subtype)}`);
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
