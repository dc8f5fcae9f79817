import type { SandboxPolicy } from '../types.js';
import { FILTER_DESCRIPTOR } from './launcher.js';
import type { Mount } from './mounts.js';

/** What this machine's bubblewrap can do. */
export interface BubblewrapFeatures {
  readonly version: string;
  /** `--disable-userns`, since 0.8.0. */
  readonly disableUserNamespaces: boolean;
  /** Parts of /proc that are the whole machine's, and which an administrator could write. */
  readonly machineWide: readonly string[];
}

export interface ArgvInput {
  readonly policy: SandboxPolicy;
  readonly mounts: readonly Mount[];
  readonly features: BubblewrapFeatures;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The private directory that stands for a place of temporary files. Absent: kept in memory. */
  readonly scratch?: string;
  /** Whether the filter of system calls is open at its descriptor. */
  readonly hasFilter: boolean;
}

/** The options of bubblewrap for one program; the program itself is not among them. */
export function bubblewrapOptions(input: ArgvInput): readonly string[] {
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
    // A fresh /proc still has the machine's own settings in it; an administrator without any
    // capability may write some of them.
    ...features.machineWide.flatMap((path) => ['--ro-bind', path, path]),
    // Only when all in it is mounted.
    ...mounts.flatMap(({ kind, path }) => (kind === 'masked-tree' ? ['--remount-ro', path] : [])),
    ...(input.hasFilter ? ['--seccomp', String(FILTER_DESCRIPTOR)] : []),
    // Of the shell that starts us.
    ...SHELL_VARIABLES.flatMap((name) => (Object.hasOwn(env, name) ? [] : ['--unsetenv', name])),
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    '--chdir',
    cwd,
  ];
}

const SHELL_VARIABLES = ['PWD', 'OLDPWD', 'SHLVL', '_'];

/** The same for everybody, whoever we are: an administrator keeps its capabilities otherwise. */
function isolation(policy: SandboxPolicy, features: BubblewrapFeatures): readonly string[] {
  const isNested = policy.weaker.nestedUserNamespaces === true;
  return [
    '--unshare-all',
    // Not only where it happens to be possible.
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
    // Devices do not work on such a mount, so opening it fails instead of reading as empty.
    case 'masked-file':
      return ['--ro-bind', '/dev/null', path];
    case 'temporary':
      return scratch === undefined ? ['--tmpfs', path] : ['--bind', scratch, path];
  }
}
