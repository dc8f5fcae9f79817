import type { Socket } from 'node:net';
import tls from 'node:tls';
import type { Place } from './http-place.js';
import { agentFor } from './https-agent.js';

/** Of earlier connections, by place: a server that knows one is agreed with sooner. */
const sessions = new Map<string, Buffer>();
const MAX_SESSIONS = 100;

/**
 * A secure connection to a place, by a tunnel where a proxy stands before it. Loaded at the first https
 * request only: TLS costs start-up time that local models need not pay.
 */
export function dialSecure(
  { hostname, port, serverName, tunnel, key }: Place,
  take: (socket: Socket) => void,
  fail: (error: Error) => void,
): void {
  const options = { host: hostname, port, servername: serverName, ALPNProtocols: ['http/1.1'] };
  if (tunnel !== undefined) {
    agentFor(tunnel).createConnection(options, (error, socket) => {
      if (error !== null) fail(error);
      else take(socket as Socket);
    });
    return;
  }
  const session = sessions.get(key);
  const socket = tls.connect({
    ...options,
    ...(session === undefined ? {} : { session }),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 1000,
  } as tls.ConnectionOptions);
  socket.on('session', (made: Buffer) => {
    if (sessions.size >= MAX_SESSIONS) sessions.clear();
    sessions.set(key, made);
  });
  socket.once('error', () => sessions.delete(key));
  take(socket);
}
