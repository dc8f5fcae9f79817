import { messageOf } from '../errors.js';
import { isRecord } from '../lib/own.js';
import type {
  JsonRpcMessage,
  JsonRpcTransport,
  McpServerConfig,
  McpServerInstance,
} from './types/index.js';

type Message = Readonly<Record<string, unknown>>;
type Servers = Readonly<Record<string, McpServerConfig>>;
/** Takes what a server sends by itself. */
type Tell = (server: string, message: JsonRpcMessage) => void;

export interface PartitionedServers {
  /** Names of those in this process. */
  readonly names: readonly string[];
  /** Their settings beyond the name, where there are any. */
  readonly configs: Readonly<Record<string, Message>>;
  /** Those that the session runs or connects to itself. */
  readonly external: Servers;
}

/** The servers of this process, as far as one session speaks to them. */
export class HostServers {
  readonly #servers = new Map<string, SdkServer>();
  readonly #tell: Tell;

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  /** Takes the servers with an instance out of a table; the others go to the session as they are. */
  partitionServers(servers: Servers): PartitionedServers {
    const configs: Record<string, Message> = {};
    const external: Record<string, McpServerConfig> = {};
    const names: string[] = [];
    for (const [name, config] of Object.entries(servers)) {
      if (config.type !== 'sdk') {
        external[name] = config;
        continue;
      }
      const { instance, type: _type, name: _name, ...rest } = config;
      names.push(name);
      if (Object.keys(rest).length > 0) configs[name] = rest;
      if (this.#servers.get(name)?.instance === instance) continue;
      this.#servers.get(name)?.close();
      this.#servers.set(name, new SdkServer(instance, (message) => this.#tell(name, message)));
    }
    return { names, configs, external };
  }

  /** All of a table as the session takes it. */
  entriesOf(servers: Servers): Message {
    const { names, configs, external } = this.partitionServers(servers);
    const own = names.map((name) => [name, { ...configs[name], type: 'sdk', name }]);
    return { ...external, ...Object.fromEntries(own) };
  }

  /** Carries one message to a server. Resolves to its answer; undefined for what needs none. */
  async dispatch(name: string, message: unknown): Promise<JsonRpcMessage | undefined> {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`SDK MCP server not found: ${name}`);
    if (!isRecord(message)) throw new Error('the message is not an object');
    try {
      return await server.dispatch(message);
    } catch (thrown) {
      throw new Error(`the server ${name} cannot be connected to: ${messageOf(thrown)}`);
    }
  }

  close(): void {
    for (const server of this.#servers.values()) server.close();
    this.#servers.clear();
  }
}

/** The connection to one server, which stays its owner's. */
class SdkServer {
  readonly instance: McpServerInstance;
  readonly #tell: (message: JsonRpcMessage) => void;
  readonly #waiting = new Map<unknown, (answer: JsonRpcMessage) => void>();
  #transport: JsonRpcTransport | undefined;
  #connected: Promise<void> | undefined;

  constructor(instance: McpServerInstance, tell: (message: JsonRpcMessage) => void) {
    this.instance = instance;
    this.#tell = tell;
  }

  async dispatch(message: Message): Promise<JsonRpcMessage | undefined> {
    const { id, method, params } = message;
    if (method === 'initialize' && this.#connected !== undefined) {
      // A new session of the protocol: libraries want a new transport for it.
      await this.#connected.catch(() => undefined);
      this.close();
    }
    this.#connected ??= this.#connect();
    await this.#connected;
    const receive = this.#transport?.onmessage as ((message: Message) => void) | undefined;
    if (id === undefined || method === undefined) {
      if (method === 'notifications/cancelled' && isRecord(params)) {
        this.#waiting.delete(params.requestId);
      }
      receive?.(message);
      return undefined;
    }
    return await new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      receive?.(message);
    });
  }

  close(): void {
    this.#transport?.onclose?.();
    this.#transport = undefined;
    this.#connected = undefined;
    this.#waiting.clear();
  }

  async #connect(): Promise<void> {
    const transport: JsonRpcTransport = {
      start: async () => undefined,
      close: async () => transport.onclose?.(),
      send: async (message) => {
        const { id, method } = message as Message;
        if (method !== undefined) this.#tell(message);
        // An answer to a withdrawn request is for no one.
        else this.#waiting.get(id)?.(message);
        if (method === undefined) this.#waiting.delete(id);
      },
    };
    this.#transport = transport;
    await this.instance.connect(transport);
  }
}
