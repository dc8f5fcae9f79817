import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { randomBytes } from '../random.js';
import type { OutputCapture } from './output-capture.js';
import type { Pipe, PipePool } from './pipe-pool.js';

/** What goes into the `stdio` list of a spawn: a descriptor of ours, or a pipe that Node makes. */
export type Outlet = number | 'pipe';

/** Bytes that a process left behind may still write before its pipe is closed. */
const LEFT_BEHIND_BYTES = 64 * 1024 * 1024;

export interface StreamOptions {
  /** Absent: the stream comes from Node. */
  readonly pipes: PipePool | undefined;
  readonly capture: OutputCapture;
  readonly onChunk: ((text: string) => void) | undefined;
  /** Called for each chunk with its size, after it was kept. */
  readonly onBytes: () => void;
  readonly onEnd: () => void;
}

/** One output stream of a child, from the pipe into the capture. */
export class ChildStream {
  readonly #options: StreamOptions;
  #pipe: Pipe | undefined;
  readonly #decoder: StringDecoder | undefined;
  #source: Readable | undefined;
  #ended = false;
  #released = false;
  #afterwards = 0;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#pipe = options.pipes?.take();
    if (options.onChunk !== undefined) this.#decoder = new StringDecoder('utf8');
  }

  get outlet(): Outlet {
    return this.#pipe?.writeFd ?? 'pipe';
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Starts reading. Must follow the spawn, which has given the child its own copy of the write end. */
  open(fromNode: Readable | null | undefined): void {
    this.#source = this.#ownSource() ?? fromNode ?? undefined;
    if (this.#source === undefined) {
      this.#end();
      return;
    }
    this.#source.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#source.once('end', () => this.#end());
    // A read error ends the output like its end does; what came before is kept.
    this.#source.once('error', () => this.#end());
  }

  /** For a spawn that failed: gives back what was taken. */
  discard(): void {
    if (this.#pipe === undefined) return;
    closeSync(this.#pipe.writeFd);
    this.#options.pipes?.give(this.#pipe.readFd, { ended: true });
  }

  /**
   * The result is complete and further output is dropped. A process that still holds the pipe may go on
   * writing to it (a server started with `&` must not die of its next log line), within reason.
   */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    if (this.#ended) return;
    if (this.#pipe !== undefined) this.#options.pipes?.give(this.#pipe.readFd, { ended: false });
    if (this.#source instanceof Socket) this.#source.unref();
  }

  #ownSource(): Readable | undefined {
    const pipe = this.#pipe;
    if (pipe === undefined) return undefined;
    // In this order: a read end that is opened while there is no writer never gets the end of file.
    const fd = this.#secondReader(pipe);
    closeSync(pipe.writeFd);
    return new Socket({ fd, readable: true, writable: false });
  }

  #secondReader(pipe: Pipe): number {
    try {
      if (this.#options.pipes !== undefined) return this.#options.pipes.reader(pipe);
    } catch {
      // Out of descriptors: the pipe is used up by this child instead of going back.
    }
    this.#pipe = undefined;
    return pipe.readFd;
  }

  #receive(chunk: Buffer): void {
    if (this.#released) {
      this.#afterwards += chunk.length;
      if (this.#afterwards > LEFT_BEHIND_BYTES) this.#source?.destroy();
      return;
    }
    this.#options.capture.push(chunk);
    if (this.#decoder !== undefined) this.#emit(this.#decoder.write(chunk));
    this.#options.onBytes();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#released) return;
    if (this.#decoder !== undefined) this.#emit(this.#decoder.end());
    if (this.#pipe !== undefined) this.#options.pipes?.give(this.#pipe.readFd, { ended: true });
    this.#options.onEnd();
  }

  #emit(text: string): void {
    if (text !== '') this.#options.onChunk?.(text);
  }
}

/** The extra pipe at descriptor 3. Read in one go when the child has ended. */
export class ControlPipe {
  readonly #pipes: PipePool;
  readonly #pipe: Pipe | undefined;
  #fromNode = '';

  constructor(pipes: PipePool) {
    this.#pipes = pipes;
    this.#pipe = pipes.take();
  }

  get outlet(): Outlet {
    return this.#pipe?.writeFd ?? 'pipe';
  }

  open(fromNode: unknown): void {
    if (this.#pipe !== undefined) closeSync(this.#pipe.writeFd);
    if (!(fromNode instanceof Socket)) return;
    fromNode.setEncoding('utf8');
    fromNode.on('data', (text: string) => {
      this.#fromNode += text;
    });
    fromNode.on('error', () => {
      // Ends like the end of the stream; what came before counts.
    });
    fromNode.unref();
  }

  discard(): void {
    if (this.#pipe === undefined) return;
    closeSync(this.#pipe.writeFd);
    this.#pipes.give(this.#pipe.readFd, { ended: true });
  }

  take(): string {
    if (this.#pipe === undefined) return this.#fromNode;
    const { data, ended } = this.#pipes.readAll(this.#pipe.readFd);
    this.#pipes.give(this.#pipe.readFd, { ended });
    return data.toString('utf8');
  }
}

/** In memory where the system has such a place, so that the input of a child does not reach a disk. */
const PLACES: readonly (() => string)[] = [() => '/dev/shm', tmpdir];

/**
 * The whole input of a child as a file without a name, to be given to it as standard input and closed
 * here afterwards. Node's own connection is a socket, which cannot be opened by name: a script that
 * reads `/dev/stdin` would get an error and go on, and a guard without input lets calls pass.
 * Undefined where no such file can be made: Node's own is better than none.
 */
export function inputFile(input: string | Uint8Array): number | undefined {
  if (process.platform === 'win32') return undefined;
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  for (const place of PLACES) {
    const fd = unnamedFile(place());
    if (fd === undefined) continue;
    if (fill(fd, bytes)) return fd;
    closeSync(fd);
  }
  return undefined;
}

function unnamedFile(directory: string): number | undefined {
  const file = join(directory, `portcullis-input-${randomBytes(12).toString('hex')}`);
  try {
    const fd = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    unlinkSync(file);
    return fd;
  } catch {
    // No such directory, or not ours to write.
    return undefined;
  }
}

/** By position, so that the child starts to read at the beginning. */
function fill(fd: number, bytes: Uint8Array): boolean {
  try {
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(fd, bytes, at, bytes.length - at, at);
    }
    return true;
  } catch {
    // Full: there may be room in the next place.
    return false;
  }
}
