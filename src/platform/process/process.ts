import type { AgentRef } from '../../protocol/agent-ref.js';

/** What a child is for, as `portcullis ps` lists it. */
export type ChildKind = 'mcp' | 'hook' | 'shell' | 'other';

/** Whose child it is. A supervisor that fences children in goes by it, others pass it over. */
export interface ChildOwner {
  /** Absent: the session's own. */
  readonly agent?: AgentRef;
  /** The directories that the agent works in. Absent: the session's. */
  readonly roots?: readonly string[];
  /** The server that the child is, as it is configured. */
  readonly server?: string;
  /** Why the gate let this one run outside of the fence. Absent: it did not. */
  readonly outside?: string;
}

/**
 * One supervisor for every child process: shells, hooks, MCP servers. Each child leads a process
 * group of its own, has a deadline, a bounded output and a minimal environment, and is listed in a
 * registry on disk so that nothing survives us unnoticed.
 */
export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The child's whole environment; see `minimalEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to standard input, which is then closed. Absent: standard input is /dev/null. */
  readonly input?: string | Uint8Array;
  /** Kills the whole group when it passes. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Between the polite signal and the final one when it has to be ended. Default 2 s. */
  readonly graceMs?: number;
  /**
   * Age in milliseconds from which nothing of its group may run: what a child that has ended left in the
   * background is ended then, at once when that age is past. Absent: such processes live as long as we.
   */
  readonly groupLifetimeMs?: number;
  /** Bytes of standard output kept in memory; the rest goes to `spillFile` when given, else is dropped and counted. */
  readonly maxOutputBytes?: number;
  /** The same for standard error. Absent: as for standard output. */
  readonly maxStderrBytes?: number;
  /** Where the whole output goes once it is longer than that. A function is called when it is needed. */
  readonly spillFile?: string | (() => string);
  /** Writes the spill file from the first byte on, for output that is followed while it grows. */
  readonly spillFromStart?: boolean;
  /** Bytes the spill file may hold; what comes later is counted and dropped. Default 64 MiB. */
  readonly maxSpillBytes?: number;
  /** Ends the group once it has written this much. Default 5 GB. */
  readonly maxTotalBytes?: number;
  /** Both streams into one, in the order written. */
  readonly mergeStderr?: boolean;
  /** What the registry and `portcullis ps` call it. */
  readonly label: string;
  /** What it is for. Absent: the label tells (`childKind`). */
  readonly kind?: ChildKind;
  /**
   * Meant to live for a while (background shells, servers): listed in the registry and guarded by the
   * watchdog at once, where other children are only once they have run for a moment.
   */
  readonly longLived?: boolean;
  /**
   * Extra pipe that the child may write to as file descriptor 3; its text comes back as `control`.
   * Read when the child has ended: what does not fit into a pipe (64 KiB) blocks the child.
   */
  readonly controlPipe?: boolean;
  readonly onOutput?: (chunk: string, stream: 'stdout' | 'stderr') => void;
  /** Nothing more comes from there: it has closed it, or ended. */
  readonly onOutputEnd?: (stream: 'stdout' | 'stderr') => void;
  readonly owner?: ChildOwner;
}

export type StartErrorKind = 'program-missing' | 'directory' | 'too-long' | 'other';

export interface ProcessResult {
  /** Null when the child was ended by a signal or could not start. Never coerced to 0. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly control: string;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  /** Set when the program could not be started at all. */
  readonly startError?: string;
  /** What was in the way, for callers that can do something about it. */
  readonly startErrorKind?: StartErrorKind;
  readonly outputBytes: number;
  readonly truncated: boolean;
  /** Standard output, and not only standard error, was longer than what is kept. */
  readonly stdoutTruncated?: boolean;
  readonly spilledTo?: string;
  /** The child was ended because it wrote more than `maxTotalBytes`. */
  readonly outputLimitHit?: boolean;
  /** The child has ended, but processes it started in the background still run. */
  readonly leftRunning?: boolean;
  /** What a fence kept it from, as far as that can be told, in words for the model. */
  readonly fenced?: string;
  readonly durationMs: number;
}

export interface RunningProcess {
  readonly pid: number | undefined;
  /** Where something has to be done before it can start: its pid, once that is known. */
  readonly started?: Promise<number | undefined>;
  readonly result: Promise<ProcessResult>;
  /** Ends the whole group: first politely, then for good. Resolves when it is gone. */
  kill(): Promise<void>;
}

/** A child that is spoken to line by line for as long as it lives: a persistent hook, a server. */
export interface LineProcessRequest
  extends Pick<
    SpawnRequest,
    'command' | 'args' | 'cwd' | 'env' | 'label' | 'kind' | 'graceMs' | 'maxStderrBytes' | 'owner'
  > {
  /** What it writes to standard error, as it comes. */
  readonly onStderr?: (chunk: string) => void;
  /** Characters of one line; a child that writes a longer one is ended. Default 16 Mi. */
  readonly maxLineLength?: number;
  /** Bytes that may wait for a child that does not read; more lines are refused then. Default 16 MiB. */
  readonly maxPendingBytes?: number;
}

/** How a line process ended. */
export interface LineProcessEnd
  extends Pick<
    ProcessResult,
    'exitCode' | 'signal' | 'stderr' | 'startError' | 'startErrorKind' | 'durationMs'
  > {
  /** It was ended because it wrote a line longer than this many characters. */
  readonly lineTooLong?: number;
}

export interface LineProcess {
  /** Undefined when it could not be started; `exited` says why. */
  readonly pid: number | undefined;
  /** As of a `RunningProcess`. What is written before is kept for it. */
  readonly started?: Promise<number | undefined>;
  /** Bytes written that the child has not read yet, as far as they still wait on our side. */
  readonly pendingBytes: number;
  /**
   * Sends one line, which must not hold a line break. False when it was not taken: the child has ended
   * or closed its input, or `maxPendingBytes` wait already. Never throws.
   */
  write(line: string): boolean;
  /** Called for each line that is not empty, without its end. Set it in the tick of `open`. One at a time. */
  onLine(listener: (line: string) => void): void;
  /** What it wrote to standard error so far: all, or the first and the last part. */
  stderr(): string;
  /** End of its input, by which well-behaved programs know that they may go. */
  closeInput(): void;
  /** Resolves when it is gone and its last line has been handed over. Never rejects. */
  readonly exited: Promise<LineProcessEnd>;
  /** Ends the whole group: first politely, then for good. Resolves when it is gone. */
  kill(): Promise<void>;
}

export interface ProcessSupervisor {
  start(request: SpawnRequest): RunningProcess;
  run(request: SpawnRequest): Promise<ProcessResult>;
  /** Starts a long-lived child for a protocol of lines. In the same custody as all others. */
  open(request: LineProcessRequest): LineProcess;
  /** Ends everything that still runs. Called on exit, abort and signals. */
  killAll(): Promise<void>;
}
