import type { ClientOptions, RawData, WebSocket } from 'ws';
import { HttpError } from './http-error.js';
import { type ProxyEnvironment, proxyFor } from './http-proxy.js';

export interface TextSocketRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A larger message ends the connection. */
  readonly maxMessageBytes: number;
  readonly connectTimeoutMs: number;
  readonly environment: ProxyEnvironment;
  /** Offered first; a server that knows of none gets a second attempt without it. */
  readonly subprotocol?: string;
  readonly onText: (text: string) => void;
  /** Called once, whether the server or this side closed it. */
  readonly onClose: () => void;
}

/** A WebSocket that carries text. */
export interface TextSocket {
  /** Rejects when it could not be handed to the network. */
  send(text: string): Promise<void>;
  /** Resolves when it is closed, at the latest after the grace. */
  close(graceMs: number): Promise<void>;
}

/** The server answered the opening with something else than a WebSocket. */
export class SocketRefused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the opening of the socket was answered with HTTP ${status}`);
    this.name = 'SocketRefused';
    this.status = status;
  }
}

/** Bytes that may wait for a server that does not read. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

/** Follows no redirect, speaks through the proxy of the environment, compresses nothing. */
export async function openTextSocket(request: TextSocketRequest): Promise<TextSocket> {
  const ws = await import('ws');
  const options = await optionsFor(request);
  const open = (protocols: string[]): Promise<TextSocket> =>
    opened(new ws.WebSocket(request.url, protocols, options), request);
  if (request.subprotocol === undefined) return open([]);
  try {
    return await open([request.subprotocol]);
  } catch (thrown) {
    const knowsNone = thrown instanceof Error && /sent no subprotocol/i.test(thrown.message);
    if (!knowsNone) throw thrown;
    return open([]);
  }
}

async function optionsFor(request: TextSocketRequest): Promise<ClientOptions> {
  const target = new URL(request.url);
  const isSecure = target.protocol === 'wss:';
  const asHttp = new URL(target.href.replace(/^ws/, 'http'));
  const proxy = proxyFor(asHttp, request.environment);
  if (proxy !== undefined && !isSecure) {
    // fail-closed: going round the proxy in silence would be worse.
    throw new HttpError('proxy', 'a plain ws: address cannot be reached through a proxy; use wss:');
  }
  const base: ClientOptions = {
    headers: { ...request.headers },
    maxPayload: request.maxMessageBytes,
    handshakeTimeout: request.connectTimeoutMs,
    perMessageDeflate: false,
    followRedirects: false,
    // Done below, with a bound.
    autoPong: false,
  };
  if (proxy === undefined) return base;
  const { agentFor } = await import('./https-agent.js');
  return { ...base, agent: agentFor(proxy.url) };
}

function opened(socket: WebSocket, request: TextSocketRequest): Promise<TextSocket> {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    socket.on('open', () => {
      isOpen = true;
      resolve({ send: (text) => sendText(socket, text), close: (ms) => closeSocket(socket, ms) });
    });
    socket.on('message', (data: RawData, isBinary: boolean) => {
      if (!isBinary) request.onText(data.toString());
    });
    socket.on('ping', (data: Buffer) => {
      // fail-closed: a server that pings without end and reads no pong would fill the memory with them.
      if (socket.bufferedAmount > MOST_WAITING_BYTES) socket.terminate();
      else socket.pong(data);
    });
    socket.on('unexpected-response', (outgoing, response) => {
      reject(new SocketRefused(response.statusCode ?? 0));
      outgoing.destroy();
    });
    socket.on('error', (error: Error) => {
      reject(error);
      // A message that is too large, or no frame at all: nothing that follows can be understood.
      if (isOpen) socket.terminate();
    });
    socket.on('close', () => {
      if (isOpen) request.onClose();
    });
  });
}

function sendText(socket: WebSocket, text: string): Promise<void> {
  if (socket.bufferedAmount > MOST_WAITING_BYTES) {
    return Promise.reject(new HttpError('timeout', 'the server does not read what it is sent'));
  }
  return new Promise((resolve, reject) => {
    socket.send(text, (error) => (error ? reject(error) : resolve()));
  });
}

async function closeSocket(socket: WebSocket, graceMs: number): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      socket.terminate();
      resolve();
    }, graceMs);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.close();
  });
}
