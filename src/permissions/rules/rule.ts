import type { SourcedRule } from '../../settings/types.js';
import type { DomainPattern } from './domain.js';
import type { PathPattern, PatternBase } from './path-pattern.js';
import type { Token } from './wildcard.js';

export type RuleKind = 'allow' | 'ask' | 'deny';

/** What calls do to files, whichever tool does it: `Effect(writes)` in rules that restrict. */
export const EFFECTS = ['writes', 'writes:outside', 'deletes'] as const;
export type EffectName = (typeof EFFECTS)[number];

export type RuleSpec =
  /** Every call of the tool. */
  | { readonly kind: 'any' }
  | {
      readonly kind: 'command';
      readonly pattern: CommandPattern;
      /** The same with the home directory in its place. */
      readonly also?: CommandPattern | undefined;
    }
  | {
      readonly kind: 'path';
      readonly access: 'read' | 'write';
      readonly pattern: PathPattern;
      /** What else the text may mean: `/etc/x` in a restriction is also the absolute path. */
      readonly also?: PathPattern;
      /** Of what the pattern fits only this is meant: the built-in rule for protected paths. */
      readonly isMeant?: (path: string) => boolean;
      /** `Read(…)` and `Edit(…)` speak for all tools of their kind; a grant for another name only for it. */
      readonly everyTool: boolean;
    }
  | { readonly kind: 'domain'; readonly pattern: DomainPattern }
  /** What a call of any tool does to files. */
  | { readonly kind: 'effect'; readonly effect: EffectName }
  | {
      readonly kind: 'field';
      readonly field: string;
      readonly value: readonly Token[];
      /** A second input that follows the first, after a blank: arguments of a skill. */
      readonly followedBy?: string;
    };

export interface CommandPattern {
  readonly text: string;
  /** Absent for an exact rule. */
  readonly tokens?: readonly Token[];
  /** It holds signs of the shell language: a restriction is compared with what was typed as well. */
  readonly asWritten?: boolean;
}

export interface Rule {
  readonly kind: RuleKind;
  readonly text: string;
  /** `Bash(rm *) (…/settings.json:4)`. */
  readonly label: string;
  readonly origin: SourcedRule;
  readonly spec: RuleSpec;
  /** By canonical name; aliases of the tool count as its name. */
  matchesTool(names: readonly string[]): boolean;
}

export interface RuleSet {
  readonly allow: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly deny: readonly Rule[];
}

export const NO_RULES: RuleSet = { allow: [], ask: [], deny: [] };

export function joinRules(sets: readonly RuleSet[]): RuleSet {
  // Each call joins hundreds several times, which `flatMap` takes thirty times as long for.
  const of = (kind: RuleKind): readonly Rule[] =>
    NO_RULES[kind].concat(...sets.map((set) => set[kind]));
  return { allow: of('allow'), ask: of('ask'), deny: of('deny') };
}

export interface ParseRulesOptions extends Pick<PatternBase, 'cwd' | 'home' | 'ignoresCase'> {
  /** Tools of this session beyond the built-in table. */
  readonly knownTools?: readonly string[];
}

/** Why a rule cannot be used. */
export interface Malformed {
  readonly why: string;
  readonly remedy: string;
  /** It would take something out of another rule, so leaving it out restricts no less. */
  readonly exception?: true;
}

/** A restriction that covers a call, or may. */
export interface RestrictionMatch {
  readonly rule: Rule;
  /** `maybe`: the command may take a course that is covered, which is not known beforehand. */
  readonly sure: 'yes' | 'maybe';
  /** What it covers where the call does not name it, and how to leave that out. */
  readonly detail?: string;
  /** The file, where the call does not name it. */
  readonly path?: string;
}
