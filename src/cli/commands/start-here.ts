import { systemClock } from '../../env/clock.js';
import { hostFacts } from '../../env/host.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { configDirectory, resolve, stateDirectory } from '../../env/paths.js';
import { projectLevels } from '../../env/project-levels.js';
import {
  type LoadedSettings,
  loadSettings,
  managedSettingsDirectory,
} from '../../settings/load.js';
import { openProjectTrust } from '../../settings/trust.js';
import { startTrust } from '../../settings/trust-start.js';
import { hiddenHere } from './hidden-here.js';

export interface StartHereOptions {
  readonly trust: boolean;
  /** As `--settings` takes it. */
  readonly settings?: string | undefined;
  readonly addDirs?: readonly string[];
  warn(text: string): void;
}

/** What a session in this directory would look for its skills and its agents with. */
export async function startHere(options: StartHereOptions) {
  const { env } = process;
  const cwd = process.cwd();
  const places = {
    fs: nodeFileSystem,
    cwd,
    env,
    configDir: configDirectory(env),
    managedDir: managedSettingsDirectory(hostFacts().os),
    stateDirectory: stateDirectory(env),
    sources: ['user', 'project', 'local'] as const,
    now: systemClock.now,
    // What is held back stands in the list.
    warn: () => undefined,
  };
  const trust = await startTrust({ ...places, given: options.trust });
  const loaded: LoadedSettings = await loadSettings({
    ...places,
    trustProject: trust.now,
    ...(options.settings === undefined ? {} : { flagSettings: options.settings }),
  });
  const { settings } = loaded;
  const addDirs = (options.addDirs ?? []).map((directory) => resolve(cwd, directory));
  const added = [
    ...addDirs,
    ...settings.permissions.additionalDirectories.map(({ value }) => value),
  ];
  const levels = projectLevels(cwd);
  const { warn } = options;
  const asked = { cwd, env, addDirs, added, trust: options.trust, trusted: trust.now, warn };
  return {
    trusted: trust.now,
    settings,
    places: {
      ...places,
      additionalDirectories: () => added,
      isHidden: hiddenHere(asked, loaded),
      // One unaccepted declaration on the way up holds back all that is on it.
      trusts: async (directory: string): Promise<boolean> =>
        levels.includes(directory)
          ? trust.now
          : options.trust ||
            (await openProjectTrust({ ...places, cwd: directory }).check()).verdict === 'trusted',
    },
  };
}
