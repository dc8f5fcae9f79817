import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import { lstatFileSync } from '../../platform/fs/node-fs.js';
import { realPathSync } from '../../platform/fs/opened-path.js';
import { join } from '../../platform/fs/paths.js';

export interface ProbeResult {
  /** Null when the program did not start or end in time. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Facts that may prevent namespaces on this machine. */
export interface NamespaceFacts {
  /** `ID` and `ID_LIKE` of /etc/os-release. */
  readonly distribution: readonly string[];
  readonly appArmorRestricts: boolean;
  readonly disabledBySysctl: boolean;
  readonly inContainer: boolean;
  readonly firstWsl: boolean;
}

const PROBE_MS = 5000;

/** Used instead of PATH, which may contain project directories. */
const SYSTEM_DIRECTORIES = [
  '/usr/bin',
  '/bin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
  '/nix/var/nix/profiles/default/bin',
];

/** Finds a program in directories that only an administrator can write. */
export function systemProgram(name: string): string | undefined {
  return SYSTEM_DIRECTORIES.map((directory) => join(directory, name)).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function runProbe(command: string, args: readonly string[]): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const options = { timeout: PROBE_MS, env: {}, cwd: '/', encoding: 'utf8' as const };
    execFile(command, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ code, stdout, stderr: stderr === '' && error !== null ? error.message : stderr });
    });
  });
}

export function namespaceFacts(): NamespaceFacts {
  const version = text('/proc/version');
  return {
    distribution: distributionOf(text('/etc/os-release')),
    appArmorRestricts:
      text('/proc/sys/kernel/apparmor_restrict_unprivileged_userns').trim() === '1',
    disabledBySysctl:
      text('/proc/sys/kernel/unprivileged_userns_clone').trim() === '0' ||
      text('/proc/sys/user/max_user_namespaces').trim() === '0',
    inContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
    firstWsl: /microsoft/i.test(version) && !/WSL2|microsoft-standard/i.test(version),
  };
}

export function distributionOf(release: string): readonly string[] {
  const value = (name: string): string =>
    new RegExp(`^${name}=["']?([^"'\\n]*)`, 'm').exec(release)?.[1] ?? '';
  return `${value('ID')} ${value('ID_LIKE')}`.split(/\s+/).filter((word) => word !== '');
}

/** Descriptors that children would inherit from our parent; Node marks its own as close-on-exec. */
export function inheritedDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => fd > 2 && isInherited(fd));
  } catch {
    return [];
  }
}

const CLOSE_ON_EXEC = 0o2000000;

function isInherited(fd: number): boolean {
  const flags = /^flags:\s*([0-7]+)/m.exec(text(`/proc/self/fdinfo/${fd}`))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}

/**
 * Parts of /proc that concern the whole machine: root without capabilities may write there, and some settings
 * name programs that the kernel runs outside the sandbox.
 */
export function machineWideProc(): readonly string[] {
  return MACHINE_WIDE.map((name) => `/proc/${name}`).filter((path) => existsSync(path));
}

const MACHINE_WIDE =
  'acpi asound bus driver dynamic_debug fs irq latency_stats mtrr pressure scsi sys sysrq-trigger timer_stats tty'.split(
    ' ',
  );

/** Sockets in the file system that may have a listener. */
export function namedSockets(): readonly string[] {
  const paths = text('/proc/net/unix')
    .split('\n')
    .map((line) => /^\S+: \S+ \S+ \S+ \S+ \S+ +\d+ (\/.*)$/.exec(line)?.[1]);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

/** Disk access for the mount plan. */
export const sandboxDisk = {
  kind: (path: string) => lstatFileSync(path)?.kind,
  real: realPathSync,
  link: (path: string): string => readlinkSync(path),
  list: (path: string): readonly string[] => readdirSync(path),
};

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
