import type { SettingSource } from '../lib/sourced.js';

/** Where a skill comes from; `command` is a file of `.claude/commands`. */
export type SkillOrigin =
  | 'managed'
  | 'user'
  | 'project'
  | 'nested'
  | 'plugin'
  | 'bundled'
  | 'mcp'
  | 'command';

/** The fields of a skill's front matter. */
export interface SkillHead {
  /** A name for display; the callable name is the directory's. */
  readonly displayName?: string;
  readonly description?: string;
  readonly whenToUse?: string;
  readonly argumentHint?: string;
  /** Named positional arguments. */
  readonly arguments?: readonly string[];
  readonly disableModelInvocation?: boolean;
  /** People cannot type it. */
  readonly userInvocable?: boolean;
  /** Allow rules for the turn that invokes it. */
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** `portcullis: {fence-tools: …}`: only these calls are allowed while it is active. */
  readonly fenceTools?: readonly string[];
  readonly model?: string;
  readonly effort?: string;
  /** Runs as an agent of its own. */
  readonly context?: 'fork';
  readonly agent?: string;
  readonly background?: boolean;
  /** A hooks object as in settings, as written. */
  readonly hooks?: unknown;
  /** Dormant until a matching file is touched. */
  readonly paths?: readonly string[];
  readonly shell?: 'bash' | 'powershell';
  /** Every key of the front matter, known or not, as written. */
  readonly keys: readonly string[];
  /** The lines of its fields in the file, from 1, by documented name. */
  readonly lines?: Readonly<Record<string, number>>;
}

export interface Skill {
  /** The callable name: `name`, or `sub/dir:name` where two would clash. */
  readonly name: string;
  readonly origin: SkillOrigin;
  readonly source: SettingSource;
  /** The skill's file; bundled and MCP skills have a symbolic name. */
  readonly file: string;
  /** The directory of its supporting files. */
  readonly directory: string;
  readonly head: SkillHead;
  /** A single file that shares its directory with others. */
  readonly isCommand?: true;
  /** For plugins: the values of `${CLAUDE_PLUGIN_ROOT}` and `${CLAUDE_PLUGIN_DATA}`. */
  readonly plugin?: { readonly root: string; readonly data: string };
  /** Whether its source may grant or execute. */
  readonly trusted: boolean;
  /** Line of the body's start in the file, from 1. */
  readonly bodyLine: number;
  readonly problems: readonly SkillProblem[];
  /** The text without the front matter. */
  body(): Promise<string>;
}

/** A problem of a skill's file that a person should know. */
export interface SkillProblem {
  readonly line?: number;
  /** The field concerned, when it is reported at each start of the skill, too. */
  readonly field?: 'hooks' | 'paths';
  readonly message: string;
  readonly remedy?: string;
  /** Shown at the start: a field has no effect. */
  readonly told?: true;
}

/** A skill that was found and is not in force, with the reason. */
export interface SkippedSkill {
  readonly name: string;
  readonly file: string;
  readonly reason: string;
  /** Shown at the start: the entry is missing from the listing, or has a mistake. */
  readonly told?: true;
}

/** All skills of a session in their current state. */
export interface SkillBook {
  /** Skills in force, in listing order. */
  list(): Promise<readonly Skill[]>;
  skipped(): Promise<readonly SkippedSkill[]>;
  /** By the name that the model or a person uses, with or without a leading `/`. */
  find(name: string): Promise<Skill | undefined>;
  /** Reports touched files and returns the skills that become known (nested directories, dormant skills). */
  touched(paths: readonly string[]): Promise<readonly Skill[]>;
  /** Forgets files that changed on disk; true when the listing has changed. */
  refresh(): Promise<boolean>;
}

/** Variables for directories that only plugin skills have. */
export function pluginDirectories({ plugin }: Pick<Skill, 'plugin'>): readonly [string, string][] {
  if (plugin === undefined) return [];
  return [
    ['CLAUDE_PLUGIN_ROOT', plugin.root],
    ['CLAUDE_PLUGIN_DATA', plugin.data],
  ];
}
