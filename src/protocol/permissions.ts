export const PERMISSION_MODES = [
  'default',
  'acceptEdits',
  'plan',
  'dontAsk',
  'bypassPermissions',
] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

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
  /** Rule text with its file and line, a mode, a callback: whatever the guard went by. */
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
