import type { Writable } from 'node:stream';
import type { LineProcess, LineProcessEnd, LineProcessRequest, SpawnRequest } from './process.js';
import type { InputTaker, SupervisedChild } from './supervised-child.js';

const MAX_LINE_LENGTH = 16 * 1024 * 1024;
const MAX_PENDING_BYTES = 16 * 1024 * 1024;
const STDERR_BYTES = 64 * 1024;
/** Between the end of its output and its own, for a child that is about to end. */
const DUMB_MS = 1000;

/** Starts a child in the custody of the supervisor whose input stays open and whose output is read by lines. */
export function openLineProcess(
  request: LineProcessRequest,
  start: (spawn: SpawnRequest, takeInput: InputTaker) => SupervisedChild,
): LineProcess {
  return new LineChild(request, start);
}

class LineChild implements LineProcess {
  readonly exited: Promise<LineProcessEnd>;
  readonly #child: SupervisedChild;
  readonly #maxPendingBytes: number;
  readonly #lines: LineBuffer;
  #stdin: Writable | undefined;
  #listener: (line: string) => void = () => {};
  #lineTooLong: number | undefined;
  #dumb: NodeJS.Timeout | undefined;

  constructor(
    request: LineProcessRequest,
    start: (spawn: SpawnRequest, takeInput: InputTaker) => SupervisedChild,
  ) {
    const { maxLineLength = MAX_LINE_LENGTH, maxPendingBytes, onStderr, ...spawn } = request;
    this.#maxPendingBytes = maxPendingBytes ?? MAX_PENDING_BYTES;
    this.#lines = new LineBuffer(maxLineLength, (line) => this.#listener(line));
    this.#child = start(
      {
        ...spawn,
        maxStderrBytes: spawn.maxStderrBytes ?? STDERR_BYTES,
        longLived: true,
        groupLifetimeMs: 0,
        // What it writes is handed on and not kept, and there is no end to how much that may be.
        maxOutputBytes: 0,
        maxTotalBytes: Number.POSITIVE_INFINITY,
        onOutput: (chunk, stream) => {
          if (stream === 'stdout') this.#receive(chunk, maxLineLength);
          else onStderr?.(chunk);
        },
        onOutputEnd: (stream) => {
          // What can say nothing more answers nobody, and whoever waits for it would wait for long.
          if (stream === 'stdout') this.#dumb = setTimeout(() => void this.kill(), DUMB_MS);
        },
      },
      (stdin) => {
        this.#stdin = stdin;
      },
    );
    this.exited = this.#end();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get pendingBytes(): number {
    return this.#stdin?.writableLength ?? 0;
  }

  write(line: string): boolean {
    const stdin = this.#stdin;
    if (stdin === undefined || !stdin.writable) return false;
    if (stdin.writableLength > this.#maxPendingBytes) return false;
    stdin.write(`${line}\n`);
    return true;
  }

  onLine(listener: (line: string) => void): void {
    this.#listener = listener;
  }

  stderr(): string {
    return this.#child.stderrSoFar();
  }

  closeInput(): void {
    this.#stdin?.end();
  }

  kill(): Promise<void> {
    return this.#child.end('asked');
  }

  #receive(chunk: string, maxLineLength: number): void {
    if (this.#lineTooLong !== undefined || this.#lines.push(chunk)) return;
    this.#lineTooLong = maxLineLength;
    void this.#child.end('output');
  }

  async #end(): Promise<LineProcessEnd> {
    const result = await this.#child.result;
    clearTimeout(this.#dumb);
    // Whatever had not been sent is of no use to anybody.
    this.#stdin?.destroy();
    if (this.#lineTooLong === undefined) this.#lines.end();
    const { exitCode, signal, stderr, startError, startErrorKind, durationMs } = result;
    return {
      exitCode,
      signal,
      stderr,
      durationMs,
      ...(startError !== undefined && { startError }),
      ...(startErrorKind !== undefined && { startErrorKind }),
      ...(this.#lineTooLong !== undefined && { lineTooLong: this.#lineTooLong }),
    };
  }
}

/** Text in pieces of any size becomes lines of bounded length. */
class LineBuffer {
  readonly #maxLength: number;
  readonly #emit: (line: string) => void;
  /** Pieces of a line whose end has not come yet; joined once, or a long line would cost its square. */
  #rest: string[] = [];
  #length = 0;

  constructor(maxLength: number, emit: (line: string) => void) {
    this.#maxLength = maxLength;
    this.#emit = emit;
  }

  /** False for a line that is too long; what came before it has been handed on. */
  push(chunk: string): boolean {
    let start = 0;
    for (let at = chunk.indexOf('\n'); at !== -1; at = chunk.indexOf('\n', start)) {
      if (!this.#keep(chunk.slice(start, at))) return false;
      this.end();
      start = at + 1;
    }
    return this.#keep(chunk.slice(start));
  }

  /** Hands on what is there. A last line needs no end. */
  end(): void {
    const [only = ''] = this.#rest;
    const line = this.#rest.length > 1 ? this.#rest.join('') : only;
    this.#rest = [];
    this.#length = 0;
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (text.trim() !== '') this.#emit(text);
  }

  #keep(piece: string): boolean {
    if (piece === '') return true;
    this.#length += piece.length;
    if (this.#length > this.#maxLength) return false;
    this.#rest.push(piece);
    return true;
  }
}
