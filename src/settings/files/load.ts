import { PortcullisError } from '../../errors.js';
import { originOf } from '../../lib/sourced.js';
import type { SessionNews } from '../../protocol/session-events.js';
import {
  applyCrossSettingRules,
  type EffectiveContext,
  effectiveSettings,
} from '../merge/effective.js';
import { type Merged, mergeFiles } from '../merge/merge.js';
import { mergeProblems } from '../merge/problems.js';
import { checkFiles } from '../schema/check.js';
import type { CheckOptions } from '../schema/type-check.js';
import {
  type ConfigProblem,
  describeProblem,
  type EffectiveSettings,
  type SettingsFile,
  type Strictness,
} from '../types.js';
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

/**
 * fail-closed: a restriction that cannot be honoured stops the start. What is only lost or different
 * is told.
 */
export function refuseBroken(
  problems: readonly ConfigProblem[],
  emit: (news: SessionNews) => void,
  strictness: Strictness = {},
): void {
  const judged = withStrictness(problems, strictness);
  const fatal = fatalOf(judged);
  if (fatal.length > 0) {
    throw new PortcullisError('config', fatal.map(describeProblem).join('\n'), {
      remedy: 'Nothing was started. Correct what is named above.',
    });
  }
  for (const problem of judged) {
    emit({
      type: 'notice',
      level: problem.severity === 'warning' ? 'warning' : 'info',
      text: describeProblem(problem),
    });
  }
}

export function fatalOf(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  return problems.filter((problem) => problem.severity === 'fatal');
}

/**
 * With `portcullis.strict` off, restrictions that cannot be honoured are warnings, and one more says
 * why. What an administrator wrote binds unless the administrator switched it off.
 */
export function withStrictness(
  problems: readonly ConfigProblem[],
  { off }: Strictness,
): readonly ConfigProblem[] {
  const lifted = ({ severity, source }: ConfigProblem): boolean =>
    severity === 'fatal' && off !== undefined && (off.source === 'managed' || source !== 'managed');
  const count = problems.filter(lifted).length;
  if (off === undefined || count === 0) return problems;
  const places = count === 1 ? 'one restriction is' : `${count} restrictions are`;
  return [
    {
      severity: 'warning',
      message: `${places} not in force, and the start goes on because \`portcullis.strict\` is false (${originOf(off)}).`,
      remedy: 'Set it to true to refuse instead.',
    },
    ...problems.map((problem) =>
      lifted(problem) ? { ...problem, severity: 'warning' as const } : problem,
    ),
  ];
}
