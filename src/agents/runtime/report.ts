import type { LoopOutcome } from '../../loop/types.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Usage } from '../../protocol/content.js';
import { boundText } from '../../tools/output.js';
import { escapeReport } from './escape-tags.js';

/** How an agent ended; its partial text is returned in every case. */
export type AgentEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'cut-off';
      readonly by: 'turns' | 'budget' | 'time' | 'hook' | 'process';
      readonly reason: string;
    }
  /** It needed permissions that no person gave, listed in `missing`. */
  | { readonly kind: 'refused'; readonly reason: string; readonly missing: readonly string[] }
  | {
      readonly kind: 'cancelled';
      readonly by: 'person' | 'parent' | 'session';
      readonly reason: string;
    };

/** What one agent used, excluding its descendants, so that the rows add up to the total. */
export interface AgentAccount {
  readonly agent: AgentRef;
  readonly turns: number;
  readonly toolUses: number;
  readonly usage: Usage;
  /** Undefined, never zero, when a price is not known. */
  readonly costUsd: number | undefined;
  readonly models: readonly string[];
  readonly seconds: number;
  /** All tokens of its last request and answer. */
  readonly lastTokens?: number;
}

/** The worktree that an agent left behind, if it had one. */
export interface LeftWorktree {
  readonly path: string;
  readonly branch: string;
  readonly kept: boolean;
  /** Changed files, relative to the worktree. */
  readonly changed: readonly string[];
}

/** Everything known about an agent that has ended. */
export interface AgentReport {
  readonly agent: AgentRef;
  readonly description: string;
  readonly end: AgentEnd;
  /** Its last answer, possibly partial. */
  readonly text: string;
  readonly account: AgentAccount;
  readonly worktree?: LeftWorktree;
  /** Files that it wrote outside its workspace. */
  readonly outsideWrites?: readonly string[];
  /** The id with which SendMessage resumes it; absent for one-shot agents. */
  readonly resume?: string;
}

/** Why an agent was cancelled. */
export interface Cancelled {
  readonly by: 'person' | 'parent' | 'session';
  readonly reason: string;
}

/** Derives how an agent ended from how its loop ended. */
export function endOf(
  { reason, text }: Pick<LoopOutcome, 'reason' | 'text'>,
  facts: {
    readonly cancelled: Cancelled | undefined;
    /** Permissions that no person was available to give. */
    readonly missing: readonly string[];
    readonly refused: boolean;
  },
): AgentEnd {
  const { cancelled, missing } = facts;
  if (cancelled !== undefined) return { kind: 'cancelled', ...cancelled };
  switch (reason.kind) {
    case 'completed':
    case 'finished':
      return { kind: 'done' };
    case 'max_turns':
      return {
        kind: 'cut-off',
        by: 'turns',
        reason: reason.words ?? `it reached its limit of ${reason.limit} turns`,
      };
    case 'budget':
      return {
        kind: 'cut-off',
        by: reason.by ?? 'budget',
        reason: reason.words ?? `the budget of $${reason.limitUsd} is used up`,
      };
    case 'aborted':
      return { kind: 'cancelled', by: 'person', reason: 'it was interrupted' };
    case 'stuck':
      return facts.refused
        ? { kind: 'refused', reason: reason.message, missing }
        : { kind: 'failed', reason: reason.message };
    case 'model_failure':
      return { kind: 'failed', reason: reason.failure.message };
    case 'hook_stopped':
    case 'stop_prevented':
    case 'prompt_blocked':
      // The hook tells people why, and they may tell the model.
      return { kind: 'cut-off', by: 'hook', reason: 'a hook ended it' };
    case 'tool_deferred':
      return { kind: 'failed', reason: `${reason.call.name} was put off by a hook` };
    case 'structured_output_missing':
      return {
        kind: 'failed',
        reason: text === '' ? 'it gave no answer' : 'its answer is not whole',
      };
  }
}

/** One line for the model: how the agent ended and whether its text is complete; undefined when it is. */
function describeOutcome({ end, text }: Pick<AgentReport, 'end' | 'text'>): string | undefined {
  const partial =
    text.trim() === '' ? 'It had said nothing by then.' : 'What it had said by then is above.';
  switch (end.kind) {
    case 'done':
      return text.trim() === '' ? 'The agent ended without saying anything.' : undefined;
    case 'failed':
      return `The agent failed: ${end.reason}. ${partial}`;
    case 'cut-off':
      return `The agent was cut off: ${end.reason}. ${partial} Its work may be incomplete.`;
    case 'refused': {
      const needs = end.missing.length === 0 ? '' : ` Missing: ${end.missing.join(', ')}.`;
      return `The agent could not go on: ${end.reason}.${needs} ${partial} Do not start it again for the same task unless that is allowed.`;
    }
    case 'cancelled':
      return `The agent was stopped (${end.reason}). ${partial}`;
  }
}

/** One word for the model, which must not mistake partial work for complete work. */
export function outcomeLabel(end: AgentEnd): string {
  return end.kind === 'cut-off' || end.kind === 'refused' ? end.kind : statusOf(end);
}

/** The status in the terms of the wire. */
export function statusOf({ kind }: AgentEnd): 'completed' | 'failed' | 'stopped' {
  if (kind === 'done' || kind === 'cut-off') return 'completed';
  return kind === 'cancelled' ? 'stopped' : 'failed';
}

/** Characters of a report that the model is shown. */
const REPORT_CAP = 32_000;
const MOST_CAP = 160_000;

/** The cap set in the environment; invalid numbers are ignored. */
export function reportCap(env: Readonly<Record<string, string | undefined>>): number {
  const wanted = Number(env.TASK_MAX_OUTPUT_LENGTH);
  return Number.isSafeInteger(wanted) && wanted > 0 ? Math.min(wanted, MOST_CAP) : REPORT_CAP;
}

export interface ReportWords {
  readonly cap: number;
  /** Saves a text that is too long and returns its path. */
  spill(name: string, text: string): Promise<string>;
  /** Whether a tool can resume ended agents. */
  canResume(): boolean;
}

/** The report as the parent's model reads it. */
export async function reportText(report: AgentReport, words: ReportWords): Promise<string> {
  const { agent, text } = report;
  const shown = await boundText(escapeReport(text), {
    cap: words.cap,
    spill: (long) => words.spill(`${agent.id}.report`, long),
  });
  return [shown, ...reportNotes(report, words)].filter((part) => part.trim() !== '').join('\n\n');
}

export function reportNotes(
  report: AgentReport,
  words: Pick<ReportWords, 'canResume'>,
): readonly string[] {
  const { agent, worktree, outsideWrites = [], resume, account } = report;
  const how = describeOutcome(report);
  const goOn =
    resume !== undefined && words.canResume() ? ` To go on with it: SendMessage to ${resume}.` : '';
  return [
    ...(how === undefined ? [] : [`[${how}]`]),
    ...(worktree === undefined ? [] : [worktreeNote(worktree)]),
    ...(outsideWrites.length === 0
      ? []
      : [`[It wrote outside of its workspace: ${outsideWrites.join(', ')}]`]),
    `[agentId: ${agent.id} (${agent.type}, ${account.turns} turns, ${account.toolUses} calls).${goOn}]`,
  ];
}

function worktreeNote(tree: NonNullable<AgentReport['worktree']>): string {
  if (!tree.kept) return '[Its worktree had no changes and was removed.]';
  const files =
    tree.changed.length === 0 ? '' : ` Changed: ${tree.changed.slice(0, 50).join(', ')}.`;
  return `[Its changes are in the worktree ${tree.path}, branch ${tree.branch}.${files}]`;
}
