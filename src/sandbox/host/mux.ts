import type { Buffer as NodeBuffer } from 'node:buffer';
import { constants, openSync } from 'node:fs';
import type { Duplex, Readable, Writable } from 'node:stream';
import { PortcullisError } from '../../errors.js';
import type { SandboxHost } from './host.js';

/** One of the connections that share the pipes. */
interface Channel {
  readonly stream: Duplex;
  /** Bytes that the other side still accepts. */
  credit: number;
  /** Received bytes not yet credited back. */
  owed: number;
  waiting: { readonly bytes: NodeBuffer; readonly done: () => void } | undefined;
  hasSentEnd: boolean;
  hasGotEnd: boolean;
}

/**
 * Multiplexes streams over a pair of pipes with flow control per stream, so that an unread stream does not
 * block others. Both sides run this class; inside the sandbox it runs from its source text, so it must not
 * refer to anything outside of itself.
 *
 * A frame is a kind byte, the stream number and a length (four bytes each), and the data.
 */
export class Multiplexer {
  readonly #make: typeof Duplex;
  readonly #out: Writable;
  readonly #opened: (stream: Duplex) => void;
  readonly #channels = new Map<number, Channel>();
  #parts: NodeBuffer[] = [];
  #length = 0;
  #next = 1;
  #isFull = false;
  #isClosed = false;

  /** `opened` receives streams that the other side opens; without it all are refused. */
  constructor(
    make: typeof Duplex,
    pipes: { readonly readable: Readable; readonly writable: Writable },
    opened?: (stream: Duplex) => void,
  ) {
    this.#make = make;
    this.#out = pipes.writable;
    this.#opened = opened ?? ((stream) => stream.destroy());
    pipes.readable.on('data', (chunk: NodeBuffer) => this.#take(chunk));
    for (const end of [pipes.readable, pipes.writable]) {
      end.on('error', () => this.close());
      end.on('close', () => this.close());
    }
    pipes.readable.on('end', () => this.close());
    pipes.writable.on('drain', () => {
      this.#isFull = false;
      for (const [id, channel] of this.#channels) this.#push(id, channel);
    });
  }

  open(): Duplex {
    const id = this.#next++;
    this.#send(1, id, 0);
    return this.#channel(id).stream;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { stream } of this.#channels.values()) stream.destroy();
    this.#channels.clear();
    this.#parts = [];
  }

  #channel(id: number): Channel {
    const stream: Duplex = new this.#make({
      allowHalfOpen: true,
      read: () => this.#repay(id),
      write: (bytes: NodeBuffer, _encoding, done) => {
        channel.waiting = { bytes, done };
        this.#push(id, channel);
      },
      final: (done) => {
        channel.hasSentEnd = true;
        this.#send(3, id, 0);
        done(null);
      },
      destroy: (_error, done) => {
        if (this.#channels.delete(id) && !(channel.hasSentEnd && channel.hasGotEnd)) {
          this.#send(4, id, 0);
        }
        done(null);
      },
    });
    const channel: Channel = {
      stream,
      credit: 262_144,
      owed: 0,
      waiting: undefined,
      hasSentEnd: false,
      hasGotEnd: false,
    };
    stream.on('error', () => {});
    this.#channels.set(id, channel);
    return channel;
  }

  /** Sends data within the credit. */
  #push(id: number, channel: Channel): void {
    while (channel.waiting !== undefined && channel.credit > 0 && !this.#isFull) {
      const { bytes, done } = channel.waiting;
      const part = bytes.subarray(0, Math.min(channel.credit, 16_384));
      const rest = bytes.subarray(part.length);
      channel.credit -= part.length;
      channel.waiting = rest.length > 0 ? { bytes: rest, done } : undefined;
      this.#send(2, id, part.length, part);
      if (rest.length === 0) done();
    }
  }

  #repay(id: number): void {
    const channel = this.#channels.get(id);
    if (channel === undefined || channel.owed === 0) return;
    const { owed } = channel;
    // Reset first, because the reply may arrive during the send.
    channel.owed = 0;
    this.#send(5, id, owed);
  }

  #send(kind: number, id: number, length: number, data?: NodeBuffer): void {
    if (this.#isClosed || this.#out.destroyed) return;
    const head = Buffer.allocUnsafe(9);
    head.writeUInt8(kind, 0);
    head.writeUInt32BE(id, 1);
    head.writeUInt32BE(length, 5);
    const frame = data === undefined ? head : Buffer.concat([head, data]);
    if (!this.#out.write(frame)) this.#isFull = true;
  }

  #take(chunk: NodeBuffer): void {
    this.#parts.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= 9 && !this.#isClosed) {
      const [first] = this.#parts;
      const all =
        first !== undefined && this.#parts.length === 1 ? first : Buffer.concat(this.#parts);
      const kind = all.readUInt8(0);
      const length = all.readUInt32BE(5);
      const size = kind === 2 ? 9 + length : 9;
      this.#parts = [all];
      // fail-closed: a malformed frame closes the connection.
      if (kind < 1 || kind > 5 || length > 262_144) {
        this.close();
        return;
      }
      if (all.length < size) return;
      this.#parts = [all.subarray(size)];
      this.#length = all.length - size;
      this.#got(kind, all.readUInt32BE(1), length, all.subarray(9, size));
    }
  }

  #got(kind: number, id: number, length: number, data: NodeBuffer): void {
    const channel = this.#channels.get(id);
    if (kind === 1) {
      // fail-closed: a duplicate number or too many streams.
      if (channel !== undefined || this.#channels.size >= 256) this.#send(4, id, 0);
      else this.#opened(this.#channel(id).stream);
    }
    if (kind === 1 || channel === undefined) return;
    if (kind === 2) {
      channel.owed += length;
      // fail-closed: data beyond the window or after the end.
      if (channel.owed > 262_144 || channel.hasGotEnd) channel.stream.destroy();
      else channel.stream.push(data);
    } else if (kind === 3 && !channel.hasGotEnd) {
      channel.hasGotEnd = true;
      channel.stream.push(null);
    } else if (kind === 4) {
      this.#channels.delete(id);
      channel.stream.destroy();
    } else if (kind === 5) {
      channel.credit = Math.min(channel.credit + length, 262_144);
      this.#push(id, channel);
    }
  }
}

/** The names of two pipes, from the program's point of view. */
export interface PipePair {
  readonly fromHost: string;
  readonly toHost: string;
}

/** Makes two pipes with `mkfifo`, which Node lacks. */
export async function makePipes(base: string, host: SandboxHost): Promise<PipePair> {
  const pipes = { fromHost: `${base}.in`, toHost: `${base}.out` };
  const mkfifo = host.program('mkfifo') ?? '/usr/bin/mkfifo';
  const made = await host.probe(mkfifo, ['-m', '600', pipes.fromHost, pipes.toHost]);
  if (made.code === 0) return pipes;
  // fail-closed: without the pipes there is no way to the proxy.
  throw new PortcullisError('io', `the sandbox cannot make its pipes: ${made.stderr.trim()}`, {
    remedy: 'Make the directory for temporary files (TMPDIR) writable.',
  });
}

/**
 * Opens the pipes and calls `serve` for each connection through them. Inside the sandbox neither sockets nor
 * the network of the host are reachable.
 */
export async function openLink(
  { fromHost, toHost }: PipePair,
  serve: (connection: Duplex) => void,
): Promise<{ close(): void }> {
  const net = await import('node:net');
  // Opened read-write, so that opening does not wait for the other side.
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
