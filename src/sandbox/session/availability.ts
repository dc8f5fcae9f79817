import type { NamespaceFacts } from '../host/probe.js';
import type { SandboxAvailability } from '../types.js';

type Unavailable = Extract<SandboxAvailability, { kind: 'unavailable' }>;

function unavailable(missing: string, remedy: string): Unavailable {
  return { kind: 'unavailable', missing, remedy };
}

export function wrongPlatform(platform: string): Unavailable {
  const isWindows = platform === 'win32';
  return unavailable(
    `there is no sandbox for ${isWindows ? 'Windows' : platform}`,
    isWindows
      ? 'Use WSL 2, which is Linux, or turn the sandbox off in settings (sandbox.enabled).'
      : 'Use Linux or macOS, or turn the sandbox off in settings (sandbox.enabled).',
  );
}

export function unknownArchitecture(arch: string): Unavailable {
  return unavailable(
    `the system calls of ${arch} are not known, so sockets of other programs cannot be closed`,
    'Allow them all (sandbox.network.allowAllUnixSockets), or turn the sandbox off.',
  );
}

export function missingProgram(name: string, facts: NamespaceFacts): Unavailable {
  return unavailable(`${name} is not installed`, installCommand(facts.distribution, name));
}

export function missingSeatbelt(): Unavailable {
  return unavailable(
    '/usr/bin/sandbox-exec is not there',
    'It is part of macOS: repair the system.',
  );
}

export function leakedDescriptors(descriptors: readonly number[]): Unavailable {
  return unavailable(
    `the program that started us left descriptors open (${descriptors.join(', ')}), and only bash can close them`,
    'Install bash, or start the program from another terminal.',
  );
}

/** Why bubblewrap is there and does not run. */
export function doesNotRun(said: string, facts: NamespaceFacts): Unavailable {
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
