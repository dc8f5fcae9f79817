import type { HookFailure, HookRequest } from '../registry/hook.js';

/** The deadline is also kept by whoever asks, who may have started to count a little earlier. */
const SLACK_MS = 50;

/** No answer came in time. */
export function timeoutFailure(timeoutMs: number): HookFailure {
  return { cause: 'timeout', message: `no answer within ${seconds(timeoutMs)}` };
}

/** Why a hook was called off after `elapsedMs`: its time was up, or nobody waits any more. */
export function calledOff(
  request: Pick<HookRequest, 'signal' | 'timeoutMs'>,
  elapsedMs: number,
): HookFailure {
  const { timeoutMs, signal } = request;
  const isLate = elapsedMs >= timeoutMs - Math.min(SLACK_MS, timeoutMs / 2);
  if (isLate || isTimeoutReason(signal.reason)) return timeoutFailure(timeoutMs);
  return { cause: 'unavailable', message: 'withdrawn: its answer is not needed any more' };
}

/** As in settings: whole seconds where they are, fractions where not. */
export function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(3))} s`;
}

function isTimeoutReason(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
