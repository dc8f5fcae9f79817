import type { SessionConfig } from '../agents/session-config.js';
import { dirname, findRepositoryRoot, homeDirectory, join, resolve } from '../env/paths.js';
import { managedSettingsDirectory } from '../settings/load.js';
import { refuseBroken } from '../settings/refuse.js';
import type { Ground } from './ground.js';
import type { McpParts, OpenServersOfSession } from './mcp-servers.js';

/**
 * The MCP servers of a session. Undefined when none is declared, which is found out by looking for
 * files alone: most sessions have no server and load nothing for them.
 */
export async function openMcp(
  config: SessionConfig,
  ground: Ground,
  parts: McpParts,
): Promise<OpenServersOfSession | undefined> {
  const levels = levelsOf(config.cwd);
  if (!(await mayHaveServers(config, ground, levels))) return undefined;
  const [{ loadMcpConfiguration }, { openMcpApprovals }] = await Promise.all([
    import('../mcp/config.js'),
    import('../mcp/approvals.js'),
  ]);
  const { fs, stateDirectory } = ground;
  const load = (dynamic: SessionConfig['mcpConfig']) =>
    loadMcpConfiguration({
      fs,
      cwd: config.cwd,
      levels,
      home: homeDirectory(config.env),
      configDir: ground.configDir,
      managedDir: managedSettingsDirectory(ground.host.os),
      env: ground.env,
      startEnv: config.env,
      values: ground.settings.values,
      sources: ground.sources,
      dynamic: dynamic ?? [],
      strict: config.strictMcpConfig === true,
      trusted: ground.trust.inForce,
      approvals: openMcpApprovals({ fs, stateDirectory }),
      interactive: config.asker !== undefined,
    });
  const configuration = await load(config.mcpConfig);
  refuseBroken(configuration.problems, config.emit);
  if (configuration.servers.length === 0 && config.mcpBridge === undefined) return undefined;
  const { openServersOfSession } = await import('./mcp-servers.js');
  return openServersOfSession(config, ground, { configuration, reload: load, ...parts });
}

async function mayHaveServers(
  config: SessionConfig,
  ground: Ground,
  levels: readonly string[],
): Promise<boolean> {
  if ((config.mcpConfig?.length ?? 0) > 0 || config.mcpBridge !== undefined) return true;
  if (ground.settings.values.get('managedMcpServers') !== undefined) return true;
  const home = homeDirectory(config.env);
  const files = [
    ...levels.map((level) => join(level, '.mcp.json')),
    join(home, '.claude.json'),
    join(ground.configDir, '.claude.json'),
    join(managedSettingsDirectory(ground.host.os), 'managed-mcp.json'),
    // Names that others give their files: whoever uses them is told the right ones.
    join(config.cwd, '.claude', 'mcp.json'),
    join(config.cwd, 'claude.json'),
    join(ground.configDir, 'mcp.json'),
  ];
  const found = await Promise.all(
    files.map(async (file) => {
      try {
        return (await ground.fs.stat(file)) !== undefined;
      } catch {
        // fail-closed: what cannot be looked at may be there, and whoever reads it says so.
        return true;
      }
    }),
  );
  return found.includes(true);
}

/** The start directory first, the repository's root last. */
function levelsOf(cwd: string): readonly string[] {
  const start = resolve(cwd);
  const root = findRepositoryRoot(start) ?? start;
  const levels = [start];
  for (let at = start; at !== root; ) {
    at = dirname(at);
    levels.push(at);
  }
  return levels;
}
