import type {
  Conversation,
  InputMessage,
  LoopEvent,
  LoopOutcome,
  StopReason,
} from '../../loop/types.js';
import type { Clock } from '../../platform/clock.js';

/** What the end of a run is told to. */
export interface SettleParts {
  readonly agent: { readonly conversation: Conversation };
  readonly clock: Clock;
  readonly calls: { deferred(toolUseId: string): void };
  /** Set when an answer in a schema is owed: how often it may be asked for. */
  readonly structuredAttempts: number | undefined;
  emit(event: LoopEvent): void;
  recordInput(message: InputMessage): void;
  onMaxTurns(limit: number): void;
  onDeferred(toolUseId: string): void;
}

/** What the end of a run leaves in the conversation, and what an owed answer makes of it. */
export function settle(parts: SettleParts, outcome: LoopOutcome): LoopOutcome {
  const { reason } = outcome;
  if (reason.kind === 'aborted') leaveMark(parts, reason);
  if (reason.kind === 'max_turns') parts.onMaxTurns(reason.limit);
  if (reason.kind === 'tool_deferred') {
    parts.calls.deferred(reason.call.id);
    parts.onDeferred(reason.call.id);
  }
  if (reason.kind === 'stuck' && parts.structuredAttempts !== undefined && triedToAnswer(outcome)) {
    return { ...outcome, reason: { ...reason, kind: 'structured_output_missing', attempts: 0 } };
  }
  if (reason.kind === 'completed' && parts.structuredAttempts !== undefined) {
    // A run that owes an answer in a schema and does not give it has not succeeded.
    return {
      ...outcome,
      reason: { kind: 'structured_output_missing', attempts: parts.structuredAttempts },
    };
  }
  return outcome;
}

/** What it could not get right was the answer in a schema that it owes. */
function triedToAnswer({ lastAnswer }: LoopOutcome): boolean {
  const blocks = lastAnswer?.message.content ?? [];
  return blocks.some((block) => block.type === 'tool_use' && block.name === 'StructuredOutput');
}

/** The model is told in its history that it was interrupted. */
function leaveMark(parts: SettleParts, reason: Extract<StopReason, { kind: 'aborted' }>): void {
  const text =
    reason.during === 'tools'
      ? '[Request interrupted by user for tool use]'
      : '[Request interrupted by user]';
  const message: InputMessage = { uuid: parts.clock.uuid(), content: [{ type: 'text', text }] };
  parts.recordInput(message);
  parts.agent.conversation.append({ role: 'user', content: message.content });
  parts.emit({ type: 'input', message });
}
