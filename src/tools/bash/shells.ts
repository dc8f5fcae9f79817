import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { Clock } from '../../platform/clock.js';
import { join } from '../../platform/fs/paths.js';
import type {
  ChildOwner,
  ProcessResult,
  ProcessSupervisor,
  RunningProcess,
} from '../../platform/process/process.js';

export type ShellStatus = 'running' | 'completed' | 'failed' | 'killed' | 'timed_out';

/** A command that runs in the background, as it is now. */
export interface BackgroundShell {
  readonly id: string;
  readonly command: string;
  readonly description?: string;
  readonly cwd: string;
  /** Everything it writes, from the first byte on. */
  readonly outputFile: string;
  readonly startedAt: number;
  /** The agent that asked for it, and the call. */
  readonly agentId?: string;
  readonly toolUseId?: string;
  readonly status: ShellStatus;
  /** Null while it runs, and when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it was ended, when the reason is not its own. */
  readonly note?: string;
}

export interface StartShellRequest {
  readonly command: string;
  /** The text for the shell, where it is not the command itself. */
  readonly runs?: string;
  readonly description?: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where the output file goes. */
  readonly directory: string;
  readonly timeoutMs?: number;
  readonly agentId?: string;
  readonly toolUseId?: string;
  readonly owner?: ChildOwner;
}

export interface NewOutput {
  readonly shell: BackgroundShell;
  readonly text: string;
  /** Characters that came since the last look but were too many to keep; the file has them. */
  readonly dropped: number;
}

export interface BackgroundShells {
  start(request: StartShellRequest): Promise<Result<BackgroundShell, string>>;
  get(id: string): BackgroundShell | undefined;
  list(): readonly BackgroundShell[];
  /** What it wrote since this reader looked last; undefined for an unknown id. */
  read(id: string, reader: string): NewOutput | undefined;
  /** Ends it with everything it started. Undefined for an unknown id; one that has ended stays as it is. */
  kill(id: string): Promise<BackgroundShell | undefined>;
  killAll(): Promise<void>;
  /** Ends and forgets all that an agent has started. */
  endOf(agentId: string): Promise<void>;
  /** Called once for each shell that ends, by itself or not. Returns the way to unsubscribe. */
  onFinished(listener: (shell: BackgroundShell) => void): () => void;
}

export interface BackgroundShellDeps {
  readonly processes: Pick<ProcessSupervisor, 'start'>;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
}

const DEFAULT_BACKGROUND_TIMEOUT_MS = 30 * 60_000;
const MAX_BACKGROUND_TIMEOUT_MS = 2 * 60 * 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Characters of output kept in memory for a shell. */
const OUTPUT_CAP = 128 * 1024;

export function createBackgroundShells(deps: BackgroundShellDeps): BackgroundShells {
  const shells = new Map<string, Entry>();
  const listeners = new Set<(shell: BackgroundShell) => void>();
  const finished = (shell: BackgroundShell): void => {
    for (const listener of listeners) listener(shell);
  };
  return {
    async start(request) {
      const started = await startEntry(deps, request);
      if (!started.ok) return started;
      shells.set(started.value.shell.id, started.value);
      void started.value.done.then(finished);
      return ok(started.value.shell);
    },
    get: (id) => shells.get(id)?.shell,
    list: () => [...shells.values()].map((entry) => entry.shell),
    read(id, reader) {
      const entry = shells.get(id);
      return entry && { shell: entry.shell, ...entry.output.readBy(reader) };
    },
    async kill(id) {
      const entry = shells.get(id);
      if (entry?.shell.status === 'running') await entry.kill();
      return entry?.shell;
    },
    async killAll() {
      const running = [...shells.values()].filter((entry) => entry.shell.status === 'running');
      await Promise.all(running.map((entry) => entry.kill()));
    },
    async endOf(agentId) {
      const own = [...shells.values()].filter(({ shell }) => shell.agentId === agentId);
      const running = own.filter(({ shell }) => shell.status === 'running');
      await Promise.all(running.map((entry) => entry.kill()));
      for (const { shell } of own) shells.delete(shell.id);
    },
    onFinished(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

interface Entry {
  shell: BackgroundShell;
  readonly output: RecentOutput;
  readonly done: Promise<BackgroundShell>;
  kill(): Promise<void>;
}

async function startEntry(
  { processes, clock }: BackgroundShellDeps,
  request: StartShellRequest,
): Promise<Result<Entry, string>> {
  const { command, description, cwd, agentId, toolUseId, owner } = request;
  const id = `b${clock.uuid().replaceAll('-', '').slice(0, 8)}`;
  const outputFile = join(request.directory, `${id}.output`);
  const output = new RecentOutput(OUTPUT_CAP);
  const timeoutMs = Math.min(
    request.timeoutMs || DEFAULT_BACKGROUND_TIMEOUT_MS,
    MAX_BACKGROUND_TIMEOUT_MS,
  );
  const start = (kind: 'bash' | 'sh'): RunningProcess =>
    processes.start({
      ...shellProgram(kind, request.runs ?? command, { reportCwd: false }),
      cwd,
      env: request.env,
      label: `${id}: ${sliceWhole(command, 0, 80)}`,
      mergeStderr: true,
      longLived: true,
      timeoutMs,
      maxOutputBytes: 4096,
      spillFile: outputFile,
      spillFromStart: true,
      maxSpillBytes: MAX_OUTPUT_BYTES,
      maxTotalBytes: MAX_OUTPUT_BYTES,
      onOutput: (chunk) => output.push(chunk),
      owner,
    });
  let running = start('bash');
  // Without a process there is nothing to wait for but the reason; no bash is the one with a way out.
  if ((await pidOf(running)) === undefined) {
    const { startErrorKind } = await running.result;
    if (startErrorKind === 'program-missing') running = start('sh');
  }
  if ((await pidOf(running)) === undefined) {
    const { startError } = await running.result;
    return err(startError ?? 'The command could not be started.');
  }
  const about = { id, command, description, cwd, outputFile, agentId, toolUseId };
  let isKilled = false;
  const ended = running.result.then(
    (result) => outcomeOf(result, { isKilled, timeoutMs }),
    (thrown) => ({ status: 'failed', note: messageOf(thrown) }) as const,
  );
  const entry: Entry = {
    shell: { ...about, startedAt: clock.now(), status: 'running', exitCode: null, signal: null },
    output,
    done: ended.then((outcome) => {
      entry.shell = { ...entry.shell, ...outcome };
      return entry.shell;
    }),
    async kill() {
      isKilled = true;
      await running.kill();
      await entry.done;
    },
  };
  return ok(entry);
}

async function pidOf({ started, pid }: RunningProcess): Promise<number | undefined> {
  return started === undefined ? pid : await started;
}

function outcomeOf(
  result: ProcessResult,
  { isKilled, timeoutMs }: { readonly isKilled: boolean; readonly timeoutMs: number },
): Pick<BackgroundShell, 'status' | 'exitCode' | 'signal' | 'note'> {
  const { exitCode, signal } = result;
  if (result.timedOut) {
    const minutes = Math.round(timeoutMs / 6000) / 10;
    return { status: 'timed_out', exitCode, signal, note: `ended after ${minutes} minutes` };
  }
  if (result.outputLimitHit) {
    return { status: 'killed', exitCode, signal, note: 'ended for writing more than 64 MiB' };
  }
  if (isKilled || result.aborted) return { status: 'killed', exitCode, signal };
  const status = exitCode === 0 ? 'completed' : 'failed';
  return { status, exitCode, signal, note: result.fenced };
}

/** The latest part of an output, of which each reader gets what it has not seen. */
class RecentOutput {
  readonly #cap: number;
  #chunks: string[] = [];
  #length = 0;
  /** Characters that came before those that are kept. */
  #dropped = 0;
  /** How many characters each reader has seen. */
  readonly #seen = new Map<string, number>();

  constructor(cap: number) {
    this.#cap = cap;
  }

  push(chunk: string): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > this.#cap * 2) this.#trim();
  }

  readBy(reader: string): { readonly text: string; readonly dropped: number } {
    if (this.#length > this.#cap) this.#trim();
    const seen = this.#seen.get(reader) ?? 0;
    this.#seen.set(reader, this.#dropped + this.#length);
    const missed = Math.max(0, this.#dropped - seen);
    const text = this.#chunks.join('');
    return { text: text.slice(Math.max(0, seen - this.#dropped)), dropped: missed };
  }

  #trim(): void {
    const all = this.#chunks.join('');
    const kept = sliceWhole(all, all.length - this.#cap, all.length);
    this.#dropped += all.length - kept.length;
    this.#chunks = [kept];
    this.#length = kept.length;
  }
}

/**
 * A fresh shell that runs the text as it is: no start-up files, no positional parameters, standard
 * error in standard output's order. With `reportCwd` it writes its directory to descriptor 3 when it
 * ends, whichever way; the command itself and what it starts do not have that descriptor.
 */
export function shellProgram(
  shell: 'bash' | 'sh',
  text: string,
  options: { readonly reportCwd: boolean },
): { readonly command: string; readonly args: readonly string[] } {
  const script = options.reportCwd ? REPORTING : PLAIN;
  const flags = shell === 'bash' ? ['--norc', '--noprofile'] : [];
  return { command: shell, args: [...flags, '-c', script, shell, text] };
}

/** One line, so that line numbers in messages are those of the command. */
const PREAMBLE = '__portcullis_command=$1; shift; exec 2>&1; ';
/** The space keeps a command that starts with a dash from being taken for an option of `eval`. */
const RUN = 'eval " $__portcullis_command"';
const PLAIN = `${PREAMBLE}${RUN}`;
/** In braces with errors sent away, so that `set -x` does not show it. */
const REPORTING = `${PREAMBLE}trap '{ pwd -P >&3; } 2>/dev/null' EXIT; ${RUN} 3>&-`;
