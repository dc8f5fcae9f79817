import { join } from '../../platform/fs/paths.js';
import { randomUuid } from '../../platform/random.js';
import type { Reach } from '../host/dial.js';
import { type SandboxFiles, sandboxFiles } from '../host/files.js';
import { listenOnLoopback, type SandboxHost } from '../host/host.js';
import { type ProgramProxy, programProxy } from '../linux/network.js';
import { describeRefusals } from '../linux/refusals.js';
import { programEnvironment } from '../session/environment.js';
import type { SandboxedProgram, SandboxPolicy, WrappedProgram } from '../types.js';
import { seatbeltProfile } from './profile.js';

export const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

export interface SeatbeltParts {
  readonly host: SandboxHost;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDirectory: string;
  readonly reach?: Reach | undefined;
}

/** Programs under rules of the kernel, by macOS's own `sandbox-exec`. */
export class SeatbeltDriver {
  readonly #parts: SeatbeltParts;
  readonly #home: string;
  readonly #files: SandboxFiles;

  constructor(parts: SeatbeltParts) {
    this.#parts = parts;
    this.#home = join(parts.stateDirectory, 'sandbox');
    this.#files = sandboxFiles(this.#home);
  }

  async wrap(program: SandboxedProgram, given: SandboxPolicy): Promise<WrappedProgram> {
    const policy = this.#resolved(given);
    const scratch = this.#files.directory(policy.scratch ?? randomUuid());
    const connected = await this.#connect(policy);
    const profile = seatbeltProfile({
      policy: { ...policy, hidden: [...policy.hidden, this.#parts.host.disk.real(this.#home)] },
      scratch: this.#parts.host.disk.real(scratch),
      proxyPort: connected?.port,
    });
    const env = programEnvironment(program.env, policy.network, {
      temporary: scratch,
      proxy: connected?.address,
    });
    return {
      command: SANDBOX_EXEC,
      args: ['-p', profile, program.command, ...program.args],
      cwd: program.cwd,
      env,
      release: async () => {
        connected?.close();
        if (policy.scratch === undefined) this.#files.remove(scratch);
      },
      refusals: ({ exitCode, output }) =>
        describeRefusals({
          exitCode,
          output,
          cwd: program.cwd,
          policy,
          refusedHosts: connected?.proxy.refused ?? new Map(),
          frozen: [],
        }),
    };
  }

  close(): void {
    this.#files.close();
  }

  /** Both the name and where it leads, so that a link on the way cannot be replaced either. */
  #resolved(policy: SandboxPolicy): SandboxPolicy {
    const real = (path: string): string => this.#parts.host.disk.real(path);
    const both = (paths: readonly string[]): readonly string[] => [
      ...new Set([...paths, ...paths.map(real)]),
    ];
    return {
      ...policy,
      writable: [...new Set(policy.writable.map(real))],
      shown: [...new Set(policy.shown.map(real))],
      protected: both(policy.protected),
      hidden: both(policy.hidden),
    };
  }

  async #connect({ network }: SandboxPolicy): Promise<
    | {
        readonly port: number;
        readonly address: string;
        readonly proxy: ProgramProxy;
        close(): void;
      }
    | undefined
  > {
    if (network.kind !== 'filtered') return undefined;
    const { env, reach } = this.#parts;
    // Every program of this machine could connect, so ours has to say a word.
    const word = randomUuid();
    const token = `Basic ${Buffer.from(`sandbox:${word}`).toString('base64')}`;
    const proxy = programProxy(network, { env, reach, token });
    const listening = await listenOnLoopback((one) => proxy.serve(one));
    return {
      port: listening.port,
      address: `http://sandbox:${word}@127.0.0.1:${listening.port}`,
      proxy,
      close: () => {
        listening.close();
        proxy.close();
      },
    };
  }
}
