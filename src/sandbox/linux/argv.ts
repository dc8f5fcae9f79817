import { FROM_HOST, STARTER, TO_HOST } from '../host/forwarder.js';
import type { SandboxedProgram, SandboxPolicy } from '../types.js';
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

export interface LaunchOrder {
  readonly bubblewrap: string;
  /** Options in a file: the environment is among them, and arguments can be seen by everybody. */
  readonly optionsFile: string;
  readonly filterFile: string | undefined;
  /** Pipes to the proxy, and the text that makes use of them inside. */
  readonly link:
    | { readonly fromHost: string; readonly toHost: string; readonly starter: string }
    | undefined;
  readonly inherited: readonly number[];
  readonly program: readonly string[];
}

/** Descriptors by which bubblewrap and the forwarder find their files. */
export const OPTIONS_DESCRIPTOR = 8;
export const FILTER_DESCRIPTOR = 9;
const HIGHEST_OF_SH = 9;

/**
 * A shell that opens what bubblewrap reads from descriptors, and becomes bubblewrap. Its environment
 * is empty: what the program is given must not reach the shell, which runs outside.
 */
export function launcher(order: LaunchOrder): Pick<SandboxedProgram, 'command' | 'args' | 'env'> {
  const { link, filterFile, optionsFile, bubblewrap } = order;
  const files = [
    { redirect: `${OPTIONS_DESCRIPTOR}<`, path: optionsFile },
    ...(filterFile === undefined ? [] : [{ redirect: `${FILTER_DESCRIPTOR}<`, path: filterFile }]),
    ...(link === undefined
      ? []
      : [
          { redirect: `${STARTER}<`, path: link.starter },
          { redirect: `${FROM_HOST}<`, path: link.fromHost },
          { redirect: `${TO_HOST}>`, path: link.toHost },
        ]),
  ];
  const opened = files.map(({ redirect }) => Number.parseInt(redirect, 10));
  const closed = [4, 5, 6, 7, 8, 9, ...order.inherited]
    .filter((fd, at, all) => fd > 3 && !opened.includes(fd) && all.indexOf(fd) === at)
    .map((fd) => `${fd}>&-`);
  const script = [
    ...files.map((_, at) => `f${at}=$1; shift;`),
    `exec ${closed.join(' ')};`,
    `exec "$0" --args ${OPTIONS_DESCRIPTOR} -- "$@"`,
    ...files.map(({ redirect }, at) => `${redirect}"$f${at}"`),
  ].join(' ');
  const shell = shellFor(order.inherited);
  const paths = files.map(({ path }) => path);
  return {
    command: shell.command,
    args: [...shell.args, script, bubblewrap, ...paths, ...order.program],
    env: {},
  };
}

/** Only bash can close descriptors of more than one digit. */
export function needsBash(inherited: readonly number[]): boolean {
  return inherited.some((fd) => fd > HIGHEST_OF_SH);
}

function shellFor(inherited: readonly number[]): { command: string; args: readonly string[] } {
  return needsBash(inherited)
    ? { command: '/bin/bash', args: ['--norc', '--noprofile', '-c'] }
    : { command: '/bin/sh', args: ['-c'] };
}
