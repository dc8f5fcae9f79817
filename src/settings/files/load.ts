import { SETTINGS } from '../../../build/generated/settings-table.js';
import { type EffectiveContext, effectiveSettings, withCrossRules } from '../merge/effective.js';
import { type Merged, mergeFiles } from '../merge/merge.js';
import { standingProblems } from '../merge/problems.js';
import type { CheckOptions } from '../schema/check-options.js';
import type { ConfigProblem, EffectiveSettings, LookedAt, SettingsFile } from '../types.js';
import { readSettingsFiles, type SettingsPlaces } from './read.js';
import { isSimple } from './simple.js';

export interface LoadSettingsOptions
  extends SettingsPlaces,
    Pick<EffectiveContext, 'env'>,
    CheckOptions {
  /** Files as they were, in place of what all but an administrator's hold now. */
  readonly kept?: readonly SettingsFile[];
}

export interface LoadedSettings {
  readonly settings: EffectiveSettings;
  /** Any `fatal` among them means: do not start, unless `settings.strictness` says otherwise. */
  readonly problems: readonly ConfigProblem[];
  /** Every value of every file and what became of it. */
  readonly merged: Merged;
  /** There is nothing but the everyday keys in any of the files. */
  readonly isSimple: boolean;
}

/**
 * Reads, checks and merges managed, host, command-line, local, project and user settings, in this
 * order of strength. Lists add up, single values come from the strongest source. A project's files
 * can always restrict; they grant only when the folder is trusted, and never raise a mode that was chosen.
 */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  const { problems, places, ...read } = await readSettingsFiles(options);
  const files = withKept(read.files, options.kept);
  if (files.length === 0) return nothingSet(problems, places);
  const { merged, ...checked } = await checkAndMerge(files, options);
  return {
    merged,
    isSimple: checked.isSimple,
    problems: [...problems, ...checked.problems, ...standingProblems(merged)],
    settings: Object.freeze({
      ...effectiveSettings(merged, options),
      files: checked.files,
      places,
    }),
  };
}

/** The usual case of a fresh machine, without the cost of the others. */
function nothingSet(
  problems: readonly ConfigProblem[],
  places: readonly LookedAt[],
): LoadedSettings {
  const settings = Object.freeze({
    permissions: { allow: [], ask: [], deny: [], additionalDirectories: [] },
    env: {},
    values: { get: () => undefined, list: () => [], said: () => [], has: () => false },
    strictness: {},
    files: [],
    places,
  });
  return { settings, problems, merged: new Map(), isSimple: true };
}

function withKept(
  read: readonly SettingsFile[],
  kept: readonly SettingsFile[] | undefined,
): readonly SettingsFile[] {
  if (kept === undefined) return read;
  const ofAdministrator = ({ source }: SettingsFile): boolean => source === 'managed';
  return [...read.filter(ofAdministrator), ...kept.filter((file) => !ofAdministrator(file))];
}

interface Checked extends Pick<LoadedSettings, 'merged' | 'isSimple'> {
  readonly files: readonly SettingsFile[];
  readonly problems: readonly ConfigProblem[];
}

/** Everyday files are known to be well-formed at a glance; the checks are loaded for all others. */
async function checkAndMerge(
  files: readonly SettingsFile[],
  options: CheckOptions,
): Promise<Checked> {
  if (files.every(isSimple)) {
    const merged = await withCrossRules(mergeFiles(files, SETTINGS));
    return { files, merged, isSimple: true, problems: [] };
  }
  const [{ checkFiles }, { unavailableProblems }, { hookProblems }] = await Promise.all([
    import('../schema/check.js'),
    import('../merge/unavailable.js'),
    import('../merge/hook-problems.js'),
  ]);
  const checked = checkFiles(files, options);
  const merged = await withCrossRules(mergeFiles(checked.files, checked.table));
  const problems = [...checked.problems, ...unavailableProblems(merged), ...hookProblems(merged)];
  return { files: checked.files, merged, isSimple: false, problems };
}

/** The directory of an administrator's settings on this kind of machine. */
export function managedSettingsDirectory(platform: string): string {
  if (platform === 'darwin') return '/Library/Application Support/ClaudeCode';
  if (platform === 'win32') return 'C:\\Program Files\\ClaudeCode';
  return '/etc/claude-code';
}
