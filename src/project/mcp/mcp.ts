import { PortcullisError } from '../../errors.js';
import { nearest } from '../../lib/text/nearest.js';
import { visible } from '../../lib/text/visible.js';
import { type McpApprovals, openMcpApprovals } from '../../mcp/approval/project-approvals.js';
import { isPendingServer } from '../../mcp/approval/server-approval.js';
import { listedLine } from '../../mcp/config/entry-text.js';
import { loadMcpConfiguration, type McpConfiguration } from '../../mcp/config/load.js';
import { type McpStores, mcpStores } from '../../mcp/config/stores.js';
import type { ServerDeclaration } from '../../mcp/server.js';
import { projectLevels } from '../../platform/fs/project-levels.js';
import type { StartedTrust } from '../../settings/trust/project-trust.js';
import type { ProjectOptions, ProjectPlaces } from '../places.js';
import type { ProjectSettings } from '../settings.js';

export type { ServerDeclaration } from '../../mcp/server.js';

/** A server of `.mcp.json` that waits for a person's answer. */
export interface PendingServer {
  readonly name: string;
  /** Why it waits: it is new, or its entry changed. */
  readonly reason: string;
  /** What it runs or connects to, each line safe on a terminal. */
  readonly details: readonly string[];
  approve(): Promise<void>;
  decline(): Promise<void>;
}

/** The servers that a session in this directory would have. None is started. */
export interface ProjectServers {
  readonly configuration: McpConfiguration;
  readonly stores: McpStores;
  readonly approvals: McpApprovals;
  readonly pending: readonly PendingServer[];
  /** The entry of a server in lines, without what looks like a secret. */
  describe(server: ServerDeclaration): readonly string[];
}

export async function loadProjectServers(
  places: ProjectPlaces,
  { mcpConfig = [], strictMcpConfig = false }: ProjectOptions,
  { settings, trust }: { readonly settings: ProjectSettings; readonly trust: StartedTrust },
): Promise<ProjectServers> {
  const approvals = openMcpApprovals(places);
  const where = { ...places, levels: projectLevels(places.cwd), startEnv: places.env };
  const configuration = await loadMcpConfiguration({
    ...where,
    env: settings.env,
    values: settings.settings.values,
    approvals,
    trusted: trust.inForce,
    dynamic: mcpConfig,
    strict: strictMcpConfig,
    // A person who runs a command sees the state of each server.
    interactive: true,
  });
  const { servers, hidden, project } = configuration;
  const pending = [...servers, ...hidden].flatMap((server): readonly PendingServer[] => {
    const { name, standing } = server;
    if (!isPendingServer(standing)) return [];
    return [
      {
        name,
        reason: standing.why,
        details: [...configuration.describe(server), ...configuration.standsFor(server)],
        approve: () => approvals.approve(project, server),
        decline: () => approvals.decline(project, server),
      },
    ];
  });
  return {
    configuration,
    stores: mcpStores(where),
    approvals,
    pending,
    describe: (server) => configuration.describe(server).map(listedLine),
  };
}

/** The server of a name, or an error that suggests another one. */
export function serverNamed({ configuration }: ProjectServers, name: string): ServerDeclaration {
  const { servers } = configuration;
  const found = servers.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw unknownServer(
    name,
    servers.map((one) => one.name),
  );
}

/** The server of `.mcp.json` that a person may approve, or an error that says why there is none. */
export function approvableServer(servers: ProjectServers, name: string): ServerDeclaration {
  const { configuration } = servers;
  const found = [...configuration.servers, ...configuration.hidden].find(
    (one) => one.name === name && one.scope === 'project',
  );
  if (found === undefined) {
    const { scope } = serverNamed(servers, name);
    const message = `"${visible(name)}" needs no approval: its scope is ${scope}`;
    const remedy = 'only servers of .mcp.json need one';
    throw new PortcullisError('usage', message, { remedy });
  }
  if (found.standing.kind !== 'invalid') return found;
  throw new PortcullisError('config', `"${visible(name)}" cannot be used`, {
    remedy: visible(found.standing.reason),
  });
}

export function unknownServer(name: string, known: readonly string[]): PortcullisError {
  const meant = nearest(name, known);
  return new PortcullisError('usage', `there is no MCP server "${visible(name)}" here`, {
    remedy:
      meant === undefined ? 'portcullis mcp list shows them' : `did you mean "${visible(meant)}"?`,
  });
}

/** fail-closed: nothing is added to an administrator's list. */
export function refuseExclusive({ configuration }: ProjectServers): void {
  if (!configuration.exclusive) return;
  throw new PortcullisError('denied', 'an administrator keeps the list of MCP servers', {
    remedy: 'ask for the server to be added to managed-mcp.json',
  });
}
