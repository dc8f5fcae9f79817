import { systemClock } from '../env/clock.js';
import type { RulesOf } from '../permissions/agent-rules.js';
import { sandboxAskedBy } from '../sandbox/asked.js';
import type { FenceParts } from '../sandbox/fence.js';
import { openSandbox } from '../sandbox/open.js';
import { createFinder } from '../sandbox/policy-find.js';
import type { Sourced } from '../util/sourced.js';
import type { ProjectOptions, ProjectPlaces } from './places.js';
import {
  loadProjectSettings,
  type ProjectSettings,
  projectRules,
  refuseFatal,
} from './settings.js';

/** The sandbox that commands of a session in this directory would run in. */
export interface ProjectSandbox {
  /** The setting that enables it. Undefined: none does, and it is opened as if one did. */
  readonly askedBy: Sourced<true> | undefined;
  readonly parts: FenceParts;
  readonly rules: RulesOf;
}

const ENABLED = '{"sandbox":{"enabled":true}}';

export async function openProjectSandbox(
  places: ProjectPlaces,
  options: ProjectOptions,
  plain: ProjectSettings,
): Promise<ProjectSandbox> {
  const { cwd, env, fs, home, configDir, stateDirectory } = places;
  refuseFatal(plain.problems);
  const askedBy = sandboxAskedBy(plain.settings.values);
  const loaded =
    askedBy === undefined
      ? await loadProjectSettings(places, { ...options, settings: ENABLED }, plain.trusted)
      : plain;
  const { rules, problems } = projectRules(places, options, loaded);
  refuseFatal([...loaded.problems, ...problems]);
  const { settings } = loaded;
  const added = settings.permissions.additionalDirectories.map(({ value }) => value);
  return {
    askedBy,
    rules,
    parts: {
      fs,
      finder: createFinder(fs, systemClock.now),
      home,
      configDir,
      stateDirectory,
      cwd,
      settings,
      open: (how) => openSandbox({ env, stateDirectory, ...how }),
      roots: () => [cwd, ...added],
      kept: { outputs: '', transcript: '' },
      tell: options.warn ?? (() => undefined),
    },
  };
}
