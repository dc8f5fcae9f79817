import type { ScopedHooks } from '../hooks/registry/captured.js';
import { patternProblem } from '../permissions/rules/agent-rules.js';
import { ruleChecker } from '../permissions/rules/rules.js';
import { RULE_TOOLS } from '../permissions/rules/tools.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { homeDirectory } from '../platform/fs/paths.js';
import type { Plugin } from '../plugins/plugin.js';
import { refuseBroken } from '../settings/files/load.js';
import { sideloadRefusal } from '../settings/merge/switches.js';
import type { EffectiveSettings } from '../settings/types.js';
import type { SessionConfig } from './session-config.js';

interface PluginEnvironment {
  readonly fs: FileSystem;
  readonly configDir: string;
  readonly settings: Pick<EffectiveSettings, 'values'>;
}

/** Loads the plugins of a session; without any, the loader is not imported. */
export async function openPlugins(
  { plugins: given = [], cwd, env, emit }: Pick<SessionConfig, 'plugins' | 'cwd' | 'env' | 'emit'>,
  { fs, configDir, settings }: PluginEnvironment,
): Promise<readonly Plugin[]> {
  if (given.length === 0) return [];
  const { loadPlugins } = await import('../plugins/load.js');
  const forbidden = sideloadRefusal(settings);
  const { plugins, problems } = await loadPlugins(given, {
    fs,
    cwd,
    configDir,
    check: hookChecks(cwd, env),
    forbidden,
  });
  refuseBroken(problems, emit);
  for (const { hooks, servers, paths } of plugins) {
    // The programs of a plugin expect the directory that this variable names to exist.
    if (hooks.length + servers.length > 0) await fs.makeDirectory(paths.data, { mode: 0o700 });
  }
  return plugins;
}

/** The tools, rules and agents that hooks in files are validated against. */
export function hookChecks(cwd: string, env: SessionConfig['env']) {
  return {
    knownTools: Object.keys(RULE_TOOLS),
    checkAgents: patternProblem,
    checkRule: ruleChecker(cwd, homeDirectory(env)),
  };
}

export function hooksOfPlugins(plugins: readonly Plugin[]): readonly ScopedHooks[] {
  return plugins.flatMap(({ name, hooks, paths, trusted }) =>
    hooks.map(
      (one): ScopedHooks => ({
        kind: 'plugin',
        name,
        source: 'plugin',
        trusted,
        plugin: paths,
        ...one,
      }),
    ),
  );
}
