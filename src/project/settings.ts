import { hookChecks } from '../config/plugins.js';
import type { SessionConfig } from '../config/session-config.js';
import { PortcullisError } from '../errors.js';
import { createLiveRules, type LiveRules } from '../permissions/rules/agent-rules.js';
import { homeDirectory } from '../platform/fs/paths.js';
import {
  fatalOf,
  type LoadedSettings,
  loadSettings,
  withStrictness,
} from '../settings/files/load.js';
import { type ConfigProblem, describeProblem } from '../settings/types.js';
import type { ProjectOptions, ProjectPlaces } from './places.js';

export { fatalOf } from '../settings/files/load.js';
export { type ConfigProblem, describeProblem } from '../settings/types.js';

/** The settings that a session in this directory would use. */
export interface ProjectSettings extends LoadedSettings {
  /** Whether the project's files may grant and execute. */
  readonly trusted: boolean;
  /** The variables of the process with those of the settings on top. */
  readonly env: SessionConfig['env'];
}

/** The rules of the settings and of `--allowedTools` and `--disallowedTools`. */
export interface ProjectRules {
  readonly rules: LiveRules['rules'];
  /** What is wrong with them. A fatal problem means: no session starts. */
  readonly problems: readonly ConfigProblem[];
}

export async function loadProjectSettings(
  places: ProjectPlaces,
  { settings: flagSettings, managedSettings: hostSettings }: ProjectOptions,
  trusted: boolean,
): Promise<ProjectSettings> {
  const loaded = await loadSettings({
    ...places,
    ...hookChecks(places.cwd, places.env),
    trustProject: trusted,
    flagSettings,
    hostSettings,
  });
  const { settings, problems } = loaded;
  const fromSettings = Object.entries(settings.env).map(([name, { value }]) => [name, value]);
  return {
    ...loaded,
    trusted,
    env: { ...places.env, ...Object.fromEntries(fromSettings) },
    problems: withStrictness(problems, settings.strictness),
  };
}

export function projectRules(
  { cwd }: ProjectPlaces,
  { allowedTools = [], disallowedTools = [] }: ProjectOptions,
  { settings, env }: ProjectSettings,
): ProjectRules {
  const home = homeDirectory(env);
  const live = createLiveRules({ cwd, home, allowedTools, disallowedTools });
  const problems = live.replace(settings.permissions, settings.strictness);
  return { rules: live.rules, problems };
}

/** fail-closed: what no session would start with is not tried out either. */
export function refuseFatal(problems: readonly ConfigProblem[]): void {
  const fatal = fatalOf(problems).map(describeProblem);
  if (fatal.length > 0) throw new PortcullisError('config', fatal.join('\n'));
}
