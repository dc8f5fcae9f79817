import { dirname, isInside, join } from '../../platform/fs/paths.js';
import { randomUuid } from '../../platform/random.js';
import { type SandboxFiles, sandboxFiles } from '../host/files.js';
import type { SandboxHost } from '../host/host.js';
import { SandboxProxy } from '../host/proxy.js';
import { type Reach, realReach } from '../host/proxy-rules.js';
import { describeRefusals } from '../linux/refusals.js';
import { programEnvironment } from '../session/environment.js';
import type { SandboxedProgram, SandboxPolicy, WrappedProgram } from '../types.js';

export const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

interface SeatbeltParts {
  readonly host: SandboxHost;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDirectory: string;
  readonly reach?: Reach | undefined;
}

/** Runs programs with macOS's `sandbox-exec`. */
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
        connected?.proxy.close();
        if (policy.scratch === undefined) this.#files.remove(scratch);
      },
      refusals: (result) =>
        describeRefusals({
          ...result,
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

  /** Includes the path and its target, so that a link on the way cannot be replaced. */
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

  async #connect({ network }: SandboxPolicy): Promise<Connected | undefined> {
    if (network.kind !== 'filtered') return undefined;
    const { env, reach = realReach(env) } = this.#parts;
    // Every program of the machine can connect, so ours needs a token.
    const word = randomUuid();
    const token = `Basic ${Buffer.from(`sandbox:${word}`).toString('base64')}`;
    const proxy = new SandboxProxy({ rules: network, reach, token });
    const port = await proxy.listen();
    return { port, address: `http://sandbox:${word}@127.0.0.1:${port}`, proxy };
  }
}

interface Connected {
  readonly port: number;
  readonly address: string;
  readonly proxy: SandboxProxy;
}

interface SeatbeltOrder {
  /** With links resolved. */
  readonly policy: SandboxPolicy;
  /** The private directory for temporary files. */
  readonly scratch: string;
  /** Our proxy's port on the loopback when the network is filtered. */
  readonly proxyPort?: number | undefined;
}

/**
 * Builds the profile for `sandbox-exec`: nothing is allowed by default and later rules win, so denials follow
 * grants.
 */
export function seatbeltProfile(order: SeatbeltOrder): string {
  const { policy, scratch } = order;
  return [
    '(version 1)',
    '(deny default)',
    ...BASE,
    '(allow file-read*)',
    // Other programs keep temporary files and sockets there.
    `(deny file-read* file-write* ${SHARED_TEMPORARY.map(subpath).join(' ')})`,
    `(allow file-read-metadata ${SHARED_TEMPORARY.map(subpath).join(' ')})`,
    ...areas(policy, scratch),
    // Programs look up every directory on the way to their files.
    rule('allow file-read-metadata', wayToShown(policy).map(literal)),
    rule('deny file-write*', policy.protected.map(subpath)),
    // Protected paths and their parents must not be moved away and recreated.
    rule('deny file-write-unlink', aboveProtected(policy).map(literal)),
    `(allow file-write-data file-read* ${['/dev/null', '/dev/zero', '/dev/tty', '/dev/dtracehelper'].map(literal).join(' ')})`,
    '(deny file-write-setugid)',
    network(order),
    ...binding(policy),
    ...sockets(policy),
    '',
  ]
    .filter((line) => line !== undefined)
    .join('\n');
}

/** The minimum for a program to start, without Apple events, launch services or pasteboard. */
const BASE = [
  '(allow process-exec process-fork)',
  '(allow process-info* (target same-sandbox))',
  '(allow signal (target same-sandbox))',
  '(allow mach-priv-task-port (target same-sandbox))',
  '(allow sysctl-read)',
  '(allow file-ioctl (literal "/dev/null") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))',
  '(allow pseudo-tty)',
  '(allow ipc-posix-sem)',
  '(allow user-preference-read)',
  '(allow mach-lookup',
  '  (global-name "com.apple.system.opendirectoryd.libinfo")',
  '  (global-name "com.apple.system.opendirectoryd.membership")',
  '  (global-name "com.apple.system.logger")',
  '  (global-name "com.apple.system.notification_center")',
  '  (global-name "com.apple.logd")',
  '  (global-name "com.apple.trustd.agent")',
  '  (global-name "com.apple.SystemConfiguration.configd"))',
];

const SHARED_TEMPORARY = ['/private/tmp', '/private/var/tmp', '/private/var/folders'];

function network({ policy, proxyPort }: SeatbeltOrder): string | undefined {
  if (policy.network.kind === 'open') return '(allow network-outbound (remote ip))';
  // Only the proxy, because other services listen on the same loopback.
  return proxyPort === undefined
    ? undefined
    : `(allow network-outbound (remote ip "localhost:${proxyPort}"))`;
}

function binding({ weaker }: SandboxPolicy): readonly string[] {
  if (weaker.localBinding !== true) return [];
  return [
    '(allow network-bind (local ip "localhost:*"))',
    '(allow network-inbound (local ip "localhost:*"))',
    '(allow network-outbound (remote ip "localhost:*"))',
  ];
}

function sockets({ weaker }: SandboxPolicy): readonly string[] {
  const { unixSockets } = weaker;
  if (unixSockets === undefined) return [];
  if (unixSockets === 'all')
    return ['(allow system-socket)', '(allow network* (remote unix-socket))'];
  const paths = unixSockets.map((path) => `(remote unix-socket ${subpath(path)})`);
  return ['(allow system-socket)', ...paths.map((path) => `(allow network-outbound ${path})`)];
}

/** Deeper paths come later and win; for equal paths hiding wins. */
function areas(policy: SandboxPolicy, scratch: string): readonly string[] {
  const all = [
    ...policy.shown.map((path) => ({ path, head: 'allow file-read*' })),
    ...[...policy.writable, scratch].map((path) => ({
      path,
      head: 'allow file-read* file-write*',
    })),
    ...policy.hidden.map((path) => ({ path, head: 'deny file-read* file-write*' })),
  ];
  const depth = (path: string): number => path.split('/').length;
  return all
    .sort((a, b) => depth(a.path) - depth(b.path))
    .map(({ path, head }) => `(${head} ${subpath(path)})`);
}

/** Hidden directories above shown paths: their metadata is readable, their content is not. */
function wayToShown({ hidden, shown, writable }: SandboxPolicy): readonly string[] {
  const way = new Set<string>();
  for (const path of [...shown, ...writable]) {
    for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
      if (hidden.some((one) => isInside(at, one))) way.add(at);
    }
  }
  return [...way];
}

function aboveProtected({ writable, protected: kept }: SandboxPolicy): readonly string[] {
  const above = new Set<string>();
  for (const path of kept) {
    const root = writable.find((one) => path.startsWith(`${one}/`));
    if (root === undefined) continue;
    for (let at = path; at !== dirname(root); at = dirname(at)) above.add(at);
  }
  return [...above];
}

function rule(head: string, targets: readonly string[]): string | undefined {
  return targets.length === 0 ? undefined : `(${head} ${targets.join(' ')})`;
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function literal(path: string): string {
  return `(literal ${quoted(path)})`;
}

/** fail-closed: a path cannot end its string literal. */
function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r')}"`;
}
