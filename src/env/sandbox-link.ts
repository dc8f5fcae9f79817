import { constants, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { PortcullisError } from '../errors.js';
import { runProbe } from './sandbox-probe.js';

/** The way from a program in a network of its own to our proxy: two named pipes. */
export interface SandboxLink {
  close(): void;
}

const MOST_CONNECTIONS = 256;

/** Names of two pipes: for the program's side to read from, and to write to. */
export interface PipePair {
  readonly fromHost: string;
  readonly toHost: string;
}

const BATCH = 8;

/** Makes pipes a few at a time: Node cannot, so it takes a program. Each pair is used once. */
export function pipePairs(fresh: () => string, mkfifo: string): () => Promise<PipePair> {
  const ready: PipePair[] = [];
  return async () => {
    const found = ready.pop();
    if (found !== undefined) return found;
    const pairs = Array.from({ length: BATCH }, fresh).map((base) => ({
      fromHost: `${base}.in`,
      toHost: `${base}.out`,
    }));
    const names = pairs.flatMap(({ fromHost, toHost }) => [fromHost, toHost]);
    const made = await runProbe(mkfifo, ['-m', '600', ...names]);
    const [first, ...rest] = pairs;
    if (made.code !== 0 || first === undefined) {
      // fail-closed: without the pipes there is no way to the proxy, and no other way is offered.
      throw new PortcullisError('io', `the sandbox cannot make its pipes: ${made.stderr.trim()}`, {
        remedy: 'Make the directory for temporary files (TMPDIR) writable.',
      });
    }
    ready.push(...rest);
    return first;
  };
}

/**
 * Opens the pipes and calls `serve` with each connection that comes through them. Pipes, because
 * inside there are neither sockets of this machine nor its network. Many connections share them
 * through HTTP/2, which Node has on both sides and which keeps a slow one from stopping the others.
 */
export async function openLink(
  { fromHost, toHost }: PipePair,
  serve: (connection: Duplex) => void,
): Promise<SandboxLink> {
  const net = await import('node:net');
  // For both ways at once, so that opening does not wait for the other side.
  const writer = new net.Socket({
    fd: openSync(fromHost, constants.O_RDWR | constants.O_NONBLOCK),
    readable: false,
    writable: true,
  });
  const reader = new net.Socket({
    fd: openSync(toHost, constants.O_RDONLY | constants.O_NONBLOCK),
    readable: true,
    writable: false,
  });
  for (const end of [reader, writer]) end.on('error', () => end.destroy());
  let session: { destroy(): void } | undefined;
  // Most programs never connect, and HTTP/2 takes a while to load.
  reader.once('readable', () => {
    void startSession(reader, writer, serve).then((started) => {
      session = started;
    });
  });
  return {
    close() {
      session?.destroy();
      reader.destroy();
      writer.destroy();
    },
  };
}

async function startSession(
  readable: Socket,
  writable: Socket,
  serve: (connection: Duplex) => void,
): Promise<{ destroy(): void } | undefined> {
  const [http2, stream] = await Promise.all([import('node:http2'), import('node:stream')]);
  if (readable.destroyed) return undefined;
  const session = http2.performServerHandshake(stream.Duplex.from({ readable, writable }), {
    settings: { maxConcurrentStreams: MOST_CONNECTIONS, initialWindowSize: 1 << 18 },
  });
  session.setLocalWindowSize(1 << 26);
  session.on('error', () => session.destroy());
  session.on('stream', (incoming) => {
    incoming.on('error', () => incoming.destroy());
    incoming.respond({ ':status': 200 });
    // Wrapped, because Node's HTTP server writes to a stream of HTTP/2 in ways that it does not take.
    const connection = stream.Duplex.from({ readable: incoming, writable: incoming });
    connection.on('error', () => incoming.destroy());
    serve(connection);
  });
  return session;
}
