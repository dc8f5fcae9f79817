import type { Socket } from 'node:net';
import tls from 'node:tls';
import { KEEP_ALIVE_PROBE_MS, type Place } from './http-place.js';
import { openTunnel } from './https-agent.js';

/** Of earlier connections, by place: a server that knows one is agreed with sooner. */
const sessions = new Map<string, Buffer>();
const MAX_SESSIONS = 100;

/**
 * A secure connection to a place, by a tunnel where a proxy stands before it. Loaded at the first https
 * request only: TLS costs start-up time that local models need not pay.
 */
export function dialSecure(
  { hostname, port, serverName, tunnel, key }: Place,
  {
    take,
    fail,
    signal,
  }: {
    take(socket: Socket): void;
    fail(error: Error): void;
    /** Nobody waits for it any more. */
    readonly signal: AbortSignal;
  },
): void {
  if (signal.aborted) return;
  const options = { host: hostname, port, servername: serverName, ALPNProtocols: ['http/1.1'] };
  if (tunnel !== undefined) {
    const request = openTunnel(tunnel, options, (error, socket) => {
      if (socket === undefined) fail(error ?? new Error('no connection was made'));
      else take(socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_PROBE_MS));
    });
    signal.addEventListener('abort', () => request.destroy(), { once: true });
    return;
  }
  const session = sessions.get(key);
  const socket = tls.connect({
    ...options,
    ...(session === undefined ? {} : { session }),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
  } as tls.ConnectionOptions);
  socket.on('session', (made: Buffer) => {
    if (sessions.size >= MAX_SESSIONS) sessions.clear();
    sessions.set(key, made);
  });
  socket.once('error', () => sessions.delete(key));
  take(socket);
}
