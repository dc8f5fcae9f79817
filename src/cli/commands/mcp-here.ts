import { systemClock } from '../../env/clock.js';
import { hostFacts } from '../../env/host.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import {
  configDirectory,
  dirname,
  findRepositoryRoot,
  homeDirectory,
  resolve,
  stateDirectory,
} from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import type { ProjectTrust } from '../../harness.js';
import { type McpApprovals, openMcpApprovals } from '../../mcp/approvals.js';
import { loadMcpConfiguration, type McpConfiguration } from '../../mcp/config.js';
import type { DynamicServers } from '../../mcp/config-types.js';
import type { ServerDeclaration } from '../../mcp/server.js';
import { type McpStores, mcpStores } from '../../mcp/stores.js';
import { loadSettings, managedSettingsDirectory } from '../../settings/load.js';
import { startTrust } from '../../settings/trust-start.js';
import { nearest } from '../../util/nearest.js';
import { visible } from '../../util/visible.js';

export interface McpHereOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly dynamic?: readonly DynamicServers[];
  readonly strict?: boolean;
  /** As `--settings` takes it. */
  readonly settings?: string | undefined;
  readonly sources?: readonly ('user' | 'project' | 'local')[] | undefined;
  /** Trust that a person was already asked about. */
  readonly trust?: ProjectTrust | undefined;
  /** `--trust`: as if the folder were trusted. */
  readonly trustGiven?: boolean;
}

export interface McpHere {
  readonly cwd: string;
  readonly configuration: McpConfiguration;
  readonly stores: McpStores;
  readonly approvals: McpApprovals;
  readonly trust: ProjectTrust;
}

/** The servers that a session in this directory would have. Nothing is started. */
export async function mcpHere(options: McpHereOptions = {}): Promise<McpHere> {
  const env = options.env ?? process.env;
  const cwd = options.cwd ?? process.cwd();
  const fs = nodeFileSystem;
  const places = {
    fs,
    cwd,
    env,
    configDir: configDirectory(env),
    managedDir: managedSettingsDirectory(hostFacts().os),
    stateDirectory: stateDirectory(env),
    sources: options.sources ?? (['user', 'project', 'local'] as const),
    now: systemClock.now,
    // What is held back stands in the list.
    warn: () => undefined,
  };
  const trust = await startTrust({
    ...places,
    asked: options.trust,
    given: options.trustGiven === true,
  });
  const { settings } = await loadSettings({
    ...places,
    trustProject: trust.now,
    ...(options.settings === undefined ? {} : { flagSettings: options.settings }),
  });
  const fromSettings = Object.entries(settings.env).map(([name, { value }]) => [name, value]);
  const approvals = openMcpApprovals(places);
  const where = { ...places, home: homeDirectory(env), levels: levelsOf(cwd), startEnv: env };
  const configuration = await loadMcpConfiguration({
    ...where,
    env: { ...env, ...Object.fromEntries(fromSettings) },
    values: settings.values,
    approvals,
    trusted: trust.inForce,
    dynamic: options.dynamic ?? [],
    strict: options.strict === true,
    // Whoever runs the command sees how each stands.
    interactive: true,
  });
  return { cwd, configuration, stores: mcpStores(where), approvals, trust: trust.trust };
}

/** The start directory first, the repository's root last. */
function levelsOf(cwd: string): readonly string[] {
  const root = findRepositoryRoot(cwd) ?? resolve(cwd);
  const levels = [resolve(cwd)];
  for (let at = resolve(cwd); at !== root; ) {
    at = dirname(at);
    levels.push(at);
  }
  return levels;
}

/** The server of a name, or an error that says which there are. */
export function serverNamed(here: McpHere, name: string): ServerDeclaration {
  const { servers } = here.configuration;
  const found = servers.find((one) => one.name === name);
  if (found !== undefined) return found;
  const meant = nearest(
    name,
    servers.map((one) => one.name),
  );
  throw new PortcullisError('usage', `there is no MCP server "${visible(name)}" here`, {
    remedy:
      meant === undefined ? 'portcullis mcp list shows them' : `did you mean "${visible(meant)}"?`,
  });
}

/** fail-closed: an administrator's list is not added to. */
export function refuseExclusive({ configuration }: McpHere): void {
  if (!configuration.exclusive) return;
  throw new PortcullisError('denied', 'an administrator keeps the list of MCP servers', {
    remedy: 'ask for the server to be added to managed-mcp.json',
  });
}
