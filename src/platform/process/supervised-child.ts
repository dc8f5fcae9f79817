import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { LONGEST_TIMER_MS } from '../clock.js';
import { ChildStream, ControlPipe, inputFile, type Outlet } from './child-streams.js';
import { OutputCapture, SpillFile } from './output-capture.js';
import type { PipePool } from './pipe-pool.js';
import type { ProcessResult, SpawnRequest } from './process.js';
import { endTree, groupAlive, MARKER_VARIABLE, type ProcessTree } from './process-tree.js';
import { type StartError, startErrorOf } from './spawn-error.js';

const DEFAULT_OUTPUT_BYTES = 1024 * 1024;
const DEFAULT_SPILL_BYTES = 64 * 1024 * 1024;
const DEFAULT_TOTAL_BYTES = 5 * 1024 * 1024 * 1024;
/** Between SIGTERM and SIGKILL. */
const GRACE_MS = 2000;
/** How long the output of a child that has ended is waited for while others hold its pipes. */
const DRAIN_MS = 100;

/** What a child needs of its supervisor. */
export interface ChildHost {
  readonly pipes: PipePool;
  /** Unique to this child; every descendant inherits it. */
  readonly marker: string;
  /** Markers of the supervisors that we ourselves run under, so that they find our children too. */
  readonly outerMarkers: string;
  /** The child has been started. */
  started(child: SupervisedChild): void;
  /** The child has ended. `leftRunning`: members of its group have not. */
  finished(child: SupervisedChild, leftRunning: boolean): void;
}

type EndReason = 'deadline' | 'abort' | 'output' | 'asked';

/** Takes over the standard input of a child that has been started, which then stays open. */
export type InputTaker = (stdin: Writable) => void;

/** One child process: started, read, timed, ended. */
export class SupervisedChild {
  readonly request: SpawnRequest;
  readonly result: Promise<ProcessResult>;
  /** Milliseconds since 1970. */
  readonly since = Date.now();
  readonly #host: ChildHost;
  readonly #takeInput: InputTaker | undefined;
  #startedAt = performance.now();
  readonly #stdout: OutputCapture;
  readonly #stderr: OutputCapture | undefined;
  readonly #spill: SpillFile | undefined;
  #streams: readonly ChildStream[] = [];
  #control: ControlPipe | undefined;
  #process: ChildProcess | undefined;
  #resolve: (result: ProcessResult) => void = () => {};
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  #endReason: EndReason | undefined;
  #ending: Promise<void> | undefined;
  #treeGone = false;
  #drained = false;
  #deadline: NodeJS.Timeout | undefined;
  #drain: NodeJS.Timeout | undefined;
  #onAbort: (() => void) | undefined;
  #settled = false;

  constructor(request: SpawnRequest, host: ChildHost, takeInput?: InputTaker) {
    this.request = request;
    this.#host = host;
    this.#takeInput = takeInput;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const cap = request.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES;
    if (request.spillFile !== undefined) {
      this.#spill = new SpillFile({
        file: request.spillFile,
        cap: request.maxSpillBytes ?? DEFAULT_SPILL_BYTES,
        fromStart: request.spillFromStart ?? false,
      });
    }
    this.#stdout = new OutputCapture({ cap, spill: this.#spill });
    if (!request.mergeStderr) {
      this.#stderr = new OutputCapture({ cap: request.maxStderrBytes ?? cap });
    }
    if (request.signal?.aborted) {
      this.#endReason = 'abort';
      this.#settle(undefined);
    } else this.#start();
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Undefined when it never started. */
  get tree(): ProcessTree | undefined {
    const group = this.pid;
    return group === undefined ? undefined : { group, marker: this.#host.marker };
  }

  /** What it wrote to standard error so far, as far as it is kept. */
  stderrSoFar(): string {
    return this.#stderr?.text() ?? '';
  }

  /** Ends the whole tree. Resolves when it is gone and the result is there. */
  async end(reason: EndReason, graceMs: number = this.request.graceMs ?? GRACE_MS): Promise<void> {
    const tree = this.tree;
    if (tree !== undefined && !this.#settled && this.#ending === undefined) {
      this.#endReason = reason;
      this.#ending = endTree(tree, graceMs);
      void this.#ending.then(() => {
        this.#treeGone = true;
        this.#settleWhenDone();
      });
    }
    await this.#ending;
    await this.result;
  }

  #start(): void {
    const { request } = this;
    const stdout = this.#stream(this.#stdout, 'stdout');
    const stderr = this.#stderr && this.#stream(this.#stderr, 'stderr');
    this.#streams = stderr === undefined ? [stdout] : [stdout, stderr];
    if (request.controlPipe) this.#control = new ControlPipe(this.#host.pipes);
    try {
      this.#process = this.#spawn(stdout.outlet, stderr?.outlet);
    } catch (thrown) {
      this.#failedToStart(thrown);
      return;
    }
    const child = this.#process;
    child.once('error', (thrown) => {
      if (child.pid === undefined) this.#failedToStart(thrown);
    });
    // The error that tells why comes with the next tick.
    if (child.pid === undefined) return;
    stdout.open(child.stdout);
    stderr?.open(child.stderr);
    // Where Node makes the pipes, two cannot be one: order of arrival is the best there is.
    if (stderr === undefined && child.stderr !== null) this.#readMerged(child.stderr);
    this.#control?.open(child.stdio[3]);
    child.once('exit', (code, signal) => this.#exited(code, signal));
    this.#feed(child);
    this.#listenForAbort();
    this.#host.started(this);
    this.#startDeadline();
  }

  #spawn(stdout: Outlet, stderr: Outlet | undefined): ChildProcess {
    const { request } = this;
    const host = this.#host;
    const input = this.#input();
    const stdio: (Outlet | 'ignore')[] = [input, stdout, stderr ?? stdout];
    if (this.#control !== undefined) stdio.push(this.#control.outlet);
    try {
      return spawn(request.command, request.args, {
        cwd: request.cwd,
        env: { ...request.env, [MARKER_VARIABLE]: host.outerMarkers + host.marker },
        detached: true,
        windowsHide: true,
        stdio,
      });
    } finally {
      // The child has its own copy.
      if (typeof input === 'number') closeSync(input);
    }
  }

  #input(): Outlet | 'ignore' {
    if (this.#takeInput !== undefined) return 'pipe';
    const { input } = this.request;
    return input === undefined ? 'ignore' : (inputFile(input) ?? 'pipe');
  }

  #stream(
    capture: OutputCapture,
    name: 'stdout' | 'stderr',
    source: { readonly madeByNode: boolean } = { madeByNode: false },
  ): ChildStream {
    const { onOutput, onOutputEnd } = this.request;
    return new ChildStream({
      pipes: source.madeByNode ? undefined : this.#host.pipes,
      capture,
      onChunk: onOutput && ((text) => onOutput(text, name)),
      onBytes: () => this.#checkTotal(),
      onEnd: () => {
        onOutputEnd?.(name);
        this.#settleWhenDone();
      },
    });
  }

  #readMerged(source: Readable): void {
    const stream = this.#stream(this.#stdout, 'stdout', { madeByNode: true });
    this.#streams = [...this.#streams, stream];
    stream.open(source);
  }

  #feed(child: ChildProcess): void {
    // Absent where the child has a file or nothing to read.
    if (child.stdin === null) return;
    child.stdin.on('error', () => {
      // The child closed its input or ended: it did not want the rest.
    });
    if (this.#takeInput !== undefined) this.#takeInput(child.stdin);
    else child.stdin.end(this.request.input);
  }

  #startDeadline(): void {
    const { timeoutMs } = this.request;
    if (this.#exit !== undefined || timeoutMs === undefined || timeoutMs > LONGEST_TIMER_MS) return;
    this.#deadline = setTimeout(() => void this.end('deadline'), timeoutMs);
  }

  #listenForAbort(): void {
    const { signal } = this.request;
    if (signal !== undefined) {
      this.#onAbort = () => void this.end('abort');
      signal.addEventListener('abort', this.#onAbort, { once: true });
    }
  }

  #checkTotal(): void {
    const limit = this.request.maxTotalBytes ?? DEFAULT_TOTAL_BYTES;
    if (this.#totalBytes() > limit) void this.end('output');
  }

  #exited(code: number | null, signal: string | null): void {
    this.#exit = { code, signal };
    clearTimeout(this.#deadline);
    this.#settleWhenDone();
    if (this.#settled) return;
    this.#drain = setTimeout(() => {
      // fail-closed: timers run before pipes are read. After a stall the output of this child may still be unread, and
      // a guard without output has no objection.
      setImmediate(() => {
        this.#drained = true;
        this.#settleWhenDone();
      });
    }, DRAIN_MS);
  }

  /** Settles once the child has ended, its output is read and the processes ended with it are gone. */
  #settleWhenDone(): void {
    if (this.#exit === undefined) return;
    if (this.#ending !== undefined && !this.#treeGone) return;
    if (this.#drained || this.#streams.every((stream) => stream.ended)) this.#settle(undefined);
  }

  #failedToStart(thrown: unknown): void {
    for (const stream of this.#streams) stream.discard();
    this.#control?.discard();
    this.#control = undefined;
    this.#streams = [];
    this.#settle(startErrorOf(this.request, thrown));
  }

  #settle(startError: StartError | undefined): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#drain);
    if (this.#onAbort !== undefined) {
      this.request.signal?.removeEventListener('abort', this.#onAbort);
    }
    const control = this.#control?.take() ?? '';
    for (const stream of this.#streams) stream.release();
    this.#spill?.close();
    const leftRunning = this.pid !== undefined && groupAlive(this.pid);
    if (this.pid !== undefined) this.#host.finished(this, leftRunning);
    this.#resolve({ ...this.#outcome(), control, leftRunning, ...startError });
  }

  #outcome(): Omit<ProcessResult, 'control' | 'startError'> {
    return {
      exitCode: this.#exit?.code ?? null,
      signal: this.#exit?.signal ?? null,
      stdout: this.#stdout.text(),
      stderr: this.#stderr?.text() ?? '',
      timedOut: this.#endReason === 'deadline',
      aborted: this.#endReason === 'abort',
      outputLimitHit: this.#endReason === 'output',
      outputBytes: this.#totalBytes(),
      truncated: this.#stdout.truncated || this.#stderr?.truncated === true,
      stdoutTruncated: this.#stdout.truncated,
      spilledTo: this.#spill?.path,
      durationMs: performance.now() - this.#startedAt,
    };
  }

  #totalBytes(): number {
    return this.#stdout.bytes + (this.#stderr?.bytes ?? 0);
  }
}
