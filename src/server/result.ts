import { errorName, type RunResult, type StopReason } from '../app.js';
import type { Turn } from '../client/events.js';
import { turnEnd } from '../client/turn-end.js';
import type { Frame } from './wire.js';

/** The frame that ends a turn: exactly one per prompt. */
export function resultFrame(run: Turn, sessionId: string, uuid: string): Frame {
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
    local_command: command,
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

/** What the end of a turn looks like on the wire. */
function ending({ outcome }: Turn): Record<string, unknown> {
  const { reason, text, lastAnswer } = outcome;
  const { problem, isError, subtype, terminal } = turnEnd(reason);
  const common = {
    subtype,
    is_error: isError,
    stop_reason: stopReason(reason, lastAnswer?.stopReason ?? null),
    terminal_reason: terminal,
  };
  if (reason.kind === 'model_failure') {
    const { status, kind } = reason.failure;
    return {
      ...common,
      result: problem,
      ...(status !== undefined && { api_error_status: status }),
      error_kind: kind,
    };
  }
  if (isError) return { ...common, errors: [problem] };
  return { ...common, result: resultText(reason, text), ...endFields(reason) };
}

function stopReason(reason: StopReason, last: string | null): string | null {
  if (reason.kind === 'completed') return reason.stopReason;
  if (reason.kind === 'finished') return 'tool_use';
  if (reason.kind === 'prompt_blocked') return null;
  return reason.kind === 'tool_deferred' ? 'tool_deferred' : last;
}

function resultText(reason: StopReason, text: string): string {
  if (reason.kind === 'finished') return JSON.stringify(reason.structuredOutput);
  if (reason.kind === 'prompt_blocked') return reason.message;
  return reason.kind === 'hook_stopped' || reason.kind === 'tool_deferred' ? '' : text;
}

function endFields(reason: StopReason): Record<string, unknown> {
  if (reason.kind === 'finished') return { structured_output: reason.structuredOutput };
  if (reason.kind === 'tool_deferred') {
    const { id, name, input } = reason.call;
    return { deferred_tool_use: { id, name, input } };
  }
  return 'message' in reason ? { stop_message: reason.message } : {};
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
    agents: run.agents,
    permission_denials: run.denials,
  };
}

/** What the runtime itself says in the place of an answer. */
export function syntheticFrame(
  text: string,
  {
    sessionId,
    uuid,
    fields,
  }: {
    readonly sessionId: string;
    uuid(): string;
    readonly fields: Readonly<Record<string, unknown>>;
  },
): Frame {
  return {
    type: 'assistant',
    message: {
      id: uuid(),
      type: 'message',
      role: 'assistant',
      model: '<synthetic>',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: NOTHING_USED,
    },
    parent_tool_use_id: null,
    ...fields,
    uuid: uuid(),
    session_id: sessionId,
  };
}

type Failure = Extract<StopReason, { kind: 'model_failure' }>['failure'];

/** Why there is no answer, in the words that hosts know. */
export function failureFields(failure: Failure): Readonly<Record<string, unknown>> {
  return {
    error: errorName(failure),
    is_api_error_message: true,
    api_error_status: failure.status,
  };
}
