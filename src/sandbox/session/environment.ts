import type { SandboxSettings } from '../policy/settings.js';
import type { SandboxNetwork } from '../types.js';

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

/** The environment of a program inside, as far as the fence itself changes it. */
export function programEnvironment(
  env: Readonly<Record<string, string>>,
  network: SandboxNetwork,
  options: {
    /** Where temporary files go, or undefined when that is as outside. */
    readonly temporary?: string | undefined;
    /** The address of the proxy, where the network is filtered. */
    readonly proxy?: string | undefined;
  },
): Record<string, string> {
  const inside: Record<string, string> = { ...env };
  if (options.temporary !== undefined) {
    for (const name of ['TMPDIR', 'TMP', 'TEMP']) inside[name] = options.temporary;
  }
  if (network.kind === 'open') return inside;
  for (const name of Object.keys(inside)) if (PROXY_VARIABLE.test(name)) delete inside[name];
  return options.proxy === undefined ? inside : { ...inside, ...proxyEnvironment(options.proxy) };
}

/** Of a proxy outside, which cannot be reached from inside. */
const PROXY_VARIABLE =
  /^(npm_config_)?(https?|all|ftp|no|rsync|grpc)_?proxy$|^YARN_HTTPS?_PROXY$|^GLOBAL_AGENT_/i;

const LOCAL = 'localhost,127.0.0.1,::1';

/** By which common programs find a proxy. */
export function proxyEnvironment(proxy: string): Record<string, string> {
  const both = (name: string, value: string): Record<string, string> => ({
    [name]: value,
    [name.toUpperCase()]: value,
  });
  return {
    ...both('http_proxy', proxy),
    ...both('https_proxy', proxy),
    // Not as SOCKS, which the same port speaks too: several programs refuse to start when they see it.
    ...both('all_proxy', proxy),
    ...both('ftp_proxy', proxy),
    ...both('no_proxy', LOCAL),
    RSYNC_PROXY: proxy.replace(/^https?:\/\//, ''),
    npm_config_proxy: proxy,
    npm_config_https_proxy: proxy,
    npm_config_noproxy: LOCAL,
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
    CARGO_HTTP_PROXY: proxy,
    // Node's own fetch, from the versions on that know it.
    NODE_USE_ENV_PROXY: '1',
  };
}
