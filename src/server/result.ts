import type { RunResult, StopReason } from '../harness.js';
import type { Frame } from './wire.js';

/** The frame that ends a turn: exactly one per prompt. */
export function resultFrame(run: RunResult, sessionId: string, uuid: string): Frame {
  return {
    type: 'result',
    ...ending(run),
    duration_ms: Math.round(run.durationMs),
    duration_api_ms: Math.round(run.apiMs),
    num_turns: run.outcome.turns,
    ...accounting(run),
    session_id: sessionId,
    uuid,
  };
}

/** The end of what was done without the model. */
export function localResultFrame(
  accounts: Pick<RunResult, 'cost' | 'modelUsage' | 'agents'>,
  { text, durationMs, command }: LocalResult,
  { sessionId, uuid }: { readonly sessionId: string; readonly uuid: string },
): Frame {
  return {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: text,
    stop_reason: null,
    duration_ms: Math.round(durationMs),
    duration_api_ms: 0,
    num_turns: 0,
    ...accounting({ ...accounts, usage: NOTHING_USED, denials: [] }),
    ...(command === undefined ? {} : { local_command: command }),
    session_id: sessionId,
    uuid,
  };
}

export interface LocalResult {
  readonly text: string;
  readonly durationMs: number;
  /** Its name, without the slash. */
  readonly command?: string;
}

/** A start that was refused, told in the same way. */
export function startFailureFrame(
  errors: readonly string[],
  sessionId: string,
  uuid: string,
): Frame {
  return {
    type: 'result',
    subtype: 'error_during_execution',
    is_error: true,
    errors,
    duration_ms: 0,
    duration_api_ms: 0,
    num_turns: 0,
    stop_reason: null,
    total_cost_usd: 0,
    usage: NOTHING_USED,
    modelUsage: {},
    permission_denials: [],
    terminal_reason: 'turn_setup_failed',
    session_id: sessionId,
    uuid,
  };
}

const NOTHING_USED: RunResult['usage'] = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

/** What the reason of the end means on the wire. */
function ending(run: RunResult): Record<string, unknown> {
  const { reason, text, lastAnswer } = run.outcome;
  const stopReason = lastAnswer?.stopReason ?? null;
  switch (reason.kind) {
    case 'completed':
      return success(text, reason.stopReason, 'completed');
    case 'finished':
      return {
        ...success(JSON.stringify(reason.structuredOutput), 'tool_use', 'completed'),
        structured_output: reason.structuredOutput,
      };
    case 'max_turns':
      return failed('error_max_turns', [describeEnd(reason)], 'max_turns', stopReason);
    case 'budget':
      return failed('error_max_budget_usd', [describeEnd(reason)], 'budget_exhausted', stopReason);
    case 'hook_stopped':
      return { ...success('', stopReason, 'hook_stopped'), stop_message: reason.message };
    case 'stop_prevented':
      return { ...success(text, stopReason, 'stop_hook_prevented'), stop_message: reason.message };
    case 'prompt_blocked':
      return { ...success(reason.message, null, 'prompt_blocked'), stop_message: reason.message };
    case 'tool_deferred': {
      const { id, name, input } = reason.call;
      return {
        ...success('', 'tool_deferred', 'tool_deferred'),
        deferred_tool_use: { id, name, input },
      };
    }
    case 'aborted':
      return failed(
        'error_during_execution',
        [describeEnd(reason)],
        reason.during === 'tools' ? 'aborted_tools' : 'aborted_streaming',
        stopReason,
      );
    case 'stuck':
      return failed(
        'error_during_execution',
        [describeEnd(reason)],
        'malformed_tool_use_exhausted',
        stopReason,
      );
    case 'structured_output_missing':
      return failed(
        'error_max_structured_output_retries',
        [describeEnd(reason)],
        'structured_output_retry_exhausted',
        stopReason,
      );
    case 'model_failure':
      return {
        subtype: 'success',
        is_error: true,
        result: describeEnd(reason),
        stop_reason: stopReason,
        terminal_reason:
          reason.failure.kind === 'prompt_too_long' ? 'prompt_too_long' : 'api_error',
        ...(reason.failure.status === undefined ? {} : { api_error_status: reason.failure.status }),
        error_kind: reason.failure.kind,
      };
  }
}

/** One line for people: why the run did not simply end. */
export function describeEnd(reason: StopReason): string {
  switch (reason.kind) {
    case 'completed':
    case 'finished':
      return '';
    case 'max_turns':
      return `Reached maximum number of turns (${reason.limit})`;
    case 'budget':
      if (reason.words !== undefined) return `Stopped: ${reason.words}`;
      return `Reached the budget of $${reason.limitUsd} (spent $${reason.spentUsd.toFixed(4)})`;
    case 'aborted':
      return reason.during === 'tools' ? 'Interrupted while tools were running' : 'Interrupted';
    case 'stuck':
    case 'hook_stopped':
    case 'stop_prevented':
      return `Stopped: ${reason.message}`;
    case 'prompt_blocked':
      return reason.message;
    case 'tool_deferred':
      return `${reason.call.name} was put off by a hook; resume the session to go on`;
    case 'structured_output_missing':
      if (reason.message !== undefined) return `No structured answer: ${reason.message}`;
      return `The model did not give the structured answer in ${reason.attempts} attempts`;
    case 'model_failure': {
      const { failure } = reason;
      // The message of an HTTP error already begins with its status.
      const told = failure.status === undefined || failure.message.startsWith(`${failure.status}:`);
      const status = told ? '' : `${failure.status}: `;
      return `API Error: ${status}${failure.message}${failure.remedy === undefined ? '' : ` · ${failure.remedy}`}`;
    }
  }
}

function success(
  text: string,
  stopReason: string | null,
  terminal: string,
): Record<string, unknown> {
  return {
    subtype: 'success',
    is_error: false,
    result: text,
    stop_reason: stopReason,
    terminal_reason: terminal,
  };
}

function failed(
  subtype: string,
  errors: readonly string[],
  terminal: string,
  stopReason: string | null,
): Record<string, unknown> {
  return { subtype, is_error: true, errors, stop_reason: stopReason, terminal_reason: terminal };
}

function accounting(
  run: Pick<RunResult, 'cost' | 'modelUsage' | 'agents' | 'usage' | 'denials'>,
): Record<string, unknown> {
  return {
    // The sum of what has a known price. Models without one are named, never guessed at.
    total_cost_usd: run.cost.knownUsd,
    ...(run.cost.unknownModels.length === 0 ? {} : { cost_unknown_models: run.cost.unknownModels }),
    usage: run.usage,
    modelUsage: run.modelUsage,
    ...(run.agents === undefined ? {} : { agents: run.agents }),
    permission_denials: run.denials,
  };
}
