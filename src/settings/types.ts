import type { PermissionMode } from '../protocol/permissions.js';
import type { Sourced } from '../util/sourced.js';

/**
 * Something about the configuration that a person should know. `fatal`: a restriction cannot be
 * honoured, so nothing starts. `warning`: a convenience is lost. `note`: works as designed, but
 * differently from what the file says.
 */
export interface ConfigProblem {
  readonly severity: 'fatal' | 'warning' | 'note';
  readonly file?: string;
  readonly line?: number;
  readonly message: string;
  readonly remedy: string;
}

/** A permission rule as written, and the directory that a leading `/` in its path stands for. */
export interface RuleText {
  readonly text: string;
  readonly root: string;
}

export type SourcedRule = Sourced<RuleText>;

export interface PermissionSettings {
  readonly allow: readonly SourcedRule[];
  readonly ask: readonly SourcedRule[];
  readonly deny: readonly SourcedRule[];
  readonly defaultMode?: Sourced<PermissionMode>;
  /** Absolute. */
  readonly additionalDirectories: readonly Sourced<string>[];
  /** Set when some file says `disableBypassPermissionsMode: "disable"`; no later source lifts it. */
  readonly bypassDisabled?: Sourced<true>;
}

/** What is in force after all sources are merged. */
export interface EffectiveSettings {
  readonly permissions: PermissionSettings;
  readonly env: Readonly<Record<string, Sourced<string>>>;
  readonly model?: Sourced<string>;
  /** Every file that was read, strongest first, for keys that other parts of the program own. */
  readonly files: readonly SettingsFile[];
}

/** One settings source: parsed, with the place of each of its values. */
export interface SettingsFile {
  readonly source: 'managed' | 'cli' | 'local' | 'project' | 'user';
  /** Absent when the settings were given as text. */
  readonly file?: string;
  /** What a leading `/` in its path rules stands for. */
  readonly root: string;
  readonly trusted: boolean;
  readonly content: Readonly<Record<string, unknown>>;
  /** Line of a value by its way through the document, `['permissions', 'deny', 0]`. */
  lineOf(way: readonly (string | number)[]): number | undefined;
}

/** Where a problem is, in the words people look for. */
export function describeProblem(problem: ConfigProblem): string {
  const place =
    problem.file === undefined
      ? ''
      : `${problem.file}${problem.line === undefined ? '' : `:${problem.line}`}: `;
  return `${place}${problem.message} ${problem.remedy}`.trim();
}
