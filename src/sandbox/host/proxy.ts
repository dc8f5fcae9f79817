import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createListener, type Server } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { err, type Result } from '../../lib/result.js';
import type { ProxyRules } from '../types.js';
import {
  type DialFailure,
  dialDirect,
  dialThrough,
  findWay,
  hostHeaderAgrees,
  parseAbsolute,
  parseAuthority,
  REFUSAL_MARK,
  type Reach,
  type Target,
  targetOf,
  type Way,
} from './proxy-rules.js';

interface SandboxProxyOptions {
  readonly rules: ProxyRules;
  readonly reach: Reach;
  /** The required `proxy-authorization`, where other programs can reach the proxy. */
  readonly token?: string;
}

const HEADERS_MS = 30_000;
const MAX_HEADER_BYTES = 64 * 1024;
const OTHER_HOST = 'the Host header names another host';

/**
 * The proxy of one sandbox for HTTP with absolute URLs, CONNECT and SOCKS 5, distinguished by the first byte.
 * It dials itself, so that the judged host is the one reached.
 */
export class SandboxProxy {
  /** Refused targets and reasons. */
  readonly refused = new Map<string, string>();
  readonly #options: SandboxProxyOptions;
  readonly #server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: 0,
  });
  readonly #open = new Set<Duplex>();
  #listener: Server | undefined;

  constructor(options: SandboxProxyOptions) {
    this.#options = options;
    this.#server.on('request', (incoming, response) => void this.#plain(incoming, response));
    this.#server.on(
      'connect',
      (incoming, socket, head) => void this.#tunnel(incoming, socket, head),
    );
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Serves a connection of the program. */
  serve(connection: Duplex): void {
    this.#keep(connection);
    connection.once('readable', () => {
      const first: Buffer | null = connection.read();
      if (first === null) {
        connection.destroy();
        return;
      }
      connection.unshift(first);
      // fail-closed: SOCKS carries no token, so it is available only through the pipes.
      if (first[0] === 5 && this.#options.token === undefined) {
        const dial = (target: Target) => this.#dial(target);
        serveSocks(connection, dial, (inside, outside) => this.#join(inside, outside)).catch(() =>
          connection.destroy(),
        );
      } else this.#server.emit('connection', connection);
    });
  }

  /** Listens for programs that share the host's loopback, and returns the port. */
  async listen(): Promise<number> {
    const listener = createListener({ allowHalfOpen: true }, (one) => this.serve(one));
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen({ port: 0, host: '127.0.0.1', exclusive: true }, resolve);
    });
    listener.unref();
    this.#listener = listener;
    const address = listener.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  close(): void {
    this.#listener?.close();
    for (const stream of this.#open) stream.destroy();
    this.#server.close();
  }

  async #plain(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    incoming.on('error', () => response.destroy());
    if (!this.#isOurs(incoming)) return askForToken(response);
    const asked = parseAbsolute(incoming.url ?? '');
    if (asked === undefined) return say(response, 400, 'This is a proxy: ask for a whole URL.');
    const { target, path } = asked;
    const way = hostHeaderAgrees(hostHeaders(incoming), target)
      ? await this.#findWay(target, 'http')
      : this.#refuse(target, OTHER_HOST);
    if (!way.ok) return say(response, way.error.kind === 'refused' ? 403 : 502, way.error.text);
    await this.#forward(incoming, response, { target, path, way: way.value });
  }

  async #forward(
    incoming: IncomingMessage,
    response: ServerResponse,
    { target, path, way }: { target: Target; path: string; way: Way },
  ): Promise<void> {
    const headers = [
      ...forwardedHeaders(incoming.rawHeaders),
      // fail-closed: a body without a length would be read as another request, to any host.
      ...(incoming.headers['transfer-encoding'] === undefined
        ? []
        : ['Transfer-Encoding', 'chunked']),
    ];
    const common = { method: incoming.method, setHost: false };
    let outgoing: ReturnType<typeof request>;
    if (way.kind === 'direct') {
      const dialled = await dialDirect(target, way.addresses, this.#options.reach);
      if (!dialled.ok) return say(response, 502, dialled.error.text);
      const socket = this.#keep(dialled.value);
      // Without an agent, which would dial by itself.
      outgoing = request({ ...common, path, headers, createConnection: () => socket });
    } else {
      const { url, port, headers: more } = way.proxy;
      const credentials = Object.entries(more).flat();
      outgoing = request({
        ...common,
        agent: false,
        hostname: url.hostname.replace(/^\[|\]$/g, ''),
        port,
        // The judged target, not the original text.
        path: `http://${authorityOf(target)}${path}`,
        headers: [...headers, ...credentials],
      });
    }
    outgoing.on('error', (error) => say(response, 502, error.message));
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, forwardedHeaders(answer.rawHeaders));
      pipeline(answer, response, () => {});
    });
    response.on('close', () => outgoing.destroy());
    pipeline(incoming, outgoing, () => {});
  }

  async #tunnel(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const target = parseAuthority(incoming.url ?? '');
    const end = (status: string, text: string): void => {
      socket.end(
        `HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(text) + 1}\r\n\r\n${text}\n`,
      );
    };
    if (!this.#isOurs(incoming)) return end('407 Proxy Authentication Required', 'Not for you.');
    if (target === undefined) return end('400 Bad Request', 'CONNECT needs a host and a port.');
    const hosts = hostHeaders(incoming);
    const named = hosts.map((host) => parseAuthority(host, target.port)?.host);
    const isOther = hosts.length > 1 || named.some((host) => host !== target.host);
    const dialled = isOther ? this.#refuse(target, OTHER_HOST) : await this.#dial(target);
    if (!dialled.ok) {
      const { kind, text } = dialled.error;
      return end(kind === 'refused' ? '403 Forbidden' : '502 Bad Gateway', text);
    }
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    this.#join(socket, dialled.value);
  }

  /** Opens a connection for CONNECT or SOCKS. */
  async #dial(target: Target): Promise<Result<Duplex, DialFailure>> {
    const way = await this.#findWay(target, 'https');
    if (!way.ok) return way;
    return way.value.kind === 'direct'
      ? await dialDirect(target, way.value.addresses, this.#options.reach)
      : await dialThrough(way.value.proxy, target);
  }

  async #findWay(target: Target, scheme: 'http' | 'https'): Promise<Result<Way, DialFailure>> {
    const way = await findWay(target, scheme, this.#options.rules, this.#options.reach);
    const isRefused = !way.ok && way.error.kind === 'refused';
    return isRefused ? this.#refuse(target, way.error.text) : way;
  }

  #refuse({ host, port }: Target, why: string): Result<never, DialFailure> {
    this.refused.set(`${host}:${port}`, why);
    return err({ kind: 'refused', text: `${REFUSAL_MARK}: ${why}` });
  }

  #join(inside: Duplex, outside: Duplex): void {
    this.#keep(outside);
    pipeline(inside, outside, (error) => error && outside.destroy());
    pipeline(outside, inside, (error) => error && inside.destroy());
  }

  #keep(stream: Duplex): Duplex {
    this.#open.add(stream);
    stream.once('close', () => this.#open.delete(stream));
    stream.on('error', () => stream.destroy());
    return stream;
  }

  #isOurs(incoming: IncomingMessage): boolean {
    const { token } = this.#options;
    return token === undefined || incoming.headers['proxy-authorization'] === token;
  }
}

function authorityOf({ host, port }: Target): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 80 ? name : `${name}:${port}`;
}

function askForToken(response: ServerResponse): void {
  response.setHeader('proxy-authenticate', 'Basic realm="sandbox"');
  say(response, 407, 'Not for you.');
}

function say(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${text}\n`);
}

function hostHeaders({ rawHeaders }: IncomingMessage): readonly string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
}

/** Hop-by-hop headers. */
const OF_THE_CONNECTION =
  /^(?:connection|keep-alive|proxy-authenticate|proxy-authorization|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;

/** Headers that a `Connection` header must not remove. */
const OF_THE_MESSAGE = new Set(['host', 'content-length']);

/** Alternating names and values, as Node expects. */
function forwardedHeaders(raw: readonly string[]): string[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? '', raw[at + 1] ?? '']);
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/))
    .filter((name) => !OF_THE_MESSAGE.has(name));
  return pairs
    .filter(([name]) => !OF_THE_CONNECTION.test(name) && !named.includes(name.toLowerCase()))
    .flat();
}

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const NONE_FITS = 0xff;
const CONNECT = 1;
const REPLY = { done: 0, failed: 1, notAllowed: 2, unreachable: 4, badCommand: 7, badAddress: 8 };

/** Speaks SOCKS 5 until the target is known, dials it and joins the streams. */
async function serveSocks(
  connection: Duplex,
  dial: (target: Target) => Promise<Result<Duplex, DialFailure>>,
  join: (inside: Duplex, outside: Duplex) => void,
): Promise<void> {
  const [, methodCount = 0] = await take(connection, 2);
  const methods = await take(connection, methodCount);
  if (!methods.includes(NO_AUTHENTICATION)) {
    connection.end(Buffer.from([VERSION, NONE_FITS]));
    return;
  }
  connection.write(Buffer.from([VERSION, NO_AUTHENTICATION]));
  const [version, command, , kind = 0] = await take(connection, 4);
  const host = await readHost(connection, kind);
  const port = (await take(connection, 2)).readUInt16BE(0);
  const target = host === undefined ? undefined : targetOf(host, port);
  if (version !== VERSION || command !== CONNECT) return answer(connection, REPLY.badCommand);
  if (target === undefined) return answer(connection, REPLY.badAddress);
  const dialled = await dial(target);
  if (!dialled.ok) {
    const isRefused = dialled.error.kind === 'refused';
    return answer(connection, isRefused ? REPLY.notAllowed : REPLY.unreachable);
  }
  answer(connection, REPLY.done);
  join(connection, dialled.value);
}

async function readHost(connection: Duplex, kind: number): Promise<string | undefined> {
  if (kind === 1) return [...(await take(connection, 4))].join('.');
  if (kind === 3) {
    const [length = 0] = await take(connection, 1);
    return (await take(connection, length)).toString('latin1');
  }
  if (kind !== 4) return undefined;
  const bytes = await take(connection, 16);
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  return groups.join(':');
}

function answer(connection: Duplex, reply: number): void {
  const bytes = Buffer.from([VERSION, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
  if (reply === REPLY.done) connection.write(bytes);
  else connection.end(bytes);
}

/** Rejects when the stream ends early. */
function take(connection: Duplex, count: number): Promise<Buffer> {
  if (count === 0) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const bytes: Buffer | null = connection.read(count);
      if (bytes === null) return;
      done();
      if (bytes.length < count) reject(new Error('cut off'));
      else resolve(bytes);
    };
    const cut = (): void => {
      done();
      reject(new Error('cut off'));
    };
    const done = (): void => {
      connection.off('readable', look);
      connection.off('end', cut);
      connection.off('close', cut);
    };
    connection.on('readable', look);
    connection.once('end', cut);
    connection.once('close', cut);
    look();
  });
}
