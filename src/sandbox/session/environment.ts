import type { SandboxSettings } from '../policy/settings.js';

/**
 * By these programs find an agent that signs, decrypts or commands for whoever asks: with the name
 * alone they would only fail in a stranger way.
 */
const AGENTS =
  /^(SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|GNOME_KEYRING_CONTROL|DBUS_(SESSION|SYSTEM)_BUS_ADDRESS|DOCKER_HOST|CONTAINER_HOST|PODMAN_HOST|WAYLAND_DISPLAY|DISPLAY|XAUTHORITY|TMUX|STY|VSCODE_IPC_HOOK(_CLI)?|VSCODE_GIT_\w+|GIT_ASKPASS|SSH_ASKPASS)$/;

/** The environment of a program inside: without the ways to agents outside, and what settings take out. */
export function fencedEnvironment(
  env: Readonly<Record<string, string>>,
  { droppedVariables, unixSockets }: Pick<SandboxSettings, 'droppedVariables' | 'unixSockets'>,
): Record<string, string> {
  const dropped = new Set(droppedVariables);
  const isOpen = (value: string): boolean =>
    unixSockets === 'all' || unixSockets.some((socket) => value.includes(socket));
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) => !dropped.has(name) && (!AGENTS.test(name) || isOpen(value)),
    ),
  );
}
