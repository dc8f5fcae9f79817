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
import { BoundedTransport } from './bounded.js';
import type { StderrLog } from './stderr-log.js';

/** Between the polite signal and the final one. */
const GRACE_MS = 500;

/** The request by which a stdio server is started: what its entry says, and nothing of ours. */
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
      // Directories whose packages are the project's own: also those of the repository around it.
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
 * One supervised child process, spoken to in lines of JSON: the library's own ends the direct child alone and leaves its
 * descendants behind (typescript-sdk#2023). The library knows a stdio transport by its having
 * both `pid` and `stderr`: a server that is silent to the new protocol is then spoken to in the old.
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

  /** It was ended because a message of its had no end. */
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

  /** How the child ended, if it has or does so within a moment. */
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

/** Undefined: it takes longer. */
function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return orAbort(promise, AbortSignal.timeout(ms)).catch(() => undefined);
}
