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

interface PluginGround {
  readonly fs: FileSystem;
  readonly configDir: string;
  readonly settings: Pick<EffectiveSettings, 'values'>;
}

/** The plugins of a session. Most sessions have none, and load nothing for them. */
export async function openPlugins(
  { plugins: given = [], cwd, env, emit }: Pick<SessionConfig, 'plugins' | 'cwd' | 'env' | 'emit'>,
  { fs, configDir, settings }: PluginGround,
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
    // Their programs find it in a variable and take it for granted.
    if (hooks.length + servers.length > 0) await fs.makeDirectory(paths.data, { mode: 0o700 });
  }
  return plugins;
}

/** By what the hooks of files are checked: the tools, rules and agents that there can be. */
export function hookChecks(cwd: string, env: SessionConfig['env']) {
  return {
    knownTools: Object.keys(RULE_TOOLS),
    checkAgents: patternProblem,
    checkRule: ruleChecker(cwd, homeDirectory(env)),
  };
}

/** What plugins want to be asked and told. */
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
