import type { StopReason } from '../app.js';
import type { SessionEvent } from './events.js';

/** What the end of a turn means to people, to programs on the wire and to a shell. */
export interface TurnEnd {
  /** One line for people; empty where the turn simply completed. */
  readonly problem: string;
  readonly isError: boolean;
  /** `subtype` and `terminal_reason` of the result on the wire. */
  readonly subtype: string;
  readonly terminal: string;
  /** The name of the exit code of a headless run. */
  readonly exit:
    | 'done'
    | 'error'
    | 'usage'
    | 'denied'
    | 'maxTurns'
    | 'budget'
    | 'stuck'
    | 'interrupted';
}

/** The one place that tells the ends of a turn apart. */
export function turnEnd(reason: StopReason): TurnEnd {
  switch (reason.kind) {
    case 'completed':
    case 'finished':
      return well('completed', '');
    case 'hook_stopped':
      return well('hook_stopped', `Stopped: ${reason.message}`);
    case 'stop_prevented':
      return well('stop_hook_prevented', `Stopped: ${reason.message}`);
    case 'tool_deferred':
      return well(
        'tool_deferred',
        `${reason.call.name} was put off by a hook; resume the session to go on`,
      );
    case 'prompt_blocked': {
      const exit = reason.cause === 'unknown_command' ? 'usage' : 'denied';
      return { ...well('prompt_blocked', reason.message), exit };
    }
    case 'max_turns': {
      const problem = `Reached maximum number of turns (${reason.limit})`;
      return failed({
        problem,
        subtype: 'error_max_turns',
        terminal: 'max_turns',
        exit: 'maxTurns',
      });
    }
    case 'budget': {
      const { words, limitUsd, spentUsd } = reason;
      const problem =
        words === undefined
          ? `Reached the budget of $${limitUsd} (spent $${spentUsd.toFixed(4)})`
          : `Stopped: ${words}`;
      const names = { subtype: 'error_max_budget_usd', terminal: 'budget_exhausted' };
      return failed({ problem, ...names, exit: 'budget' });
    }
    case 'aborted': {
      const isTools = reason.during === 'tools';
      return failed({
        problem: isTools ? 'Interrupted while tools were running' : 'Interrupted',
        terminal: isTools ? 'aborted_tools' : 'aborted_streaming',
        exit: 'interrupted',
      });
    }
    case 'stuck': {
      const problem = `Stopped: ${reason.message}`;
      return failed({ problem, terminal: 'malformed_tool_use_exhausted', exit: 'stuck' });
    }
    case 'structured_output_missing':
      return failed({
        problem:
          reason.message === undefined
            ? `The model did not give the structured answer in ${reason.attempts} attempts`
            : `No structured answer: ${reason.message}`,
        subtype: 'error_max_structured_output_retries',
        terminal: 'structured_output_retry_exhausted',
        exit: 'error',
      });
    case 'model_failure': {
      const { status, message, remedy, kind } = reason.failure;
      // The message of an HTTP error already begins with its status.
      const hasStatus = status === undefined || message.startsWith(`${status}:`);
      const words = `${hasStatus ? '' : `${status}: `}${message}`;
      return failed({
        problem: `API Error: ${words}${remedy === undefined ? '' : ` · ${remedy}`}`,
        subtype: 'success',
        terminal: kind === 'prompt_too_long' ? 'prompt_too_long' : 'api_error',
        exit: 'error',
      });
    }
  }
}

function well(terminal: string, problem: string): TurnEnd {
  return { problem, isError: false, subtype: 'success', terminal, exit: 'done' };
}

function failed(
  end: Omit<TurnEnd, 'isError' | 'subtype'> & { readonly subtype?: string },
): TurnEnd {
  return { isError: true, subtype: 'error_during_execution', ...end };
}

/** What follows a failed request of the model; the first time with what to do about it. */
export function retryText(event: Extract<SessionEvent, { type: 'retry' }>['event']): string {
  const { failure } = event;
  if (event.type === 'fallback') return `${failure.message}. Continuing with ${event.to}.`;
  const { attempt, maxRetries, delayMs } = event;
  const remedy = attempt === 1 && failure.remedy !== undefined ? ` · ${failure.remedy}` : '';
  const wait = `trying again in ${(delayMs / 1000).toFixed(1)} s (${attempt} of ${maxRetries})`;
  return `${failure.message} · ${wait}${remedy}`;
}
