import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { lstatFileSync } from '../../platform/fs/node-fs.js';
import { realPathSync } from '../../platform/fs/opened-path.js';
import { join } from '../../platform/fs/paths.js';

/** The machine as the sandbox sees it; tests substitute others. */
export interface SandboxHost {
  readonly platform: string;
  readonly arch: string;
  readonly disk: typeof sandboxDisk;
  /** The temporary directory outside the sandbox. */
  readonly temporaryDirectory: string;
  /** The path of the running Node. */
  readonly node: string;
  /** Finds a program in directories that only an administrator can write. */
  program(name: string): string | undefined;
  isExecutable(path: string): boolean;
  /** Runs a short program to completion. */
  probe(command: string, args: readonly string[]): Promise<ProbeResult>;
  facts(): NamespaceFacts;
  /** Descriptors that children would inherit from our parent. */
  inheritedDescriptors(): readonly number[];
  /** Parts of /proc that concern the whole machine. */
  machineWideProc(): readonly string[];
  /** Sockets in the file system that may have a listener. */
  namedSockets(): readonly string[];
}

export function nodeSandboxHost(): SandboxHost {
  return {
    platform: process.platform,
    arch: process.arch,
    disk: sandboxDisk,
    temporaryDirectory: tmpdir(),
    node: process.execPath,
    program: (name) => SYSTEM_DIRECTORIES.map((at) => join(at, name)).find(isExecutable),
    isExecutable,
    probe: runProbe,
    facts: namespaceFacts,
    inheritedDescriptors,
    machineWideProc: () => MACHINE_WIDE.map((name) => `/proc/${name}`).filter(existsSync),
    namedSockets,
  };
}

interface ProbeResult {
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

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function runProbe(command: string, args: readonly string[]): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const options = { timeout: PROBE_MS, env: {}, cwd: '/', encoding: 'utf8' as const };
    execFile(command, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ code, stdout, stderr: stderr === '' && error !== null ? error.message : stderr });
    });
  });
}

function namespaceFacts(): NamespaceFacts {
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

/** Node marks its own descriptors as close-on-exec. */
function inheritedDescriptors(): readonly number[] {
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

/** Root without capabilities may write there, and some settings name programs that the kernel runs outside the sandbox. */
const MACHINE_WIDE =
  'acpi asound bus driver dynamic_debug fs irq latency_stats mtrr pressure scsi sys sysrq-trigger timer_stats tty'.split(
    ' ',
  );

function namedSockets(): readonly string[] {
  const paths = text('/proc/net/unix')
    .split('\n')
    .map((line) => /^\S+: \S+ \S+ \S+ \S+ \S+ +\d+ (\/.*)$/.exec(line)?.[1]);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

/** Disk access for the mount plan. */
const sandboxDisk = {
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
