import { PortcullisError } from '../errors.js';
import { Access, type AccessOptions } from './access.js';
import { ConsoleServer, isLoopback } from './http-server.js';
import { SessionHub } from './session-hub.js';
import { StartedSessions } from './start-session.js';

export interface ConsoleOptions extends AccessOptions {
  /** Absent: 127.0.0.1. Another address needs a password file or a proxy's secret. */
  readonly host?: string | undefined;
  /** Absent or 0: a free one. */
  readonly port?: number | undefined;
  /** Shows only sessions whose id begins with this. */
  readonly session?: string | undefined;
  /** Further host names to accept, such as that of a proxy. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Absent: the variables of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The command that starts new sessions; absent: the page cannot start any. */
  readonly program?: readonly string[] | undefined;
  readonly pageDirectory: string;
}

export interface Console {
  /** Contains the token of the person who started it, unless people sign in. */
  readonly url: string;
  readonly port: number;
  /** An address for a browser's command line: it works once, since other users can see it. */
  openUrl(): string;
  close(): Promise<void>;
}

/** Serves the console: one page for all sessions of this user on this machine. */
export async function serveConsole(options: ConsoleOptions): Promise<Console> {
  const { host = '127.0.0.1', port = 0, env = process.env, allowedHosts = [] } = options;
  const access = new Access(options);
  // fail-closed: a token in an address does not identify a person on another machine.
  if (!isLoopback(host) && access.token !== undefined) {
    throw new PortcullisError(
      'config',
      `other machines can reach ${host}, so people must sign in`,
      {
        remedy: 'add --password-file or --proxy-secret-file, or leave out --host',
      },
    );
  }
  const hub = new SessionHub(env, options.session);
  const started = new StartedSessions(env, options.program ?? []);
  const deps = { env, hub, access, started, tellsAgents: process.platform === 'linux' };
  try {
    const { pageDirectory } = options;
    const server = await ConsoleServer.listen({ deps, host, port, allowedHosts, pageDirectory });
    const name = host.includes(':') ? `[${host}]` : host;
    const url = `http://${name}:${server.port}/`;
    return {
      url: access.token === undefined ? url : `${url}#token=${access.token}`,
      port: server.port,
      openUrl: () => (access.token === undefined ? url : `${url}#code=${access.oneTimeCode()}`),
      async close() {
        started.close();
        hub.close();
        await server.close();
      },
    };
  } catch (thrown) {
    hub.close();
    throw thrown;
  }
}
