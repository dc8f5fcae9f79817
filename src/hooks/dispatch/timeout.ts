import { messageOf } from '../../errors.js';
import { orAbort } from '../../lib/abort.js';
import { printable } from '../../lib/printable.js';
import { sliceWhole } from '../../lib/truncate.js';
import type { HookFailureCause, HookRaw, HookRequest } from '../registry/hook.js';

/** Timers cannot be longer than this. */
export const LONGEST_TIMER_MS = 2_147_483_647;
/** Causes come from servers, models and hosts, and may be of any length. */
const SHOWN_CHARACTERS = 500;

/** A hook that gave no verdict, and why, in one line. */
export function failed(cause: HookFailureCause, message: string): HookRaw {
  return { kind: 'failed', failure: { cause, message: oneLine(message) } };
}

export function oneLine(text: string, cap: number = SHOWN_CHARACTERS): string {
  const flat = printable(text).replace(/\s+/g, ' ').trim();
  return flat.length <= cap ? flat : `${sliceWhole(flat, 0, cap)}…`;
}

/**
 * Does the work of a runner, no longer than the hook may take and somebody waits. Never throws; what
 * `work` throws is a failure of the kind `thrownAs`. The signal that `work` gets ends with the wait,
 * so that nothing goes on behind it.
 */
export async function inTime(
  request: Pick<HookRequest, 'signal' | 'timeoutMs'>,
  thrownAs: HookFailureCause,
  work: (signal: AbortSignal) => Promise<HookRaw>,
): Promise<HookRaw> {
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new Error(`no answer within ${request.timeoutMs / 1000} s`)),
    Math.min(request.timeoutMs, LONGEST_TIMER_MS),
  );
  const signal = AbortSignal.any([request.signal, deadline.signal]);
  try {
    // Nobody waits any more: the work is not even begun.
    signal.throwIfAborted();
    return await orAbort(work(signal), signal);
  } catch (thrown) {
    if (!signal.aborted) return failed(thrownAs, messageOf(thrown));
    return failed('timeout', reasonOf(signal));
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf({ reason }: AbortSignal): string {
  const told = reason instanceof Error && reason.name !== 'AbortError' ? reason.message : '';
  return told === '' ? 'it was cancelled before it answered' : told;
}
