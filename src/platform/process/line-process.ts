import type { Writable } from 'node:stream';
import { LineSplitter } from '../../lib/json.js';
import type { LineProcess, LineProcessEnd, LineProcessRequest, SpawnRequest } from './process.js';
import type { InputTaker, SupervisedChild } from './supervised-child.js';

const MAX_LINE_LENGTH = 16 * 1024 * 1024;
const MAX_PENDING_BYTES = 16 * 1024 * 1024;
const STDERR_BYTES = 64 * 1024;
/** Between the end of its output and its own, for a child that is about to end. */
const DUMB_MS = 1000;

/** A child in the custody of the supervisor whose input stays open and whose output is read by lines. */
export class LineChild implements LineProcess {
  readonly exited: Promise<LineProcessEnd>;
  readonly #child: SupervisedChild;
  readonly #maxPendingBytes: number;
  readonly #lines: LineSplitter;
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
    this.#lines = new LineSplitter(maxLineLength);
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
          // A child without output answers no request; its callers would wait until their deadlines.
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
    for (const line of this.#lines.push(chunk)) {
      if (this.#lineTooLong !== undefined) return;
      if (line !== undefined) this.#listener(line);
      else {
        this.#lineTooLong = maxLineLength;
        void this.#child.end('output');
      }
    }
  }

  async #end(): Promise<LineProcessEnd> {
    const result = await this.#child.result;
    clearTimeout(this.#dumb);
    // Unsent lines are dropped: the child that they were for has ended.
    this.#stdin?.destroy();
    if (this.#lineTooLong === undefined) {
      for (const line of this.#lines.end()) this.#listener(line);
    }
    const { exitCode, signal, stderr, startError, startErrorKind, durationMs } = result;
    const lineTooLong = this.#lineTooLong;
    return { exitCode, signal, stderr, durationMs, startError, startErrorKind, lineTooLong };
  }
}
