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
  /** Bytes of standard output kept in memory; the rest goes to `spillFile` when given, else is dropped and counted. */
  readonly maxOutputBytes?: number;
  readonly spillFile?: string;
  /** Both streams into one, in the order written. */
  readonly mergeStderr?: boolean;
  /** What the registry and `portcullis ps` call it. */
  readonly label: string;
  /** Extra pipe that the child may write to as file descriptor 3; its text comes back as `control`. */
  readonly controlPipe?: boolean;
  readonly onOutput?: (chunk: string, stream: 'stdout' | 'stderr') => void;
}

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
  readonly outputBytes: number;
  readonly truncated: boolean;
  readonly spilledTo?: string;
  readonly durationMs: number;
}

export interface RunningProcess {
  readonly pid: number | undefined;
  readonly result: Promise<ProcessResult>;
  /** Ends the whole group: first politely, then for good. Resolves when it is gone. */
  kill(): Promise<void>;
}

export interface ProcessSupervisor {
  start(request: SpawnRequest): RunningProcess;
  run(request: SpawnRequest): Promise<ProcessResult>;
  /** Ends everything that still runs. Called on exit, abort and signals. */
  killAll(): Promise<void>;
  /** Synchronous last resort for an exit handler. */
  killAllNow(): void;
}
