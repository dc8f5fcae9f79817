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
import {
  programOf,
  type SandboxedProgram,
  type WrappedProgram,
  type WrapResult,
} from '../types.js';

/** A program that is about to be started, and whose it is. */
export interface FenceOrder extends SandboxedProgram {
  readonly owner: ChildOwner;
}

/** The program inside the fence; undefined where it is to run as it is. Rejects: it must not run. */
export type Enter = (order: FenceOrder) => Promise<WrappedProgram | undefined>;

/**
 * A supervisor whose children are all fenced in: whoever has it cannot start one without. One of
 * these is made for each kind of program, so that nobody has to remember. `isOff`: nobody wants a
 * fence now, and children start at once.
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
      isOff()
        ? processes.open(request)
        : new FencedLineProcess(processes, request, () => entered(enter, request)),
    killAll: () => processes.killAll(),
  };
}

type Request = Pick<
  SpawnRequest | LineProcessRequest,
  'command' | 'args' | 'cwd' | 'env' | 'owner'
>;

/** fail-closed: a fence that cannot be put up is told like a program that cannot be started. */
async function entered(enter: Enter, request: Request): Promise<WrapResult> {
  const { command, args, cwd, env, owner = {} } = request;
  try {
    const wrapped = await enter({ command, args, cwd, env, owner });
    return wrapped === undefined ? { kind: 'as-is' } : { kind: 'inside', wrapped };
  } catch (thrown) {
    const remedy = thrown instanceof PortcullisError ? thrown.remedy : undefined;
    const reason = `The sandbox could not be put up, so nothing was run: ${messageOf(thrown)}`;
    return { kind: 'refused', reason: remedy === undefined ? reason : `${reason}. ${remedy}` };
  }
}

interface Started extends RunningProcess {
  readonly started: Promise<number | undefined>;
}

function startFenced(processes: ProcessSupervisor, enter: Enter, request: SpawnRequest): Started {
  let child: RunningProcess | undefined;
  let isUnwanted = false;
  const begin = async (): Promise<{ way: WrapResult; child: RunningProcess | undefined }> => {
    const way = await entered(enter, request);
    // Nobody waits any more: what was put up is taken down, and nothing starts.
    if (way.kind === 'refused' || isUnwanted) return { way, child: undefined };
    child = processes.start(
      way.kind === 'inside' ? { ...request, ...programOf(way.wrapped) } : request,
    );
    return { way, child };
  };
  const begun = begin();
  const finish = async (): Promise<ProcessResult> => {
    const { way, child: running } = await begun;
    const wrapped = way.kind === 'inside' ? way.wrapped : undefined;
    try {
      if (running === undefined) {
        return notStarted(way.kind === 'refused' ? way.reason : 'It was called off.', isUnwanted);
      }
      const result = await running.result;
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
    started: begun.then(({ child: running }) => running?.pid),
    result,
    async kill() {
      isUnwanted = true;
      const { child: running } = await begun;
      await running?.kill();
      await result;
    },
  };
}

function notStarted(reason: string, aborted: boolean): ProcessResult {
  return {
    exitCode: null,
    signal: null,
    stdout: '',
    stderr: '',
    control: '',
    timedOut: false,
    aborted,
    startError: reason,
    startErrorKind: 'other',
    outputBytes: 0,
    truncated: false,
    durationMs: 0,
  };
}

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
