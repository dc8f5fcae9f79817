import { HostNotAsked, type SdkBridge } from '../app.js';
import { isRecord, own } from '../lib/own.js';
import type { HostChannel } from './host-channel.js';

type Message = Readonly<Record<string, unknown>>;

/** Servers that live in the host's process, spoken to over the control channel. */
export interface SdkServers {
  /** Takes what `initialize` says of them; what the answer says in return. */
  register(initialize: Message): Message;
  /** The servers that `initialize` named, as entries. */
  entries(): Readonly<Record<string, unknown>>;
  /** A line to one of them, a new one for each connection. */
  bridge(server: string): SdkBridge;
  /** Delivers a message that a server sent by itself. False: no connection to a server of that name. */
  receive(server: string, message: unknown): boolean;
}

export function createSdkServers(channel: Pick<HostChannel, 'request'>): SdkServers {
  const bridges = new Map<string, SdkBridge>();
  let entries: Readonly<Record<string, unknown>> = {};
  let manifests: ReadonlyMap<string, Manifest> = new Map();
  return {
    register(initialize) {
      entries = readEntries(initialize);
      const read = readManifests(initialize.sdkMcpServerManifests, Object.keys(entries));
      manifests = read.manifests;
      return Object.keys(read.report).length === 0 ? {} : { sdk_mcp_manifests_parked: read.report };
    },
    entries: () => entries,
    bridge(server) {
      const bridge = createBridge(channel, server, manifests.get(server));
      bridges.set(server, bridge);
      return bridge;
    },
    receive(server, message) {
      const bridge = bridges.get(server);
      bridge?.onmessage?.(message);
      return bridge !== undefined;
    },
  };
}

function readEntries(initialize: Message): Readonly<Record<string, unknown>> {
  const { sdkMcpServers: names, sdkMcpServerConfigs: configs } = initialize;
  if (!Array.isArray(names)) return {};
  const known = names.filter((name) => typeof name === 'string');
  return Object.fromEntries(
    known.map((name) => {
      const config = isRecord(configs) ? own(configs, name) : undefined;
      return [name, { ...(isRecord(config) ? config : {}), type: 'sdk', name }];
    }),
  );
}

/** Carries messages to the host and back. Each request is answered, withdrawn, or fails with the channel. */
function createBridge(
  channel: Pick<HostChannel, 'request'>,
  server: string,
  manifest: Manifest | undefined,
): SdkBridge {
  const open = new Map<unknown, AbortController>();
  const carry = (message: Message, signal: AbortSignal): Promise<unknown> =>
    channel.request({ subtype: 'mcp_message', server_name: server, message }, signal);
  const known = manifest === undefined ? undefined : createKnownAnswers(manifest);
  return {
    async send(message) {
      const told = known?.(message);
      if (told !== undefined) return told.answer;
      const { id, method } = message;
      if (id === undefined || method === undefined) {
        // What needs no answer waits for none: not every host gives one.
        carry(message, NEVER).catch(() => undefined);
        if (method === 'notifications/cancelled') open.get(cancelledId(message))?.abort();
        return undefined;
      }
      const withdrawn = new AbortController();
      open.set(id, withdrawn);
      try {
        const answer = await carry(message, withdrawn.signal);
        return isRecord(answer) ? answerTo(id, answer.mcp_response) : undefined;
      } catch (thrown) {
        if (!(thrown instanceof HostNotAsked)) throw thrown;
        return { jsonrpc: '2.0', id, ...notCalled(method, thrown.message) };
      } finally {
        open.delete(id);
      }
    },
  };
}

/**
 * Undefined for a message that is no answer, which fails the request: it could never be matched with it.
 * Its id need not be trusted, as the host answers each of our requests separately.
 */
function answerTo(id: unknown, response: unknown): Message | undefined {
  if (!isRecord(response)) return undefined;
  const { result, error } = response;
  if (isRecord(error)) {
    const { code, message, data } = error;
    if (!Number.isInteger(code) || typeof message !== 'string') return undefined;
    return {
      jsonrpc: '2.0',
      id,
      error: { code, message, data },
    };
  }
  return isRecord(result) ? { jsonrpc: '2.0', id, result } : undefined;
}

/** A call that never reached its server had no effect; that is an answer, not a fault of the server. */
function notCalled(method: unknown, why: string): Message {
  if (method !== 'tools/call') return { error: { code: INVALID_REQUEST, message: why } };
  const text = `The tool was not called: ${why}`;
  return { result: { content: [{ type: 'text', text }], isError: true } };
}

/** As JSON-RPC has it. */
const INVALID_REQUEST = -32_600;

const NEVER: AbortSignal = new AbortController().signal;

function cancelledId({ params }: Message): unknown {
  return isRecord(params) ? params.requestId : undefined;
}

interface Known {
  readonly answer: unknown;
}

/** Answers the first questions from what the host has said already. Undefined: the host has to be asked. */
function createKnownAnswers({
  greeting,
  tools,
}: Manifest): (message: Message) => Known | undefined {
  let greeted = false;
  let listed = tools;
  const reply = ({ id }: Message, result: Message): Known => ({
    answer: { jsonrpc: '2.0', id, result },
  });
  return (message) => {
    const { method, params } = message;
    if (method === 'initialize') {
      greeted = isRecord(params) && params.protocolVersion === greeting.protocolVersion;
      return greeted ? reply(message, greeting) : undefined;
    }
    if (!greeted) return undefined;
    if (method === 'notifications/initialized') return { answer: undefined };
    if (method !== 'tools/list' || listed === undefined) return undefined;
    const result = listed;
    // A second request wants the current list.
    listed = undefined;
    return isRecord(params) && params.cursor !== undefined ? undefined : reply(message, result);
  };
}

/** What a host has asked its own server before it told us of it. */
interface Manifest {
  readonly greeting: Message & { readonly protocolVersion: string };
  /** Whole; undefined when it has to be asked for. */
  readonly tools: Message | undefined;
}

/** The version that our client greets servers of a host with. */
const SPOKEN = '2025-11-25';

type Reported = 'parked' | 'malformed' | 'protocol_version_mismatch' | 'not_honoured';

/** The usable manifests, and the status of each for the host. */
function readManifests(
  value: unknown,
  names: readonly string[],
): {
  readonly manifests: ReadonlyMap<string, Manifest>;
  readonly report: Readonly<Record<string, Reported>>;
} {
  const manifests = new Map<string, Manifest>();
  if (!isRecord(value)) return { manifests, report: {} };
  const report = Object.keys(value).map((name): [string, Reported] => {
    if (!names.includes(name)) return [name, 'not_honoured'];
    const read = readManifest(own(value, name));
    if (typeof read === 'string') return [name, read];
    manifests.set(name, read);
    return [name, 'parked'];
  });
  return { manifests, report: Object.fromEntries(report) };
}

function readManifest(value: unknown): Manifest | Reported {
  if (!isRecord(value) || !isRecord(value.initializeResult)) return 'malformed';
  const { initializeResult: greeting, toolsListResult: listed } = value;
  const { protocolVersion } = greeting;
  if (typeof protocolVersion !== 'string') return 'malformed';
  if (!isRecord(greeting.serverInfo) || !isRecord(greeting.capabilities)) return 'malformed';
  if (protocolVersion !== SPOKEN) return 'protocol_version_mismatch';
  if (listed !== undefined && listed !== null) {
    if (!isRecord(listed) || !Array.isArray(listed.tools)) return 'malformed';
  }
  // A list of several pages is asked for anew: the host has sent the first.
  const isWhole = isRecord(listed) && typeof listed.nextCursor !== 'string';
  return { greeting: { ...greeting, protocolVersion }, tools: isWhole ? listed : undefined };
}
