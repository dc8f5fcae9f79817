import { PortcullisError } from '../../errors.js';
import { join } from '../../platform/fs/paths.js';
import { type SandboxFiles, sandboxFiles } from '../host/files.js';
import {
  type ForwarderTools,
  FROM_HOST,
  INNER_PROXY,
  STARTER,
  STARTER_ENVIRONMENT,
  starterText,
  TO_HOST,
  withForwarder,
} from '../host/forwarder.js';
import type { SandboxHost } from '../host/host.js';
import { type MountPoints, mountPoints } from '../host/mount-points.js';
import { makePipes, openLink } from '../host/mux.js';
import { SandboxProxy } from '../host/proxy.js';
import { type Reach, realReach } from '../host/proxy-rules.js';
import { programEnvironment } from '../session/environment.js';
import type { SandboxedProgram, SandboxPolicy, WrappedProgram } from '../types.js';
import { type Mount, type MountPlan, planMounts } from './mounts.js';
import { describeRefusals } from './refusals.js';
import { seccompFilter } from './seccomp.js';

export interface BubblewrapParts {
  readonly host: SandboxHost;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDirectory: string;
  /** The path of the bubblewrap program. */
  readonly path: string;
  readonly features: BubblewrapFeatures;
  /** Descriptors inherited from our parent, which must be closed. */
  readonly inherited: readonly number[];
  readonly reach?: Reach | undefined;
}

/** Runs programs in namespaces with bubblewrap. */
export class BubblewrapDriver {
  readonly #parts: BubblewrapParts;
  /** The directory for the files of all sandboxes. */
  readonly #home: string;
  readonly #files: SandboxFiles;
  readonly #points: MountPoints;
  /** Filter files by their options, shared by all programs. */
  readonly #filters = new Map<string, string>();
  /** The file with the forwarder's start script. */
  #starter: string | undefined;

  constructor(parts: BubblewrapParts) {
    this.#parts = parts;
    this.#home = join(parts.stateDirectory, 'sandbox');
    this.#files = sandboxFiles(this.#home);
    this.#points = mountPoints(this.#home);
  }

  async wrap(program: SandboxedProgram, policy: SandboxPolicy): Promise<WrappedProgram> {
    const release: (() => void | Promise<void>)[] = [];
    try {
      return await this.#wrap(program, policy, release);
    } catch (thrown) {
      await releaseAll(release);
      throw thrown;
    }
  }

  close(): void {
    this.#files.close();
  }

  async #wrap(
    program: SandboxedProgram,
    policy: SandboxPolicy,
    release: (() => void | Promise<void>)[],
  ): Promise<WrappedProgram> {
    const filter = this.#filter(policy);
    const plan = this.#plan(policy);
    // Registered only after taking; releasing an untaken path does not affect others.
    const made = await this.#points.take(plan.guards);
    release.push(() => this.#points.give(made));
    const mounts = plan.mounts.filter(
      ({ path }) => !plan.guards.includes(path) || made.includes(path),
    );
    const connected = await this.#connect(policy, release);
    const hasOwnTmp = mounts.some(({ kind, path }) => kind === 'temporary' && path === TMP);
    const env = programEnvironment(program.env, policy.network, {
      temporary: hasOwnTmp ? TMP : undefined,
      proxy: connected && INNER_PROXY,
    });
    const options = bubblewrapOptions({
      policy,
      mounts,
      features: this.#parts.features,
      cwd: program.cwd,
      env: connected === undefined ? env : { ...env, ...STARTER_ENVIRONMENT },
      scratch: policy.scratch === undefined ? undefined : this.#files.directory(policy.scratch),
      hasFilter: filter !== undefined,
    });
    const file = this.#files.write(options.map((option) => checked(option)).join('\0'));
    release.push(() => this.#files.remove(file));
    const inner = [program.command, ...program.args];
    const files = [
      // In a file, because the options include the environment, and arguments are public.
      { redirect: `${OPTIONS_DESCRIPTOR}<`, path: file },
      ...(filter === undefined ? [] : [{ redirect: `${FILTER_DESCRIPTOR}<`, path: filter }]),
      ...(connected?.files ?? []),
    ];
    const command = connected === undefined ? inner : withForwarder(this.#tools(), inner);
    return {
      ...launcher(this.#parts, files, command),
      cwd: program.cwd,
      release: () => releaseAll(release),
      refusals: (result) =>
        describeRefusals({
          ...result,
          cwd: program.cwd,
          policy,
          refusedHosts: connected?.proxy.refused ?? new Map(),
          frozen: plan.frozen,
        }),
    };
  }

  #plan(policy: SandboxPolicy): MountPlan {
    const { host, env } = this.#parts;
    const held = this.#points.held();
    const disk = {
      ...host.disk,
      // Another program's mount point counts as missing.
      kind: (path: string) => (held.has(path) ? undefined : host.disk.kind(path)),
    };
    const places = [TMP, '/var/tmp', host.temporaryDirectory, env.TMPDIR ?? TMP];
    const needed = policy.network.kind === 'filtered' ? Object.values(this.#tools()) : [];
    const full: SandboxPolicy = {
      ...policy,
      // Write access to the sandbox's own files would control the next program.
      hidden: [...policy.hidden, this.#home, ...this.#closedSockets(policy)],
    };
    return planMounts(full, disk, {
      temporary: [...new Set(places.map((place) => host.disk.real(place)))],
      needed: needed.filter((path) => path !== undefined),
    });
  }

  /** The filter cannot distinguish sockets, so the closed ones are masked when only some are allowed. */
  #closedSockets({ weaker }: SandboxPolicy): readonly string[] {
    const { unixSockets } = weaker;
    if (unixSockets === undefined || unixSockets === 'all') return [];
    const open = new Set(unixSockets.map((path) => this.#parts.host.disk.real(path)));
    return this.#parts.host
      .namedSockets()
      .filter((path) => !open.has(this.#parts.host.disk.real(path)));
  }

  #tools(): ForwarderTools {
    const { host } = this.#parts;
    return { node: host.node, perl: host.program('perl') };
  }

  async #connect(
    { network }: SandboxPolicy,
    release: (() => void | Promise<void>)[],
  ): Promise<Connected | undefined> {
    if (network.kind !== 'filtered') return undefined;
    const { host, env, reach = realReach(env) } = this.#parts;
    const proxy = new SandboxProxy({ rules: network, reach });
    release.push(() => proxy.close());
    const pipes = await makePipes(this.#files.fresh(), host);
    release.push(() => {
      this.#files.remove(pipes.fromHost);
      this.#files.remove(pipes.toHost);
    });
    const link = await openLink(pipes, (one) => proxy.serve(one));
    release.push(() => link.close());
    this.#starter ??= this.#files.write(starterText(this.#tools()));
    const files = [
      { redirect: `${STARTER}<`, path: this.#starter },
      { redirect: `${FROM_HOST}<`, path: pipes.fromHost },
      { redirect: `${TO_HOST}>`, path: pipes.toHost },
    ];
    return { files, proxy };
  }

  /** The seccomp filter file for a policy; undefined when a person allowed all sockets. */
  #filter({ weaker }: SandboxPolicy): string | undefined {
    const options = {
      unixSockets: weaker.unixSockets !== undefined,
      nestedUserNamespaces: weaker.nestedUserNamespaces === true,
    };
    const key = JSON.stringify(options);
    const known = this.#filters.get(key);
    if (known !== undefined) return known;
    const filter = seccompFilter(this.#parts.host.arch, options);
    if (filter === undefined) {
      if (weaker.unixSockets === 'all') return undefined;
      // fail-closed: without the filter every local service would be reachable.
      throw new PortcullisError(
        'denied',
        `the sandbox cannot close sockets of other programs on ${this.#parts.host.arch}`,
        { remedy: 'Allow them all: sandbox.network.allowAllUnixSockets.' },
      );
    }
    const file = this.#files.write(filter);
    this.#filters.set(key, file);
    return file;
  }
}

interface Connected {
  /** The pipes to the proxy and the start script. */
  readonly files: readonly OpenedFile[];
  readonly proxy: SandboxProxy;
}

/** A file that bubblewrap or the program finds open. */
interface OpenedFile {
  /** The descriptor and direction for the shell: `8<`. */
  readonly redirect: string;
  readonly path: string;
}

const TMP = '/tmp';

/** fail-closed: a NUL would split an option in two. */
function checked(option: string): string {
  if (!option.includes('\0')) return option;
  throw new PortcullisError('denied', 'a path or variable for the sandbox contains a NUL', {
    remedy: 'Take it out.',
  });
}

/** Releases in reverse order; failures do not stop the rest. */
async function releaseAll(release: (() => void | Promise<void>)[]): Promise<void> {
  for (let next = release.pop(); next !== undefined; next = release.pop()) {
    try {
      await next();
    } catch {
      // The next program cleans up the leftovers.
    }
  }
}

/** The capabilities of the installed bubblewrap. */
interface BubblewrapFeatures {
  readonly version: string;
  /** `--disable-userns`, since 0.8.0. */
  readonly disableUserNamespaces: boolean;
  /** Machine-wide parts of /proc that root could write. */
  readonly machineWide: readonly string[];
}

interface ArgvInput {
  readonly policy: SandboxPolicy;
  readonly mounts: readonly Mount[];
  readonly features: BubblewrapFeatures;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The private directory behind temporary paths; kept in memory when absent. */
  readonly scratch?: string;
  /** Whether the seccomp filter is open at its descriptor. */
  readonly hasFilter: boolean;
}

/** The bubblewrap options, without the program. */
function bubblewrapOptions(input: ArgvInput): readonly string[] {
  const { policy, mounts, features, cwd, env } = input;
  return [
    ...isolation(policy, features),
    '--ro-bind',
    '/',
    '/',
    ...mounts.flatMap((mount) => mountOptions(mount, input.scratch)),
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    // A fresh /proc still contains machine-wide settings, some of which root may write without capabilities.
    ...features.machineWide.flatMap((path) => ['--ro-bind', path, path]),
    // After everything below is mounted.
    ...mounts.flatMap(({ kind, path }) => (kind === 'masked-tree' ? ['--remount-ro', path] : [])),
    ...(input.hasFilter ? ['--seccomp', String(FILTER_DESCRIPTOR)] : []),
    // Variables of the launching shell.
    ...SHELL_VARIABLES.flatMap((name) => (Object.hasOwn(env, name) ? [] : ['--unsetenv', name])),
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    '--chdir',
    cwd,
  ];
}

const SHELL_VARIABLES = ['PWD', 'OLDPWD', 'SHLVL', '_'];

/** Applies to root too, which would otherwise keep its capabilities. */
function isolation(policy: SandboxPolicy, features: BubblewrapFeatures): readonly string[] {
  const isNested = policy.weaker.nestedUserNamespaces === true;
  return [
    '--unshare-all',
    // `--unshare-all` would skip it silently where it is not possible.
    '--unshare-user',
    ...(policy.network.kind === 'open' ? ['--share-net'] : []),
    '--cap-drop',
    'ALL',
    '--die-with-parent',
    '--new-session',
    ...(features.disableUserNamespaces && !isNested ? ['--disable-userns'] : []),
  ];
}

function mountOptions({ kind, path }: Mount, scratch: string | undefined): readonly string[] {
  switch (kind) {
    case 'writable':
      return ['--bind', path, path];
    case 'read-only':
      return ['--ro-bind', path, path];
    case 'masked-tree':
      return ['--tmpfs', path];
    // Opening the device on this mount fails instead of reading as empty.
    case 'masked-file':
      return ['--ro-bind', '/dev/null', path];
    case 'temporary':
      return scratch === undefined ? ['--tmpfs', path] : ['--bind', scratch, path];
  }
}

/** Descriptors where bubblewrap reads its files. */
const OPTIONS_DESCRIPTOR = 8;
const FILTER_DESCRIPTOR = 9;
const HIGHEST_OF_SH = 9;

/**
 * A shell that opens the descriptors and execs bubblewrap; its environment is empty, because it runs outside
 * the sandbox.
 */
function launcher(
  { path: bubblewrap, inherited }: Pick<BubblewrapParts, 'path' | 'inherited'>,
  files: readonly OpenedFile[],
  program: readonly string[],
): Pick<SandboxedProgram, 'command' | 'args' | 'env'> {
  const opened = files.map(({ redirect }) => Number.parseInt(redirect, 10));
  const closed = [4, 5, 6, 7, 8, 9, ...inherited]
    .filter((fd, at, all) => fd > 3 && !opened.includes(fd) && all.indexOf(fd) === at)
    .map((fd) => `${fd}>&-`);
  const script = [
    ...files.map((_, at) => `f${at}=$1; shift;`),
    `exec ${closed.join(' ')};`,
    `exec "$0" --args ${OPTIONS_DESCRIPTOR} -- "$@"`,
    ...files.map(({ redirect }, at) => `${redirect}"$f${at}"`),
  ].join(' ');
  const [command, ...args] = needsBash(inherited)
    ? (['/bin/bash', '--norc', '--noprofile', '-c'] as const)
    : (['/bin/sh', '-c'] as const);
  const paths = files.map(({ path }) => path);
  return { command, args: [...args, script, bubblewrap, ...paths, ...program], env: {} };
}

/** Only bash can close descriptors above 9. */
export function needsBash(inherited: readonly number[]): boolean {
  return inherited.some((fd) => fd > HIGHEST_OF_SH);
}
