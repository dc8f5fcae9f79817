import { messageOf, PortcullisError } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { statFileSync } from '../../platform/fs/node-fs.js';
import { type NamespaceFacts, nodeSandboxHost, type SandboxHost } from '../host/host.js';
import type { Reach } from '../host/proxy-rules.js';
import { BubblewrapDriver, type BubblewrapParts, needsBash } from '../linux/driver.js';
import { callTable } from '../linux/syscalls.js';
import { SANDBOX_EXEC, SeatbeltDriver } from '../macos/driver.js';
import type { Sandbox, SandboxAvailability, SandboxPolicy } from '../types.js';

interface SandboxOptions {
  /** Our own environment, for the temporary directory and our proxy. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Our state directory, hidden from programs inside; `sandbox/` in it is ours. */
  readonly stateDirectory: string;
  /** A bubblewrap other than the system's. */
  readonly bwrapPath?: string;
  /** A person allowed all sockets, so no filter is needed. */
  readonly unixSockets?: 'all';
  /** The machine; this one when absent. */
  readonly host?: SandboxHost;
  /** Makes connections for programs inside; the machine's network when absent. */
  readonly reach?: Reach;
}

/** Opens the machine's sandbox. Never rejects; `availability` says why there is none. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const host = options.host ?? nodeSandboxHost();
  try {
    if (host.platform === 'linux') return await openBubblewrap(options, host);
    if (host.platform === 'darwin') return openSeatbelt(options, host);
    return closedFor(wrongPlatform(host.platform));
  } catch (thrown) {
    // fail-closed: if the check fails there is no sandbox.
    return closedFor(doesNotRun(messageOf(thrown), host.facts()));
  }
}

function openSeatbelt(options: SandboxOptions, host: SandboxHost): Sandbox {
  if (!host.isExecutable(SANDBOX_EXEC)) {
    const remedy = 'It is part of macOS: repair the system.';
    return closedFor(unavailable(`${SANDBOX_EXEC} is not there`, remedy));
  }
  const { env, stateDirectory, reach } = options;
  return sandboxOf(new SeatbeltDriver({ host, env, stateDirectory, reach }), {
    kind: 'available',
    driver: 'seatbelt',
    version: 'system',
    notes: ['The rules for macOS have not been tried on a real machine.'],
  });
}

function sandboxOf(
  driver: BubblewrapDriver | SeatbeltDriver,
  availability: SandboxAvailability,
): Sandbox {
  return {
    availability,
    wrap: (program, policy) => driver.wrap(program, policy),
    close: async () => driver.close(),
  };
}

type Bubblewrap = Omit<BubblewrapParts, 'env' | 'stateDirectory' | 'reach'>;

type Unavailable = Extract<SandboxAvailability, { kind: 'unavailable' }>;

/** Cached, because neither the program nor the kernel changes while we run. */
const found = new Map<string, Promise<Result<Bubblewrap, Unavailable>>>();

async function openBubblewrap(options: SandboxOptions, host: SandboxHost): Promise<Sandbox> {
  if (callTable(host.arch) === undefined && options.unixSockets !== 'all') {
    return closedFor(
      unavailable(
        `the system calls of ${host.arch} are not known, so sockets of other programs cannot be closed`,
        'Allow them all (sandbox.network.allowAllUnixSockets), or turn the sandbox off.',
      ),
    );
  }
  const key = JSON.stringify([options.bwrapPath, options.unixSockets]);
  // Tests pass another machine, which is not cached.
  const looking =
    (options.host === undefined ? found.get(key) : undefined) ?? findBubblewrap(options, host);
  if (options.host === undefined) found.set(key, looking);
  const bubblewrap = await looking;
  if (!bubblewrap.ok) return closedFor(bubblewrap.error);
  const { env, stateDirectory, reach } = options;
  const parts = { ...bubblewrap.value, env, stateDirectory, reach };
  return sandboxOf(new BubblewrapDriver(parts), {
    kind: 'available',
    driver: 'bubblewrap',
    version: parts.features.version,
    notes: notesOn(parts),
  });
}

async function findBubblewrap(
  options: SandboxOptions,
  host: SandboxHost,
): Promise<Result<Bubblewrap, Unavailable>> {
  const path = options.bwrapPath ?? host.program('bwrap');
  if (path === undefined || !host.isExecutable(path)) {
    return err(missingProgram('bwrap', host.facts()));
  }
  if (host.program('mkfifo') === undefined) return err(missingProgram('mkfifo', host.facts()));
  const inherited = host.inheritedDescriptors();
  if (needsBash(inherited) && !host.isExecutable('/bin/bash')) {
    const leaked = inherited.join(', ');
    const missing = `the program that started us left descriptors open (${leaked}), and only bash can close them`;
    const remedy = 'Install bash, or start the program from another terminal.';
    return err(unavailable(missing, remedy));
  }
  const said = await host.probe(path, ['--version']);
  const version = /(\d+\.\d+(?:\.\d+)?)/.exec(said.stdout)?.[1];
  if (version === undefined) return err(doesNotRun(said.stderr, host.facts()));
  const parts = {
    host,
    path,
    inherited,
    features: {
      version,
      disableUserNamespaces: isAtLeast(version, [0, 8]) && !isSetUserId(path),
      machineWide: host.machineWideProc(),
    },
  };
  const trial = await tryOut(parts, options);
  return trial === undefined ? ok(parts) : err(trial);
}

/** Tries the strictest policy with an empty program and returns the reason for a failure. */
async function tryOut(
  parts: Bubblewrap,
  { env, stateDirectory, unixSockets }: SandboxOptions,
): Promise<Unavailable | undefined> {
  const driver = new BubblewrapDriver({ ...parts, env, stateDirectory });
  const policy: SandboxPolicy = {
    writable: [],
    protected: [],
    hidden: [],
    shown: [],
    network: { kind: 'none' },
    weaker: { unixSockets },
  };
  try {
    const program = { command: '/bin/sh', args: ['-c', ':'], cwd: '/', env: {} };
    const wrapped = await driver.wrap(program, policy);
    const ran = await parts.host.probe(wrapped.command, wrapped.args);
    await wrapped.release();
    return ran.code === 0 ? undefined : doesNotRun(ran.stderr, parts.host.facts());
  } finally {
    driver.close();
  }
}

function notesOn({ features, host }: Bubblewrap): readonly string[] {
  const notes: string[] = [];
  if (!features.disableUserNamespaces) {
    notes.push(
      'This bubblewrap cannot turn off user namespaces inside; the filter of system calls does.',
    );
  }
  if (host.program('perl') === undefined) {
    notes.push('Without Perl, programs with a filtered network start some 100 ms later.');
  }
  return notes;
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [a = 0, b = 0] = version.split('.').map(Number);
  return a > major || (a === major && b >= minor);
}

function isSetUserId(path: string): boolean {
  return ((statFileSync(path)?.mode ?? 0) & 0o4000) !== 0;
}

function closedFor(availability: Unavailable): Sandbox {
  return {
    availability,
    // fail-closed: without a sandbox nothing runs.
    wrap: () =>
      Promise.reject(
        new PortcullisError('denied', `there is no sandbox here: ${availability.missing}`, {
          remedy: availability.remedy,
        }),
      ),
    close: async () => {},
  };
}

function unavailable(missing: string, remedy: string): Unavailable {
  return { kind: 'unavailable', missing, remedy };
}

function wrongPlatform(platform: string): Unavailable {
  const isWindows = platform === 'win32';
  return unavailable(
    `there is no sandbox for ${isWindows ? 'Windows' : platform}`,
    isWindows
      ? 'Use WSL 2, which is Linux, or turn the sandbox off in settings (sandbox.enabled).'
      : 'Use Linux or macOS, or turn the sandbox off in settings (sandbox.enabled).',
  );
}

function missingProgram(name: string, facts: NamespaceFacts): Unavailable {
  return unavailable(`${name} is not installed`, installCommand(facts.distribution, name));
}

/** Explains why an installed bubblewrap does not work. */
function doesNotRun(said: string, facts: NamespaceFacts): Unavailable {
  const words = said.trim().split('\n').at(-1) ?? '';
  const missing = `bubblewrap does not run here: ${words === '' ? 'it gave no reason' : words}`;
  if (facts.firstWsl) {
    return unavailable(
      missing,
      'WSL 1 has no namespaces: convert it (wsl --set-version <name> 2).',
    );
  }
  if (facts.appArmorRestricts && /permission|denied|not permitted|uid map/i.test(said)) {
    return unavailable(missing, APPARMOR);
  }
  if (facts.disabledBySysctl) {
    return unavailable(
      missing,
      'User namespaces are turned off: sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000',
    );
  }
  if (facts.inContainer) {
    return unavailable(
      missing,
      'This is a container: start it so that it may make namespaces (docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined).',
    );
  }
  return unavailable(
    missing,
    'Try it by hand: bwrap --unshare-all --ro-bind / / --proc /proc true',
  );
}

const APPARMOR =
  'AppArmor keeps programs from making user namespaces (Ubuntu 23.10 and later). Give bubblewrap a profile: ' +
  'sudo apt install apparmor-profiles && sudo ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && ' +
  'sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict';

const PACKAGE: Readonly<Record<string, string>> = {
  bwrap: 'bubblewrap',
  mkfifo: 'coreutils',
};

const INSTALLERS: readonly (readonly [distribution: string, command: string])[] = [
  ['debian', 'sudo apt install'],
  ['ubuntu', 'sudo apt install'],
  ['fedora', 'sudo dnf install'],
  ['rhel', 'sudo dnf install'],
  ['arch', 'sudo pacman -S'],
  ['alpine', 'sudo apk add'],
  ['suse', 'sudo zypper install'],
  ['opensuse', 'sudo zypper install'],
  ['gentoo', 'sudo emerge'],
  ['void', 'sudo xbps-install'],
  ['nixos', 'nix-env -iA nixos.'],
];

function installCommand(distribution: readonly string[], program: string): string {
  const name = PACKAGE[program] ?? program;
  const installer = INSTALLERS.find(([id]) => distribution.includes(id))?.[1];
  if (installer === undefined)
    return `Install the package ${name} with your system's package manager.`;
  return `Install it: ${installer}${installer.endsWith('.') ? '' : ' '}${name}`;
}
