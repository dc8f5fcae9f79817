import type { SandboxSettings } from '../policy/settings.js';
import type { SandboxNetwork } from '../types.js';

/**
 * Variables that lead to agents which sign, decrypt or run commands; inside the sandbox they would only cause
 * strange failures.
 */
const AGENTS =
  /^(SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|GNOME_KEYRING_CONTROL|DBUS_(SESSION|SYSTEM)_BUS_ADDRESS|DOCKER_HOST|CONTAINER_HOST|PODMAN_HOST|WAYLAND_DISPLAY|DISPLAY|XAUTHORITY|TMUX|STY|VSCODE_IPC_HOOK(_CLI)?|VSCODE_GIT_\w+|GIT_ASKPASS|SSH_ASKPASS)$/;

/** The environment for a sandboxed program: without agent variables and those that settings remove. */
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

/** The environment as the sandbox itself changes it. */
export function programEnvironment(
  env: Readonly<Record<string, string>>,
  network: SandboxNetwork,
  options: {
    /** The directory for temporary files; undefined to keep the outside one. */
    readonly temporary?: string | undefined;
    /** The proxy's address when the network is filtered. */
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

/** Variables that name an outside proxy, which is unreachable from inside. */
const PROXY_VARIABLE =
  /^(npm_config_)?(https?|all|ftp|no|rsync|grpc)_?proxy$|^YARN_HTTPS?_PROXY$|^GLOBAL_AGENT_/i;

const LOCAL = 'localhost,127.0.0.1,::1';

/** The variables in which common programs expect a proxy. */
function proxyEnvironment(proxy: string): Record<string, string> {
  const both = (name: string, value: string): Record<string, string> => ({
    [name]: value,
    [name.toUpperCase()]: value,
  });
  return {
    ...both('http_proxy', proxy),
    ...both('https_proxy', proxy),
    // Not as SOCKS, although the port supports it: several programs refuse to start then.
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
    // For the fetch of newer Node versions.
    NODE_USE_ENV_PROXY: '1',
  };
}
