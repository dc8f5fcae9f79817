import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { orAbort } from '../../lib/abort.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { minimalEnvironment } from '../../platform/environment.js';
import { findRepositoryRoot } from '../../platform/fs/paths.js';
import type {
  LineProcess,
  LineProcessEnd,
  LineProcessRequest,
  ProcessSupervisor,
} from '../../platform/process/process.js';
import { Failed } from '../connection/classify.js';
import type { ConnectionDeps } from '../connection/deps.js';
import type { StdioEntry } from '../server.js';
import { BoundedTransport } from './bounded-transport.js';
import type { StderrLog } from './stderr-log.js';

/** The time between the terminate and kill signals. */
const GRACE_MS = 500;

/** The process request for a stdio server, with only the entry's settings. */
export function stdioRequest(
  name: string,
  entry: StdioEntry,
  deps: Pick<ConnectionDeps, 'env' | 'cwd'>,
): LineProcessRequest {
  return {
    command: entry.command,
    args: entry.args,
    cwd: deps.cwd,
    env: minimalEnvironment(deps.env, {
      // Excludes packages of the project and its repository from the search path.
      projectDirectories: [deps.cwd, findRepositoryRoot(deps.cwd) ?? deps.cwd],
      extra: { CLAUDE_PROJECT_DIR: deps.cwd, ...entry.env },
    }),
    kind: 'mcp',
    label: `mcp ${visible(sliceWhole(name, 0, 60))}`,
    owner: { server: name },
    graceMs: GRACE_MS,
  };
}

/**
 * A supervised child with newline-delimited JSON: the library's own transport leaves descendants running
 * (typescript-sdk#2023). The library detects stdio by `pid` and `stderr` and then falls back to the old
 * protocol when the server stays silent.
 */
export class StdioTransport extends BoundedTransport {
  readonly #request: LineProcessRequest;
  readonly #processes: Pick<ProcessSupervisor, 'open'>;
  readonly #log: StderrLog | undefined;
  readonly #closeMs: number;
  #process: LineProcess | undefined;
  #wroteTooLong = false;

  constructor(
    request: LineProcessRequest,
    parts: {
      readonly monotonic: () => number;
      readonly processes: Pick<ProcessSupervisor, 'open'>;
      readonly log: StderrLog | undefined;
      readonly closeMs: number;
    },
  ) {
    super(parts.monotonic);
    this.#request = request;
    this.#processes = parts.processes;
    this.#log = parts.log;
    this.#closeMs = parts.closeMs;
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  get stderr(): string {
    return this.#process?.stderr() ?? '';
  }

  /** Whether it was stopped for an endless line. */
  get wroteTooLong(): boolean {
    return this.#wroteTooLong;
  }

  async start(): Promise<void> {
    const child = this.#processes.open({
      ...this.#request,
      onStderr: (chunk) => this.#log?.push(chunk),
    });
    this.#process = child;
    child.onLine((line) => this.receive(line));
    void child.exited.then(({ lineTooLong }) => {
      this.#wroteTooLong = lineTooLong !== undefined;
      this.over();
    });
    const pid = child.started === undefined ? child.pid : await child.started;
    if (pid === undefined) throw this.#ended(await child.exited);
  }

  /** How the child ended, if it does within the given time. */
  async end(withinMs: number): Promise<Failed | undefined> {
    const child = this.#process;
    if (child === undefined) return undefined;
    const end = await within(child.exited, withinMs);
    return end === undefined ? undefined : this.#ended(end);
  }

  #ended(end: LineProcessEnd): Failed {
    return new Failed({ kind: 'ended', end, program: this.#request.command });
  }

  protected async transmit(message: JSONRPCMessage): Promise<void> {
    if (this.#process?.write(JSON.stringify(message)) !== true)
      throw new Failed({ kind: 'not-sent' });
  }

  async close(): Promise<void> {
    const child = this.#process;
    if (child !== undefined) {
      child.closeInput();
      await within(child.exited, this.#closeMs);
      await child.kill();
    }
    this.over();
  }
}

/** Undefined when the time is up. */
function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return orAbort(promise, AbortSignal.timeout(ms)).catch(() => undefined);
}
