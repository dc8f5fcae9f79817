import type { SettingSource, Sourced } from '../lib/sourced.js';
import type { PermissionMode } from '../protocol/permissions.js';
import type { Duplicate, JsonPath } from './files/json.js';

/**
 * Something about the configuration that a person should know. `fatal`: a restriction cannot be
 * honoured, so nothing starts. `warning`: a convenience is lost. `note`: works as designed, but
 * differently from what the file says.
 */
export interface ConfigProblem {
  readonly severity: 'fatal' | 'warning' | 'note';
  /** Where the faulty thing was written; decides who may downgrade it. */
  readonly source?: SettingSource;
  readonly file?: string;
  readonly line?: number;
  readonly message: string;
  readonly remedy: string;
  /** For views that show only some. */
  readonly topic?: 'hooks';
}

/** A permission rule as written, and the directory that a leading `/` in its path stands for. */
export interface RuleText {
  readonly text: string;
  readonly root: string;
}

export type SourcedRule = Sourced<RuleText>;

export interface RuleLists {
  readonly allow: readonly SourcedRule[];
  readonly ask: readonly SourcedRule[];
  readonly deny: readonly SourcedRule[];
}

/** Rules that hold only for the agents whose path or type the pattern names (`portcullis.agents`). */
export interface AgentRules extends RuleLists {
  readonly pattern: string;
}

export interface PermissionSettings extends RuleLists {
  readonly agents?: readonly AgentRules[];
  readonly defaultMode?: Sourced<PermissionMode>;
  /** Absolute. */
  readonly additionalDirectories: readonly Sourced<string>[];
  /** Set when some file says `disableBypassPermissionsMode: "disable"`; no later source lifts it. */
  readonly bypassDisabled?: Sourced<true>;
  /** An administrator lets only managed rules grant: no flag, no saved answer adds to them. */
  readonly managedRulesOnly?: Sourced<true>;
  /** What would be asked is refused. */
  readonly denyInsteadOfPrompting?: Sourced<true>;
  /** Read-only commands are asked about too. */
  readonly askReadOnly?: Sourced<true>;
}

/** What is in force after all sources are merged. */
export interface EffectiveSettings {
  readonly permissions: PermissionSettings;
  readonly env: Readonly<Record<string, Sourced<string>>>;
  readonly model?: Sourced<string>;
  /** Every other key, by its dotted name. */
  readonly values: SettingValues;
  readonly strictness: Strictness;
  /** Every file that was read, strongest first, for keys that other parts of the program own. */
  readonly files: readonly SettingsFile[];
  /** Every path that was looked at, whether something was there or not. */
  readonly places: readonly WatchedPath[];
}

export interface WatchedPath {
  readonly path: string;
  readonly source: SettingsFile['source'];
  /** Changes whenever what is there changes; empty when nothing is there. */
  readonly stamp: string;
}

/** What is in force of a key: nothing of an untrusted project that grants or executes. */
export interface SettingValues {
  /** The one value of a key, `sandbox.enabled`. */
  get(key: string): Sourced<unknown> | undefined;
  /** The items of a list from all sources, strongest first, each once: `hooks.PreToolUse`. */
  list(key: string): readonly Sourced<unknown>[];
  /** What every file that may set the key says, strongest first, also what a stronger one shadows. */
  said(key: string): readonly Sourced<unknown>[];
  /**
   * Whether some file that may set the key has it: an empty list is not the same as none. With
   * `counts`, only files of the sources that it says yes to.
   */
  has(key: string, counts?: (source: SettingSource) => boolean): boolean;
}

/** Whether an unusable restriction stops the start. It does, unless a trusted file says otherwise. */
export interface Strictness {
  /** `portcullis.strict: false`, of the user or an administrator. */
  readonly off?: Sourced<false>;
}

/** One settings source: parsed, with the place of each of its values. */
export interface SettingsFile {
  readonly source: 'managed' | 'sdk' | 'cli' | 'local' | 'project' | 'user';
  /** Absent when the settings were given as text. */
  readonly file?: string;
  /** What a leading `/` in its path rules stands for. */
  readonly root: string;
  readonly trusted: boolean;
  readonly content: Readonly<Record<string, unknown>>;
  /** Keys that occur twice in one object; only the last one counts. */
  readonly duplicates: readonly Duplicate[];
  /** Line of a value, `['permissions', 'deny', 0]`. */
  lineOf(path: JsonPath): number | undefined;
}

/** Where a problem is, in the words people look for. */
export function describeProblem(problem: ConfigProblem): string {
  const place =
    problem.file === undefined
      ? ''
      : `${problem.file}${problem.line === undefined ? '' : `:${problem.line}`}: `;
  return `${place}${problem.message} ${problem.remedy}`.trim();
}

/** File, line and source of a value, for problems and for `Sourced`. */
export function placeOf(
  file: SettingsFile,
  path: JsonPath,
): Pick<Sourced<unknown>, 'file' | 'line'> & { readonly source: SettingsFile['source'] } {
  return { source: file.source, file: file.file, line: file.lineOf(path) };
}

/** Whether a value comes from a repository's files, which another person may have written. */
export function isOfProject(source: SettingSource): boolean {
  return source === 'project' || source === 'local';
}

/** Whether a value comes from the user, an administrator or the host, who may hand out their own secrets. */
export function isOfOwner(source: SettingSource): boolean {
  return source === 'managed' || source === 'cli' || source === 'user' || source === 'sdk';
}
