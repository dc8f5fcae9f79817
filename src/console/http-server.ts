import { createReadStream } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, PortcullisError } from '../errors.js';
import { parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';
import { join } from '../platform/fs/paths.js';
import { descendsFromSession } from '../platform/process/run-by-agent.js';
import { mayAct, type Person } from './access.js';
import { type ApiDeps, ROUTES } from './api.js';
import { connectionOwners } from './connection-owner.js';
import { EventStreams } from './event-streams.js';

export interface ConsoleServerOptions {
  readonly deps: ApiDeps;
  readonly host: string;
  readonly port: number;
  /** Host names to accept besides the address that the server listens on. */
  readonly allowedHosts: readonly string[];
  /** The directory of the built page. */
  readonly pageDirectory: string;
}

/** A refused request and its HTTP status. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '/': 'text/html; charset=utf-8',
  '/app.js': 'text/javascript; charset=utf-8',
  '/app.css': 'text/css; charset=utf-8',
  '/icon.svg': 'image/svg+xml',
};

const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
} as const;

const LARGEST_BODY = 1024 * 1024;
const MOST_CONNECTIONS = 2_000;

/** Serves the page and its API. */
export class ConsoleServer {
  readonly #options: ConsoleServerOptions;
  readonly #server: Server;
  readonly #streams: EventStreams;
  #hosts: ReadonlySet<string> = new Set();

  private constructor(options: ConsoleServerOptions) {
    this.#options = options;
    this.#streams = new EventStreams(options.deps.hub);
    this.#server = createServer(
      { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 5_000 },
      (request, response) => void this.#serve(request, response),
    );
    this.#server.maxConnections = MOST_CONNECTIONS;
  }

  static async listen(options: ConsoleServerOptions): Promise<ConsoleServer> {
    const server = new ConsoleServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', (error) => reject(listenError(error, options)));
      server.#server.listen(options.port, options.host, resolve);
    });
    const names = [...options.allowedHosts, ...ownNames(options.host)];
    server.#hosts = new Set(names.flatMap((name) => [`${name}:${server.port}`, ...atPort(name)]));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#streams.close();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    response.on('error', () => response.destroy());
    try {
      this.#checkOrigin(request);
      const url = new URL(request.url ?? '/', 'http://console.invalid');
      if (url.pathname.startsWith('/api/')) await this.#api(request, response, url);
      else this.#page(request, response, url.pathname);
    } catch (thrown) {
      if (response.headersSent) response.destroy();
      else this.#fail(response, thrown);
    }
  }

  #fail(response: ServerResponse, thrown: unknown): void {
    const { code, remedy } = thrown instanceof PortcullisError ? thrown : {};
    const known = code === undefined ? 500 : code === 'denied' ? 403 : 400;
    const status = thrown instanceof Refusal ? thrown.status : known;
    // The body of a refused request may not have been read to its end.
    response.setHeader('connection', 'close');
    sendJson(response, status, { error: messageOf(thrown), remedy, code });
  }

  /** fail-closed: a request that a page of another origin may have caused is refused. */
  #checkOrigin({ headers }: IncomingMessage): void {
    const { host = '', origin } = headers;
    if (!this.#hosts.has(host.toLowerCase())) {
      throw new Refusal(421, 'this host is not the console');
    }
    const site = headers['sec-fetch-site'];
    const isOpened =
      headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    const isOwn = site === undefined || site === 'same-origin' || site === 'none';
    if (!isOwn && !isOpened) throw new Refusal(403, 'the request comes from another site');
    if (origin === undefined) return;
    if (origin !== `http://${host}` && origin !== `https://${host}`) {
      throw new Refusal(403, 'the request comes from another origin');
    }
  }

  #page({ method }: IncomingMessage, response: ServerResponse, pathname: string): void {
    if (method !== 'GET') throw new Refusal(405, 'the page can only be read');
    const type = Object.hasOwn(CONTENT_TYPES, pathname) ? CONTENT_TYPES[pathname] : undefined;
    if (type === undefined) throw new Refusal(404, 'there is no such page');
    const file = join(this.#options.pageDirectory, pathname === '/' ? 'index.html' : pathname);
    const stream = createReadStream(file);
    stream.once('error', (error) => this.#fail(response, error));
    stream.once('open', () => response.writeHead(200, { 'content-type': type }));
    stream.pipe(response);
  }

  async #api(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { deps } = this.#options;
    if (url.pathname === '/api/sign-in') {
      this.#refuseAgent(request);
      const { name, password, code } = await readBody(request);
      const signedIn =
        typeof code === 'string'
          ? deps.access.exchange(code)
          : await deps.access.signIn(String(name), String(password));
      sendJson(response, 200, signedIn);
      return;
    }
    const person = deps.access.personOf(request.headers);
    if (person === undefined) throw new Refusal(401, 'the token is missing or wrong');
    if (url.pathname === '/api/stream' && request.method === 'GET') {
      this.#streams.open(request, response, url.searchParams);
      return;
    }
    sendJson(response, 200, await this.#call(request, url, person));
  }

  async #call(request: IncomingMessage, url: URL, person: Person): Promise<unknown> {
    const route = ROUTES.get(url.pathname);
    if (route === undefined) throw new Refusal(404, 'there is no such call');
    if (request.method !== route.method) throw new Refusal(405, `this call is a ${route.method}`);
    if (!mayAct(person, route.role)) {
      throw new Refusal(403, `${person.name} is ${person.role}, and this needs ${route.role}`);
    }
    if (route.acts === true) this.#refuseAgent(request);
    const body = route.method === 'POST' ? await readBody(request) : {};
    const result = await route.handle(
      { person, query: url.searchParams, body },
      this.#options.deps,
    );
    return result ?? null;
  }

  /** fail-closed: a process of an agent answers no question, even with a valid token. */
  #refuseAgent({ socket }: IncomingMessage): void {
    if (!this.#options.deps.tellsAgents || !isLoopback(socket.remoteAddress ?? '')) return;
    const { remotePort: theirs = 0, localPort: ours = 0 } = socket;
    const owners = connectionOwners({ theirs, ours });
    if (owners === undefined) throw new Refusal(403, 'the process behind this request is unknown');
    if (owners.pids.some((pid) => descendsFromSession(pid))) {
      throw new Refusal(403, 'a process of an agent cannot answer for people');
    }
  }
}

function listenError(error: NodeJS.ErrnoException, { host, port }: ConsoleServerOptions): Error {
  const isTaken = error.code === 'EADDRINUSE';
  const problem = isTaken ? `port ${port} is in use` : `cannot listen on ${host}:${port}`;
  return new PortcullisError('network', isTaken ? problem : `${problem}: ${error.message}`, {
    remedy: isTaken ? 'choose another --port, or leave it out' : 'check --host and --port',
  });
}

export function isLoopback(address: string): boolean {
  return /^(127(\.\d+){3}|::1|localhost|::ffff:127(\.\d+){3})$/.test(address);
}

/** The host names that browsers may use for an address. */
function ownNames(host: string): readonly string[] {
  if (isLoopback(host)) return ['127.0.0.1', 'localhost', '[::1]'];
  return host.includes(':') ? [`[${host}]`] : [host];
}

/** Requests through a proxy name its port, or none. */
function atPort(name: string): readonly string[] {
  return isLoopback(name) || name === '[::1]' ? [] : [name];
}

async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  // Other sites cannot send this type without a preflight request, which is refused.
  const [type] = (request.headers['content-type'] ?? '').split(';');
  if (type?.trim() !== 'application/json') throw new Refusal(415, 'the body is not JSON');
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += (part as Buffer).length;
    if (length > LARGEST_BODY) throw new Refusal(413, 'the body is too long');
    parts.push(part as Buffer);
  }
  const parsed = parseJson(Buffer.concat(parts).toString('utf8'));
  if (!parsed.ok || !isRecord(parsed.value))
    throw new Refusal(400, 'the body is not a JSON object');
  return parsed.value;
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(value));
}
