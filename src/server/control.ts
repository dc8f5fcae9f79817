import { messageOf } from '../errors.js';
import type { AgentSession, AskAnswer, AskRequest } from '../harness.js';
import type { AskElicitation } from '../protocol/elicitation.js';
import { PERMISSION_MODES, type PermissionMode } from '../protocol/permissions.js';
import { isRecord } from '../util/own.js';
import { VERSION } from '../version.js';
import { askHost } from './can-use-tool.js';
import { elicitHost } from './elicitation.js';
import { CONTRACT_VERSION } from './frames.js';
import { createHostCallbacks, type RegisteredCallbacks } from './host-callbacks.js';
import { createHostChannel, type HostChannel } from './host-channel.js';
import { initializeAnswer } from './initialize.js';
import { createSdkServers, type SdkServers } from './sdk-servers.js';
import type { Frame } from './wire.js';

export interface ControlDeps {
  write(frame: Frame): void;
  /** What is told while `work` runs, kept back so that the answer can go first. */
  collect(work: () => void): readonly Frame[];
  session(): Promise<AgentSession> | undefined;
  open(initialize: Readonly<Record<string, unknown>>): Promise<AgentSession>;
  stillQueued(): readonly string[];
}

/** Both directions of the control channel. */
export interface HostControl {
  /** A line from the host that is no prompt. */
  receive(message: Readonly<Record<string, unknown>>): void;
  /** Puts an ask to the host's callback. */
  ask(request: AskRequest): Promise<AskAnswer>;
  /** Puts a server's question to the host's callback. Undefined: the host cannot answer. */
  readonly elicit: AskElicitation;
  readonly callbacks: RegisteredCallbacks;
  /** The way to servers in the host's process. */
  readonly sdkServers: SdkServers;
  /** The host says nothing any more: what waits for it is answered no. */
  close(): void;
}

/** What goes back: the payload, what stands beside it, and what is told after it. */
interface Reply {
  readonly response: Readonly<Record<string, unknown>>;
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly then?: readonly Frame[];
}

interface Handling extends ControlDeps {
  readonly channel: HostChannel;
  readonly callbacks: RegisteredCallbacks;
  readonly sdkServers: SdkServers;
}

/**
 * Answers every control request exactly once. Requests of both directions may be in flight at the
 * same time; nothing here waits for a turn.
 */
export function createControl(deps: ControlDeps): HostControl {
  const channel = createHostChannel(deps.write);
  const callbacks = createHostCallbacks(channel);
  const sdkServers = createSdkServers(channel);
  const handling: Handling = { ...deps, channel, callbacks, sdkServers };
  return {
    callbacks,
    sdkServers,
    close: () => channel.close(),
    receive(message) {
      if (message.type === 'control_request' && isRecord(message.request)) {
        void answer(handling, message.request_id, message.request);
      } else if (message.type === 'control_response' && isRecord(message.response)) {
        channel.settle(message.response);
      }
      // Kinds of messages that we do not know are ignored: newer clients may send them.
    },
    async ask(request) {
      const session = await deps.session();
      session?.news({ type: 'state', state: 'requires_action' });
      try {
        return await askHost(channel, request);
      } finally {
        session?.news({ type: 'state', state: 'running' });
      }
    },
    // Not told as a state of the session: a server may ask while the session is still opening.
    elicit: (question, signal) => elicitHost(channel, question, signal),
  };
}

class ControlError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

async function answer(
  handling: Handling,
  requestId: unknown,
  request: Readonly<Record<string, unknown>>,
): Promise<void> {
  const write = (response: Readonly<Record<string, unknown>>): void =>
    handling.write({
      type: 'control_response',
      response: { ...response, request_id: requestId },
    });
  try {
    const { response, beside, then } = await handle(handling, request);
    write({ subtype: 'success', response, ...beside });
    for (const frame of then ?? []) handling.write(frame);
  } catch (thrown) {
    const code = thrown instanceof ControlError ? { error_code: thrown.code } : {};
    write({ subtype: 'error', error: messageOf(thrown), ...code });
  }
}

async function handle(
  handling: Handling,
  request: Readonly<Record<string, unknown>>,
): Promise<Reply> {
  switch (request.subtype) {
    case 'initialize': {
      // Before anything is awaited: the first prompt may stand on the very next line.
      handling.callbacks.register(request.hooks);
      const manifests = handling.sdkServers.register(request);
      const session = await handling.open(request);
      return {
        response: { ...initializeAnswer(session.info()), ...manifests },
        beside: { pending_permission_requests: handling.channel.open('can_use_tool') },
      };
    }
    case 'interrupt':
      (await handling.session())?.interrupt();
      return { response: { still_queued: handling.stillQueued() } };
    case 'set_permission_mode':
      return await setMode(handling, request.mode);
    case 'set_model': {
      const name =
        typeof request.model === 'string' && request.model !== 'default'
          ? request.model
          : undefined;
      return { response: { model: await (await handling.open({})).setModel(name, 'sdk') } };
    }
    case 'mcp_status':
      return { response: { mcpServers: (await handling.session())?.mcp.status() ?? [] } };
    case 'mcp_set_servers':
    case 'mcp_reconnect':
    case 'mcp_toggle':
    case 'mcp_message':
      return { response: await serverRequest(handling, request) };
    case 'get_binary_version':
      return { response: { version: CONTRACT_VERSION, portcullis_version: VERSION } };
    case 'get_settings':
      return { response: (await handling.open({})).inspect.settings() };
    case 'list_permission_rules':
      return { response: { state: (await handling.open({})).inspect.rules() } };
    default:
      throw new ControlError(
        'unsupported_request',
        `Unsupported control request subtype: ${String(request.subtype)}`,
      );
  }
}

async function serverRequest(
  { open, sdkServers }: Handling,
  request: Readonly<Record<string, unknown>>,
): Promise<Reply['response']> {
  const { subtype, serverName, enabled, servers, server_name: from, message } = request;
  if (subtype === 'mcp_message') {
    // Handed on at once: the session that listens may still be opening.
    if (sdkServers.receive(String(from), message)) return {};
    throw new ControlError('invalid_request', `Server not found: ${String(from)}`);
  }
  if (subtype === 'mcp_set_servers') {
    if (!isRecord(servers)) throw new ControlError('invalid_request', 'servers is no object');
    return { ...(await (await open({})).mcp.set(servers)) };
  }
  if (typeof serverName !== 'string') {
    throw new ControlError('invalid_request', 'serverName is missing');
  }
  const { mcp } = await open({});
  if (subtype === 'mcp_reconnect') await mcp.reconnect(serverName);
  else {
    if (typeof enabled !== 'boolean') {
      throw new ControlError('invalid_request', 'enabled is neither true nor false');
    }
    await mcp.toggle(serverName, enabled);
  }
  return {};
}

async function setMode(handling: Handling, wanted: unknown): Promise<Reply> {
  const mode = toMode(wanted);
  const session = await handling.open({});
  let refused: unknown;
  const then = handling.collect(() => {
    try {
      session.setMode(mode);
    } catch (thrown) {
      refused = thrown;
    }
  });
  if (refused === undefined) return { response: { mode }, then };
  if (mode === 'bypassPermissions') {
    throw new ControlError('bypass_not_launched', messageOf(refused));
  }
  throw refused;
}

function toMode(mode: unknown): PermissionMode {
  const named = mode === 'manual' ? 'default' : mode;
  const known = PERMISSION_MODES.find((candidate) => candidate === named);
  if (known === undefined) {
    const names = PERMISSION_MODES.join(', ');
    throw new ControlError(
      'invalid_mode',
      `unknown permission mode ${JSON.stringify(mode)}; known are ${names}`,
    );
  }
  return known;
}
