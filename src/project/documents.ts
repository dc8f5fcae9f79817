import type { IsHidden } from '../permissions/paths/hidden-files.js';
import { resolve } from '../platform/fs/paths.js';
import { projectLevels } from '../platform/fs/project-levels.js';
import { openProjectTrust } from '../settings/trust/project-trust.js';
import { hiddenFiles } from './hidden-files.js';
import type { ProjectOptions, ProjectPlaces } from './places.js';
import type { ProjectRules, ProjectSettings } from './settings.js';

/** What is wrong with a document of a skill, an agent or a plugin. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** The file. */
  readonly place: string;
  readonly line?: number | undefined;
  readonly message: string;
}

/** What the skills and the agents of a project are looked for with. */
export interface DocumentPlaces extends ProjectPlaces {
  readonly isHidden: IsHidden;
  additionalDirectories(): readonly string[];
  /** Whether what is in the `.claude` of a directory may grant and execute. */
  trusts(directory: string): Promise<boolean>;
}

export function documentPlaces(
  places: ProjectPlaces,
  options: ProjectOptions,
  { settings, rules }: { readonly settings: ProjectSettings; readonly rules: ProjectRules },
): DocumentPlaces {
  const addDirs = (options.addDirs ?? []).map((directory) => resolve(places.cwd, directory));
  const { additionalDirectories } = settings.settings.permissions;
  const added = [...addDirs, ...additionalDirectories.map(({ value }) => value)];
  const levels = projectLevels(places.cwd);
  const trustGiven = options.trust === 'given';
  const warn = options.warn ?? (() => undefined);
  return {
    ...places,
    additionalDirectories: () => added,
    isHidden: hiddenFiles({ places, trustGiven, settings, rules, addDirs, added, warn }),
    // One unaccepted declaration on the way up holds back all that is on it.
    trusts: async (directory) =>
      levels.includes(directory)
        ? settings.trusted
        : trustGiven ||
          (await openProjectTrust({ ...places, cwd: directory }).check()).verdict === 'trusted',
  };
}
