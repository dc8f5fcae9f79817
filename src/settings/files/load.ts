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
  /** Earlier contents that replace the present ones: all but the administrator's, and a command line's that they lack. */
  readonly kept?: readonly SettingsFile[];
}

export interface LoadedSettings {
  readonly settings: EffectiveSettings;
  /** A `fatal` problem prevents the start unless `settings.strictness` waives it. */
  readonly problems: readonly ConfigProblem[];
  /** Every value of every file with its status. */
  readonly merged: Merged;
}

/**
 * Reads, checks and merges managed, host, command-line, local, project and user settings, strongest first.
 * Lists add up; single values come from the strongest source. Project files can always restrict, grant only
 * in a trusted folder, and never raise the chosen mode.
 */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  const { problems, places, ...read } = await readSettingsFiles(options);
  const checked = checkFiles(withKept(read.files, options.kept), options);
  const merged = applyCrossSettingRules(mergeFiles(checked.files));
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
  const hasFlag = kept.some(({ source }) => source === 'cli');
  return STRONGEST_FIRST.flatMap((source) => {
    const isPresent = source === 'managed' || (source === 'cli' && !hasFlag);
    return (isPresent ? read : kept).filter((file) => file.source === source);
  });
}

const STRONGEST_FIRST = ['managed', 'sdk', 'cli', 'local', 'project', 'user'] as const;

/** The directory of managed settings on this platform. */
export function managedSettingsDirectory(platform: string): string {
  if (platform === 'darwin') return '/Library/Application Support/ClaudeCode';
  if (platform === 'win32') return 'C:\\Program Files\\ClaudeCode';
  return '/etc/claude-code';
}

/** fail-closed: a restriction that cannot be honoured prevents the start; other problems are reported. */
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
 * With `portcullis.strict` off, fatal problems become warnings. An administrator's restrictions stay fatal
 * unless the administrator disabled it.
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
