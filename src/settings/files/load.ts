import {
  applyCrossSettingRules,
  type EffectiveContext,
  effectiveSettings,
} from '../merge/effective.js';
import { type Merged, mergeFiles } from '../merge/merge.js';
import { mergeProblems } from '../merge/problems.js';
import { type CheckOptions, checkFiles } from '../schema/check.js';
import type { ConfigProblem, EffectiveSettings, SettingsFile } from '../types.js';
import { readSettingsFiles, type SettingsPlaces } from './read.js';

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
  /** Every value of every file and its status. */
  readonly merged: Merged;
}

/**
 * Reads, checks and merges managed, host, command-line, local, project and user settings, in this
 * order of strength. Lists add up, single values come from the strongest source. A project's files
 * can always restrict; they grant only when the folder is trusted, and never raise a mode that was chosen.
 */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  const { problems, places, ...read } = await readSettingsFiles(options);
  const checked = checkFiles(withKept(read.files, options.kept), options);
  const merged = applyCrossSettingRules(mergeFiles(checked.files, checked.table));
  return {
    merged,
    problems: [...problems, ...checked.problems, ...mergeProblems(merged)],
    settings: Object.freeze({
      ...effectiveSettings(merged, options),
      files: checked.files,
      places,
    }),
  };
}

function withKept(
  read: readonly SettingsFile[],
  kept: readonly SettingsFile[] | undefined,
): readonly SettingsFile[] {
  if (kept === undefined) return read;
  const isManaged = ({ source }: SettingsFile): boolean => source === 'managed';
  return [...read.filter(isManaged), ...kept.filter((file) => !isManaged(file))];
}

/** The directory of an administrator's settings on this kind of machine. */
export function managedSettingsDirectory(platform: string): string {
  if (platform === 'darwin') return '/Library/Application Support/ClaudeCode';
  if (platform === 'win32') return 'C:\\Program Files\\ClaudeCode';
  return '/etc/claude-code';
}
