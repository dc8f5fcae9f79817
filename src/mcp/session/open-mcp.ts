import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { homeDirectory, join } from '../../platform/fs/paths.js';
import { lookAtLevels, mayBeThere, projectLevels } from '../../platform/fs/project-levels.js';
import { managedSettingsDirectory, refuseBroken } from '../../settings/files/load.js';
import type { McpParts, OpenServersOfSession } from './session-servers.js';

/**
 * Opens a session's MCP servers; undefined when none is declared. Sessions without servers only check for
 * files and load no further code.
 */
export async function openMcp(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: McpParts,
): Promise<OpenServersOfSession | undefined> {
  if (!mayHaveServers(config, environment)) return undefined;
  const [{ loadMcpConfiguration }, { openMcpApprovals }] = await Promise.all([
    import('../config/load.js'),
    import('../approval/project-approvals.js'),
  ]);
  const { fs, stateDirectory } = environment;
  const levels = projectLevels(config.cwd);
  const load = (dynamic: SessionConfig['mcpConfig']) =>
    loadMcpConfiguration({
      fs,
      cwd: config.cwd,
      levels,
      home: homeDirectory(config.env),
      configDir: environment.configDir,
      managedDir: managedSettingsDirectory(environment.host.os),
      env: environment.env,
      startEnv: config.env,
      values: environment.settings.values,
      sources: environment.sources,
      dynamic: dynamic ?? [],
      strict: config.strictMcpConfig === true,
      trusted: environment.trust.inForce,
      approvals: openMcpApprovals({ fs, stateDirectory }),
      interactive: config.asker !== undefined,
      plugins: environment.plugins.flatMap(({ servers }) => servers),
    });
  const configuration = await load(config.mcpConfig);
  refuseBroken(configuration.problems, config.emit);
  if (configuration.servers.length === 0 && config.mcpBridge === undefined) return undefined;
  const { openServersOfSession } = await import('./session-servers.js');
  return openServersOfSession(config, environment, { configuration, reload: load, ...parts });
}

function mayHaveServers(config: SessionConfig, environment: SessionEnvironment): boolean {
  if ((config.mcpConfig?.length ?? 0) > 0 || config.mcpBridge !== undefined) return true;
  if (environment.settings.values.get('managedMcpServers') !== undefined) return true;
  if (environment.plugins.some(({ servers }) => servers.length > 0)) return true;
  if (lookAtLevels(config.cwd).some(({ hasServers }) => hasServers)) return true;
  const files = [
    join(homeDirectory(config.env), '.claude.json'),
    join(environment.configDir, '.claude.json'),
    join(managedSettingsDirectory(environment.host.os), 'managed-mcp.json'),
    // Misplaced files of other programs, which cause a warning with the right place.
    join(config.cwd, '.claude', 'mcp.json'),
    join(config.cwd, 'claude.json'),
    join(environment.configDir, 'mcp.json'),
  ];
  return files.some((file) => mayBeThere(file));
}
