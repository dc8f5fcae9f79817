import { constants, openSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { PortcullisError } from '../../errors.js';
import { Multiplexer } from './mux.js';
import { runProbe } from './probe.js';

/** The way from a program in a network of its own to our proxy: two named pipes. */
export interface SandboxLink {
  close(): void;
}

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
 * inside there are neither sockets of this machine nor its network.
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
  const { Duplex: Stream } = await import('node:stream');
  const connections = new Multiplexer(Stream, { readable: reader, writable: writer }, serve);
  return {
    close() {
      connections.close();
      reader.destroy();
      writer.destroy();
    },
  };
}
