import type { LoopOutcome } from '../../loop/types.js';
import type { AgentEnd, AgentReport } from './report.js';

/** Why a child was made to stop from outside. */
export interface Cancelled {
  readonly by: 'person' | 'parent' | 'session';
  readonly reason: string;
}

/** What became of an agent, from how its loop ended. */
export function endOf(
  { reason, text }: Pick<LoopOutcome, 'reason' | 'text'>,
  facts: {
    readonly cancelled: Cancelled | undefined;
    /** Permissions that nobody was there to give. */
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
      // Why, the hook tells people; they may tell the model.
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

/** One line for the model: how it ended, and what to make of the text. Undefined: all is well. */
export function describeOutcome({
  end,
  text,
}: Pick<AgentReport, 'end' | 'text'>): string | undefined {
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

/** One word for the model, which must not take what was cut off for what is whole. */
export function outcomeLabel(end: AgentEnd): string {
  return end.kind === 'cut-off' || end.kind === 'refused' ? end.kind : statusOf(end);
}

/** The same in the words of the wire. */
export function statusOf({ kind }: AgentEnd): 'completed' | 'failed' | 'stopped' {
  if (kind === 'done' || kind === 'cut-off') return 'completed';
  return kind === 'cancelled' ? 'stopped' : 'failed';
}
