import type { SettingSource, Sourced } from '../lib/sourced.js';
import type { PermissionMode } from '../protocol/permissions.js';
import type { Duplicate, JsonPath } from './files/json.js';

/**
 * A configuration problem. `fatal`: a restriction cannot be honoured and nothing starts. `warning`: a
 * convenience is lost. `note`: works as designed, but differently from what the file suggests.
 */
export interface ConfigProblem {
  readonly severity: 'fatal' | 'warning' | 'note';
  /** The source with the fault, which decides who may downgrade it. */
  readonly source?: SettingSource;
  readonly file?: string;
  readonly line?: number;
  readonly message: string;
  readonly remedy: string;
  /** For views that show one topic. */
  readonly topic?: 'hooks';
}

/** A permission rule and the directory that a leading `/` in its path refers to. */
interface RuleText {
  readonly text: string;
  readonly root: string;
}

export type SourcedRule = Sourced<RuleText>;

export interface RuleLists {
  readonly allow: readonly SourcedRule[];
  readonly ask: readonly SourcedRule[];
  readonly deny: readonly SourcedRule[];
}

/** Rules for the agents that a path or type pattern names (`portcullis.agents`). */
export interface AgentRules extends RuleLists {
  readonly pattern: string;
}

export interface PermissionSettings extends RuleLists {
  readonly agents?: readonly AgentRules[];
  readonly defaultMode?: Sourced<PermissionMode>;
  readonly additionalDirectories: readonly Sourced<string>[];
  /** Set when any file has `disableBypassPermissionsMode: "disable"`; later sources cannot lift it. */
  readonly bypassDisabled?: Sourced<true>;
  /** Only an administrator's rules grant; flags and saved answers do not. */
  readonly managedRulesOnly?: Sourced<true>;
  /** Questions become refusals. */
  readonly denyInsteadOfPrompting?: Sourced<true>;
  /** Asks about read-only commands too. */
  readonly askReadOnly?: Sourced<true>;
}

/** The settings in force after the merge. */
export interface EffectiveSettings {
  readonly permissions: PermissionSettings;
  readonly env: Readonly<Record<string, Sourced<string>>>;
  readonly model?: Sourced<string>;
  /** All other keys by dotted name. */
  readonly values: SettingValues;
  readonly strictness: Strictness;
  /** All files read, strongest first, for keys that other parts own. */
  readonly files: readonly SettingsFile[];
  /** All examined paths, existing or not. */
  readonly places: readonly WatchedPath[];
}

export interface WatchedPath {
  readonly path: string;
  readonly source: SettingsFile['source'];
  /** Changes with the path's content; empty when it is missing. */
  readonly stamp: string;
}

/** The values in force, without untrusted grants and commands. */
export interface SettingValues {
  /** A single value, such as `sandbox.enabled`. */
  get(key: string): Sourced<unknown> | undefined;
  /** The distinct items of a list from all sources, strongest first, such as `hooks.PreToolUse`. */
  list(key: string): readonly Sourced<unknown>[];
  /** The values of all files that may set the key, strongest first, including shadowed ones. */
  said(key: string): readonly Sourced<unknown>[];
  /** Whether a file that may set the key defines it, even as an empty list; `counts` filters by source. */
  has(key: string, counts?: (source: SettingSource) => boolean): boolean;
}

/** Whether an unusable restriction prevents the start, which is the default. */
export interface Strictness {
  /** `portcullis.strict: false` from the user or an administrator. */
  readonly off?: Sourced<false>;
}

/** A parsed settings source with the place of each value. */
export interface SettingsFile {
  readonly source: 'managed' | 'sdk' | 'cli' | 'local' | 'project' | 'user';
  /** Absent for settings given as text. */
  readonly file?: string;
  /** The directory that a leading `/` in path rules refers to. */
  readonly root: string;
  readonly trusted: boolean;
  readonly content: Readonly<Record<string, unknown>>;
  /** Keys that occur twice in an object; the last one wins. */
  readonly duplicates: readonly Duplicate[];
  /** The line of a value such as `['permissions', 'deny', 0]`. */
  lineOf(path: JsonPath): number | undefined;
}

/** Formats a problem with its place. */
export function describeProblem(problem: ConfigProblem): string {
  const place =
    problem.file === undefined
      ? ''
      : `${problem.file}${problem.line === undefined ? '' : `:${problem.line}`}: `;
  return `${place}${problem.message} ${problem.remedy}`.trim();
}

/** The source, file and line of a value. */
export function placeOf(
  file: SettingsFile,
  path: JsonPath,
): Pick<Sourced<unknown>, 'file' | 'line'> & { readonly source: SettingsFile['source'] } {
  return { source: file.source, file: file.file, line: file.lineOf(path) };
}

/** Whether a value comes from a repository, whose author may be another person. */
export function isOfProject(source: SettingSource): boolean {
  return source === 'project' || source === 'local';
}

/** Whether a value comes from an administrator, or from a host on its behalf. */
export function isOfAdministrator(source: SettingSource): boolean {
  return source === 'managed' || source === 'sdk';
}

/** Whether a value comes from the user, an administrator or the host, who may pass on their own secrets. */
export function isOfOwner(source: SettingSource): boolean {
  return isOfAdministrator(source) || source === 'cli' || source === 'user';
}
