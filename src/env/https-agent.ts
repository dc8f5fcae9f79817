import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { HttpError } from './http-error.js';
import { credentialsOf } from './http-proxy.js';

/** Loaded at the first https request only: TLS costs start-up time that local models need not pay. */
export { https };

const agents = new Map<string, https.Agent>();

/** One keep-alive agent per proxy; the direct one has no proxy. */
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
  readonly servername?: string;
}

type ConnectCallback = (error: Error | null, socket?: Duplex) => void;

/** Reaches the target through a CONNECT tunnel; TLS runs between us and the target. */
class TunnelAgent extends https.Agent {
  readonly #proxy: URL;

  constructor(options: https.AgentOptions, proxy: URL) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: ConnectOptions, callback: ConnectCallback): undefined {
    openTunnel(this.#proxy, options, callback);
  }
}

/** What is returned can be destroyed by whoever does not want to wait for the proxy. */
export function openTunnel(
  proxy: URL,
  options: ConnectOptions,
  callback: (error: Error | null, socket?: tls.TLSSocket) => void,
): http.ClientRequest {
  const host = options.host ?? options.hostname ?? '';
  const authority = `${host.includes(':') ? `[${host}]` : host}:${options.port ?? 443}`;
  const opener = proxy.protocol === 'https:' ? https : http;
  const fail = (reason: string): void =>
    callback(new HttpError('proxy', `the proxy ${proxy.host} ${reason}`));
  const connect = opener.request({
    hostname: proxy.hostname,
    port: proxy.port === '' ? undefined : Number(proxy.port),
    method: 'CONNECT',
    path: authority,
    agent: false,
    headers: { host: authority, ...credentialsOf(proxy) },
  });
  connect.on('error', (error) => fail(`cannot be reached: ${error.message}`));
  connect.on('connect', (response, socket) => {
    if (response.statusCode !== 200) {
      socket.destroy();
      fail(`refused a tunnel to ${authority} with status ${response.statusCode}`);
      return;
    }
    const secured = tls.connect({ ...(options as tls.ConnectionOptions), socket });
    callback(null, secured);
  });
  connect.end();
  return connect;
}
