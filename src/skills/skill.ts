import type { SettingSource } from '../lib/sourced.js';

/** Where a skill comes from. `command`: an old file of `.claude/commands`. */
export type SkillOrigin =
  | 'managed'
  | 'user'
  | 'project'
  | 'nested'
  | 'plugin'
  | 'bundled'
  | 'mcp'
  | 'command';

/** What a skill's head says. Absent: the head does not say it. */
export interface SkillHead {
  /** For people; the name to call it by is the directory's. */
  readonly displayName?: string;
  readonly description?: string;
  readonly whenToUse?: string;
  readonly argumentHint?: string;
  /** Named positional arguments. */
  readonly arguments?: readonly string[];
  /** Only people may run it. */
  readonly disableModelInvocation?: boolean;
  /** People cannot type it. */
  readonly userInvocable?: boolean;
  /** Allow rules for the turn that invokes it. */
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** `portcullis: {fence-tools: …}`: nothing but these may be called while it is active. */
  readonly fenceTools?: readonly string[];
  readonly model?: string;
  readonly effort?: string;
  /** Runs as an agent of its own. */
  readonly context?: 'fork';
  readonly agent?: string;
  readonly background?: boolean;
  /** A hooks object as in settings, as written. */
  readonly hooks?: unknown;
  /** Dormant until a file that matches is touched. */
  readonly paths?: readonly string[];
  readonly shell?: 'bash' | 'powershell';
  /** Every key of the head, known or not, as written. */
  readonly keys: readonly string[];
  /** Where its fields stand in the file, from 1, by their documented names. */
  readonly lines?: Readonly<Record<string, number>>;
}

/** A skill that was found. */
export interface Skill {
  /** What it is called by: `name`, or `sub/dir:name` where two would clash. */
  readonly name: string;
  readonly origin: SkillOrigin;
  readonly source: SettingSource;
  /** The file that holds it; bundled and MCP skills have a name of their own kind. */
  readonly file: string;
  /** Where its supporting files are. */
  readonly directory: string;
  readonly head: SkillHead;
  /** A single file among others, whose directory is not its own. */
  readonly isCommand?: true;
  /** Of a plugin: what `${CLAUDE_PLUGIN_ROOT}` and `${CLAUDE_PLUGIN_DATA}` stand for. */
  readonly plugin?: { readonly root: string; readonly data: string };
  /** Whether the place it came from may grant or execute. */
  readonly trusted: boolean;
  /** From 1: where the body begins in the file. */
  readonly bodyLine: number;
  readonly problems: readonly SkillProblem[];
  /** Text without the head. */
  body(): Promise<string>;
}

/** Something about a skill's file that a person should know. */
export interface SkillProblem {
  readonly line?: number;
  /** The field of the head that it is about, where whoever starts the skill is told of it, too. */
  readonly field?: 'hooks' | 'paths';
  readonly message: string;
  readonly remedy?: string;
  /** Shown at the start: something in the head has no effect. */
  readonly told?: true;
}

/** A skill that was found and is not in force, and why. */
export interface SkippedSkill {
  readonly name: string;
  readonly file: string;
  readonly reason: string;
  /** Shown at the start: the entry is missing from the listing, or has a mistake. */
  readonly told?: true;
}

/** All skills of a session as they are now. */
export interface SkillBook {
  /** In force, in the order in which they are listed. */
  list(): Promise<readonly Skill[]>;
  skipped(): Promise<readonly SkippedSkill[]>;
  /** By the name the model or a person uses; a leading `/` is fine. */
  find(name: string): Promise<Skill | undefined>;
  /** Files were touched: what became known by that (nested directories, dormant skills). */
  touched(paths: readonly string[]): Promise<readonly Skill[]>;
  /** Files of skills changed on disk: forgets what was read of them. True: the listing is another one. */
  refresh(): Promise<boolean>;
}

/** Words for directories that only the skills of plugins know, with what they stand for. */
export function pluginDirectories({ plugin }: Pick<Skill, 'plugin'>): readonly [string, string][] {
  if (plugin === undefined) return [];
  return [
    ['CLAUDE_PLUGIN_ROOT', plugin.root],
    ['CLAUDE_PLUGIN_DATA', plugin.data],
  ];
}
