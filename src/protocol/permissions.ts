export const PERMISSION_MODES = [
  'default',
  'acceptEdits',
  'plan',
  'dontAsk',
  'bypassPermissions',
] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** Why the mode `auto` of other runtimes is refused, and what to use in its place. */
export const NO_AUTO_MODE =
  'no model judges calls here; use "dontAsk" to refuse what no rule allows, or "default" to ask';

/** How much a restrictor holds back. Ordered: among restrictors the strictest wins. */
export const RESTRICTIONS = ['none', 'ask', 'defer', 'deny'] as const;
export type Restriction = (typeof RESTRICTIONS)[number];

export function strictest(list: readonly Restriction[]): Restriction {
  let worst = 0;
  for (const restriction of list) worst = Math.max(worst, RESTRICTIONS.indexOf(restriction));
  return RESTRICTIONS[worst] ?? 'deny';
}

/** One line of a receipt: what a guard said about the call, and why. */
export interface TraceStep {
  readonly guard: string;
  readonly decision: Restriction | 'allow' | 'pass';
  readonly reason?: string;
  /** The basis of the decision: a rule's text with its file and line, a mode, a callback. */
  readonly source?: string;
  readonly ms?: number;
  /** Set when the guard itself failed; the decision is then what its failure means. */
  readonly failure?: string;
}

/** Why a call was allowed or refused. Kept for every call. */
export interface Receipt {
  readonly toolUseId: string;
  readonly tool: string;
  readonly agent: string;
  readonly decision: 'allow' | 'deny' | 'defer';
  readonly decidedBy: string;
  readonly reason: string;
  readonly trace: readonly TraceStep[];
  readonly input: unknown;
  readonly mode: PermissionMode;
  /** Shell code as the gate understood it, one simple command after the other. */
  readonly command?: string;
  /** Shell code as it runs, where that is not the text of the input: its canonical form. */
  readonly runs?: string;
  /** Milliseconds that the decision took, waiting for an answer included. */
  readonly ms?: number;
  /** Added afterwards, where the call did what it was let through not to do. */
  readonly effects?: ReceiptEffects;
  /** ISO time and session; stamped when the receipt is journalled. */
  readonly time?: string;
  readonly sessionId?: string;
}

/** What a call did, against what it was let through for. */
export interface ReceiptEffects {
  /** Paths from the root of the workspace. */
  readonly changed: readonly string[];
  /** What it was held to. */
  readonly violated: string;
  /** Whether all of it was undone; absent where that was not asked for. */
  readonly rolledBack?: boolean;
}

/** One entry of the result's `permission_denials`. */
export interface PermissionDenial {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: unknown;
  readonly reason?: string;
  readonly rule?: string;
  /** A rule that would let exactly this through, ready to paste. */
  readonly suggestion?: string;
}

/** How far an answer to a question reaches. */
export interface AnswerScope {
  /** `call`: this one call. `exact`: the same call again. `prefix`: calls like it, by the suggested rule. */
  readonly what: 'call' | 'exact' | 'prefix' | 'tool';
  /** `project` is kept in the project's local settings, `user` in the user's own. */
  readonly until: 'once' | 'turn' | 'session' | 'project' | 'user';
  /** Milliseconds since 1970; the answer holds no longer than this. */
  readonly expiresAt?: number;
}

export const UPDATE_DESTINATIONS = [
  'session',
  'cliArg',
  'localSettings',
  'projectSettings',
  'userSettings',
] as const;
export type UpdateDestination = (typeof UPDATE_DESTINATIONS)[number];

export interface PermissionRuleValue {
  readonly toolName: string;
  readonly ruleContent?: string;
}

/** A change of the rules, the mode or the directories that comes with an answer. */
export type PermissionUpdate =
  | {
      readonly type: 'addRules' | 'replaceRules' | 'removeRules';
      readonly rules: readonly PermissionRuleValue[];
      readonly behavior: 'allow' | 'ask' | 'deny';
      readonly destination: UpdateDestination;
    }
  | {
      readonly type: 'setMode';
      readonly mode: PermissionMode;
      readonly destination: UpdateDestination;
    }
  | {
      readonly type: 'addDirectories' | 'removeDirectories';
      readonly directories: readonly string[];
      readonly destination: UpdateDestination;
    };
