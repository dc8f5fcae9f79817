import { systemClock } from '../../env/clock.js';
import { hostFacts } from '../../env/host.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { configDirectory, stateDirectory } from '../../env/paths.js';
import {
  type LoadedSettings,
  loadSettings,
  managedSettingsDirectory,
} from '../../settings/load.js';
import { withStrictness } from '../../settings/refuse.js';
import { startTrust } from '../../settings/trust-start.js';

interface SettingsInForce {
  readonly name: string;
  load(): Promise<Pick<LoadedSettings, 'settings' | 'problems'>>;
}

export interface HereOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `as it is`: as a session started now would have it. `given`: as if the folder were trusted. */
  readonly trust: 'as it is' | 'given';
  /** As `--settings` takes it: JSON text or a file, on top of the rest. */
  readonly settings?: string | undefined;
  warn(text: string): void;
}

/** The settings that a session in this directory would go by. */
export function settingsHere(options: HereOptions): SettingsInForce {
  const { cwd, env, settings } = options;
  let loading: ReturnType<SettingsInForce['load']> | undefined;
  return {
    name: JSON.stringify(['here', cwd, options.trust, settings]),
    load() {
      loading ??= load();
      return loading;
    },
  };

  async function load(): ReturnType<SettingsInForce['load']> {
    const configDir = configDirectory(env);
    const trustProject = options.trust === 'given' || (await isTrusted(options, configDir));
    const loaded = await loadSettings({
      fs: nodeFileSystem,
      cwd,
      configDir,
      managedDir: managedSettingsDirectory(hostFacts().os),
      sources: ['user', 'project', 'local'],
      trustProject,
      env,
      ...(settings === undefined ? {} : { flagSettings: settings }),
    });
    return { ...loaded, problems: withStrictness(loaded.problems, loaded.settings.strictness) };
  }
}

async function isTrusted({ cwd, env, warn }: HereOptions, configDir: string): Promise<boolean> {
  const trust = await startTrust({
    fs: nodeFileSystem,
    cwd,
    configDir,
    stateDirectory: stateDirectory(env),
    sources: ['user', 'project', 'local'],
    given: false,
    env,
    now: systemClock.now,
    warn,
  });
  return trust.now;
}
