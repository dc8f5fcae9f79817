import { messageOf } from '../errors.js';
import { isRecord } from '../util/own.js';
import type { JsonRpcMessage, JsonRpcTransport } from './mcp-transport.js';
import type { McpSdkServerConfigWithInstance, McpServerConfig } from './types/index.js';

type Message = Readonly<Record<string, unknown>>;

/** The servers of this process, as far as one session speaks to them. */
export interface HostServers {
  /** Takes the servers with an instance out of a table; what is left goes to the runtime as it is. */
  adopt(servers: Readonly<Record<string, McpServerConfig>>): AdoptedServers;
  /** Carries one message to a server. Resolves to its answer; undefined for what needs none. */
  deliver(server: string, message: unknown): Promise<JsonRpcMessage | undefined>;
  close(): Promise<void>;
}

export interface AdoptedServers {
  /** Names of those in this process. */
  readonly names: readonly string[];
  /** Their settings beyond the name, where there are any. */
  readonly configs: Readonly<Record<string, Message>>;
  /** The others. */
  readonly others: Readonly<Record<string, McpServerConfig>>;
}

interface Line {
  readonly instance: McpSdkServerConfigWithInstance['instance'];
  connected: Promise<void> | undefined;
  transport: JsonRpcTransport | undefined;
  readonly waiting: Map<unknown, (answer: JsonRpcMessage) => void>;
}

export function createHostServers(
  /** Something that a server says by itself. */
  tell: (server: string, message: JsonRpcMessage) => void,
): HostServers {
  const lines = new Map<string, Line>();
  const drop = async (name: string): Promise<void> => {
    const line = lines.get(name);
    lines.delete(name);
    // The server is its owner's; only our line to it ends.
    line?.transport?.onclose?.();
  };
  return {
    adopt(servers) {
      const configs: Record<string, Message> = {};
      const others: Record<string, McpServerConfig> = {};
      const names: string[] = [];
      for (const [name, config] of Object.entries(servers)) {
        if (config.type !== 'sdk') {
          others[name] = config;
          continue;
        }
        const { instance, type: _type, name: _name, ...rest } = config;
        names.push(name);
        if (Object.keys(rest).length > 0) configs[name] = rest;
        if (lines.get(name)?.instance === instance) continue;
        void drop(name);
        lines.set(name, {
          instance,
          connected: undefined,
          transport: undefined,
          waiting: new Map(),
        });
      }
      return { names, configs, others };
    },
    async deliver(server, message) {
      const line = lines.get(server);
      if (line === undefined) throw new Error(`SDK MCP server not found: ${server}`);
      if (!isRecord(message)) throw new Error('the message is no object');
      const { id, method } = message;
      if (method === 'initialize') await reconnect(line, server, tell);
      line.connected ??= connect(line, server, tell);
      await line.connected;
      if (id === undefined || method === undefined) {
        if (method === 'notifications/cancelled' && isRecord(message.params)) {
          line.waiting.delete(message.params.requestId);
        }
        receive(line, message);
        return undefined;
      }
      return await new Promise((resolve) => {
        line.waiting.set(id, resolve);
        receive(line, message);
      });
    },
    async close() {
      await Promise.all([...lines.keys()].map(drop));
    },
  };
}

function receive({ transport }: Line, message: Message): void {
  (transport?.onmessage as ((message: Message) => void) | undefined)?.(message);
}

/** A new session of the protocol: libraries want a new line for it. */
async function reconnect(
  line: Line,
  server: string,
  tell: (server: string, message: JsonRpcMessage) => void,
): Promise<void> {
  if (line.connected === undefined) return;
  await line.connected.catch(() => undefined);
  line.transport?.onclose?.();
  line.waiting.clear();
  line.connected = connect(line, server, tell);
}

async function connect(
  line: Line,
  server: string,
  tell: (server: string, message: JsonRpcMessage) => void,
): Promise<void> {
  const transport: JsonRpcTransport = {
    start: async () => undefined,
    async send(message) {
      const waiting =
        isRecord(message) && message.method === undefined
          ? line.waiting.get(message.id)
          : undefined;
      if (waiting === undefined) {
        // An answer to what was withdrawn is for nobody.
        if (isRecord(message) && message.method !== undefined) tell(server, message);
        return;
      }
      line.waiting.delete((message as Message).id);
      waiting(message);
    },
    async close() {
      transport.onclose?.();
    },
  };
  line.transport = transport;
  try {
    await line.instance.connect(transport);
  } catch (thrown) {
    throw new Error(`the server ${server} cannot be connected to: ${messageOf(thrown)}`);
  }
}
