import type {
  LineProcess,
  LineProcessEnd,
  LineProcessRequest,
  ProcessSupervisor,
} from '../../platform/process/process.js';
import { programOf, type WrapResult } from '../types.js';

const MAX_PENDING_BYTES = 16 * 1024 * 1024;

/** A line process that starts once its fence stands. What is written before waits for it. */
export class FencedLineProcess implements LineProcess {
  readonly started: Promise<number | undefined>;
  readonly exited: Promise<LineProcessEnd>;
  readonly #maxPendingBytes: number;
  #child: LineProcess | undefined;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #isInputClosed = false;
  #isUnwanted = false;
  #isOver = false;
  #listener: (line: string) => void = () => {};

  constructor(
    inner: Pick<ProcessSupervisor, 'open'>,
    request: LineProcessRequest,
    enter: () => Promise<WrapResult>,
  ) {
    this.#maxPendingBytes = request.maxPendingBytes ?? MAX_PENDING_BYTES;
    const begun = enter().then((way) => ({ way, child: this.#begin(inner, request, way) }));
    this.started = begun.then(({ child }) => child?.pid);
    this.exited = begun.then(async ({ way, child }) => {
      try {
        return await (child?.exited ?? neverStarted(way));
      } finally {
        this.#isOver = true;
        if (way.kind === 'inside') await way.wrapped.release();
      }
    });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get pendingBytes(): number {
    return this.#child?.pendingBytes ?? this.#waitingBytes;
  }

  write(line: string): boolean {
    if (this.#child !== undefined) return this.#child.write(line);
    if (this.#isOver || this.#isInputClosed || this.#waitingBytes > this.#maxPendingBytes) {
      return false;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.length + 1;
    return true;
  }

  onLine(listener: (line: string) => void): void {
    this.#listener = listener;
    this.#child?.onLine(listener);
  }

  stderr(): string {
    return this.#child?.stderr() ?? '';
  }

  closeInput(): void {
    this.#isInputClosed = true;
    this.#child?.closeInput();
  }

  async kill(): Promise<void> {
    this.#isUnwanted = true;
    await this.started;
    await this.#child?.kill();
    await this.exited;
  }

  #begin(
    inner: Pick<ProcessSupervisor, 'open'>,
    request: LineProcessRequest,
    way: WrapResult,
  ): LineProcess | undefined {
    if (way.kind === 'refused' || this.#isUnwanted) return undefined;
    const child = inner.open(
      way.kind === 'inside' ? { ...request, ...programOf(way.wrapped) } : request,
    );
    child.onLine((line) => this.#listener(line));
    this.#child = child;
    for (const line of this.#waiting) child.write(line);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#isInputClosed) child.closeInput();
    return child;
  }
}

function neverStarted(way: WrapResult): LineProcessEnd {
  const startError = way.kind === 'refused' ? way.reason : 'It was called off.';
  return {
    exitCode: null,
    signal: null,
    stderr: '',
    startError,
    startErrorKind: 'other',
    durationMs: 0,
  };
}
