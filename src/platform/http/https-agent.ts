import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { HttpError } from './http-error.js';
import { credentialsOf, portOf, withoutBrackets } from './http-proxy.js';

/** Loaded at the first https request only: TLS costs start-up time that local models need not pay. */
export { https };

const agents = new Map<string, https.Agent>();

/** Returns the keep-alive agent for a proxy, or the direct one. */
export function agentFor(proxy: URL | undefined): https.Agent {
  const key = proxy?.href ?? '';
  let agent = agents.get(key);
  if (agent === undefined) {
    const options = { keepAlive: true, noDelay: true, scheduling: 'lifo' as const };
    agent = proxy === undefined ? new https.Agent(options) : new TunnelAgent(options, proxy);
    agents.set(key, agent);
  }
  return agent;
}

interface ConnectOptions {
  readonly host?: string | null;
  readonly hostname?: string | null;
  readonly port?: number | string | null;
}

/** Reaches the target through a CONNECT tunnel; TLS runs between this process and the target. */
class TunnelAgent extends https.Agent {
  readonly #proxy: URL;

  constructor(options: https.AgentOptions, proxy: URL) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(
    options: ConnectOptions,
    callback: (error: Error | null, socket?: Duplex) => void,
  ): undefined {
    const host = options.host ?? options.hostname ?? '';
    openTunnel(this.#proxy, host, Number(options.port ?? 443)).then(
      (socket) => callback(null, tls.connect({ ...(options as tls.ConnectionOptions), socket })),
      callback,
    );
  }
}

const TUNNEL_TIMEOUT_MS = 30_000;

/** Opens a CONNECT tunnel through a proxy. Rejects with an `HttpError` of kind `proxy`. */
export function openTunnel(proxy: URL, host: string, port: number): Promise<Duplex> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void =>
      reject(new HttpError('proxy', `the proxy ${proxy.host} ${reason}`));
    const client = proxy.protocol === 'https:' ? https : http;
    const connect = client.request({
      hostname: withoutBrackets(proxy.hostname),
      port: portOf(proxy),
      method: 'CONNECT',
      path: authority,
      agent: false,
      headers: { host: authority, ...credentialsOf(proxy) },
      timeout: TUNNEL_TIMEOUT_MS,
    });
    connect.on('timeout', () => connect.destroy(new Error('it did not answer in time')));
    connect.on('error', (error) => fail(`cannot be reached: ${error.message}`));
    connect.on('connect', (response, socket, head) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        fail(`refused a tunnel to ${authority} with status ${response.statusCode}`);
        return;
      }
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    connect.end();
  });
}
