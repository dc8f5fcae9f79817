import { messageOf, PortcullisError } from '../../errors.js';
import type {
  ChildOwner,
  LineProcess,
  LineProcessEnd,
  LineProcessRequest,
  ProcessResult,
  ProcessSupervisor,
  RunningProcess,
  SpawnRequest,
} from '../../platform/process/process.js';
import type { SandboxedProgram, WrappedProgram } from '../types.js';

/** A program to start and its owner. */
export interface FenceOrder extends SandboxedProgram {
  readonly owner: ChildOwner;
}

/** Wraps a program; undefined when it runs unsandboxed, and rejects when it must not run. */
type Enter = (order: FenceOrder) => Promise<WrappedProgram | undefined>;

/**
 * A supervisor that sandboxes all its children; one per kind of program, so that callers cannot forget. While
 * `isOff`, children start directly.
 */
export function fencedSupervisor(
  processes: ProcessSupervisor,
  enter: Enter,
  isOff: () => boolean = () => false,
): ProcessSupervisor {
  return {
    start: (request) =>
      isOff() ? processes.start(request) : startFenced(processes, enter, request),
    run: (request) =>
      isOff() ? processes.run(request) : startFenced(processes, enter, request).result,
    open: (request) =>
      isOff() ? processes.open(request) : new FencedLineProcess(processes, request, enter),
    killAll: () => processes.killAll(),
  };
}

/** A request as it is spawned. */
interface Entered<T> {
  /** Undefined when it must not run. */
  readonly request: T | undefined;
  readonly refusal?: string;
  /** Absent when it runs unsandboxed. */
  readonly wrapped?: WrappedProgram;
}

/** fail-closed: a sandbox that fails is reported like a program that cannot start. */
async function entered<T extends SpawnRequest | LineProcessRequest>(
  enter: Enter,
  request: T,
): Promise<Entered<T>> {
  const { command, args, cwd, env, owner = {} } = request;
  try {
    const wrapped = await enter({ command, args, cwd, env, owner });
    if (wrapped === undefined) return { request };
    const { release: _release, refusals: _refusals, ...inside } = wrapped;
    return { request: { ...request, ...inside }, wrapped };
  } catch (thrown) {
    const remedy = thrown instanceof PortcullisError ? thrown.remedy : undefined;
    const reason = `The sandbox could not be put up, so nothing was run: ${messageOf(thrown)}`;
    const refusal = remedy === undefined ? reason : `${reason}. ${remedy}`;
    return { request: undefined, refusal };
  }
}

interface Started extends RunningProcess {
  readonly started: Promise<number | undefined>;
}

function startFenced(processes: ProcessSupervisor, enter: Enter, request: SpawnRequest): Started {
  let child: RunningProcess | undefined;
  let isUnwanted = false;
  const begun = entered(enter, request).then((entry) => {
    // The start was cancelled, so the sandbox is released without running anything.
    if (entry.request !== undefined && !isUnwanted) child = processes.start(entry.request);
    return entry;
  });
  const finish = async (): Promise<ProcessResult> => {
    const { wrapped, refusal } = await begun;
    try {
      if (child === undefined) return { ...notStarted(refusal), ...NOTHING, aborted: isUnwanted };
      const result = await child.result;
      if (wrapped === undefined) return result;
      const output = result.stderr === '' ? result.stdout : `${result.stdout}\n${result.stderr}`;
      const fenced = wrapped.refusals({ exitCode: result.exitCode, output });
      return fenced === undefined ? result : { ...result, fenced };
    } finally {
      await wrapped?.release();
    }
  };
  const result = finish();
  return {
    get pid() {
      return child?.pid;
    },
    started: begun.then(() => child?.pid),
    result,
    async kill() {
      isUnwanted = true;
      await begun;
      await child?.kill();
      await result;
    },
  };
}

function notStarted(refusal = 'It was called off.'): LineProcessEnd {
  return {
    exitCode: null,
    signal: null,
    stderr: '',
    startError: refusal,
    startErrorKind: 'other',
    durationMs: 0,
  };
}

const NOTHING = { stdout: '', control: '', timedOut: false, outputBytes: 0, truncated: false };

const MAX_PENDING_BYTES = 16 * 1024 * 1024;

/** A line process that starts when its sandbox is ready; earlier writes are buffered. */
class FencedLineProcess implements LineProcess {
  readonly started: Promise<number | undefined>;
  readonly exited: Promise<LineProcessEnd>;
  #child: LineProcess | undefined;
  /** What is done to the child once it has started. */
  readonly #delayed: ((child: LineProcess) => void)[] = [];
  #waitingBytes = 0;
  #isInputClosed = false;
  #isUnwanted = false;
  #isOver = false;

  constructor(inner: Pick<ProcessSupervisor, 'open'>, request: LineProcessRequest, enter: Enter) {
    const begun = entered(enter, request).then((entry) => {
      if (entry.request === undefined || this.#isUnwanted) return entry;
      const child = inner.open(entry.request);
      this.#child = child;
      for (const action of this.#delayed) action(child);
      return entry;
    });
    this.started = begun.then(() => this.#child?.pid);
    this.exited = begun.then(async ({ wrapped, refusal }) => {
      try {
        return await (this.#child?.exited ?? notStarted(refusal));
      } finally {
        this.#isOver = true;
        await wrapped?.release();
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
    if (this.#isOver || this.#isInputClosed || this.#waitingBytes > MAX_PENDING_BYTES) return false;
    this.#delayed.push((child) => child.write(line));
    this.#waitingBytes += line.length + 1;
    return true;
  }

  onLine(listener: (line: string) => void): void {
    this.#whenStarted((child) => child.onLine(listener));
  }

  stderr(): string {
    return this.#child?.stderr() ?? '';
  }

  closeInput(): void {
    this.#isInputClosed = true;
    this.#whenStarted((child) => child.closeInput());
  }

  async kill(): Promise<void> {
    this.#isUnwanted = true;
    await this.started;
    await this.#child?.kill();
    await this.exited;
  }

  #whenStarted(action: (child: LineProcess) => void): void {
    if (this.#child === undefined) this.#delayed.push(action);
    else action(this.#child);
  }
}
