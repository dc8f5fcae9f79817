import { messageOf } from '../../errors.js';
import { orAbort } from '../../lib/abort.js';
import { printable } from '../../lib/text/printable.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { HookFailure, HookFailureCause, HookRaw, HookRequest } from '../registry/hook.js';

/** Timers cannot be longer than this. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** How a piece of work ended for the caller. */
type Timed<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'threw'; readonly thrown: unknown }
  /** The deadline has passed; what the work comes to afterwards, if ever. */
  | { readonly kind: 'late'; readonly result: Promise<T> }
  /** The caller's signal aborted. */
  | { readonly kind: 'cancelled' };

/**
 * Waits for work, no longer than `ms`, whatever the work makes of the signal that it is given: it
 * aborts with a `TimeoutError` at the deadline.
 */
export async function withTimeout<T>(
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Timed<T>> {
  if (signal.aborted) return { kind: 'cancelled' };
  const own = new AbortController();
  let isLate = false;
  const end = (): void => {
    isLate = true;
    own.abort(new DOMException(timeoutFailure(ms).message, 'TimeoutError'));
  };
  const timer = setTimeout(end, Math.min(ms, LONGEST_TIMER_MS));
  // Of its own: dozens wait at once, and a signal complains about more than ten listeners.
  const parent = AbortSignal.any([signal]);
  const cancel = (): void => own.abort(signal.reason);
  parent.addEventListener('abort', cancel, { once: true });
  const running = (async () => work(own.signal))();
  try {
    return { kind: 'done', value: await orAbort(running, own.signal) };
  } catch (thrown) {
    if (!own.signal.aborted) return { kind: 'threw', thrown };
    if (!isLate) return { kind: 'cancelled' };
    // What is thrown after the deadline has no reader.
    running.catch(() => undefined);
    return { kind: 'late', result: running };
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', cancel);
  }
}

/** Whether a promise settles within `ms`. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const signal = new AbortController().signal;
  return (await withTimeout({ ms, signal }, () => promise)).kind !== 'late';
}

/** Does the work of a runner until its signal aborts. What `work` throws is a failure of the kind `thrownAs`. */
export async function attempt(
  request: Pick<HookRequest, 'signal' | 'timeoutMs'>,
  thrownAs: HookFailureCause,
  work: () => Promise<HookRaw>,
): Promise<HookRaw> {
  const { signal } = request;
  try {
    signal.throwIfAborted();
    return await orAbort(work(), signal);
  } catch (thrown) {
    if (!signal.aborted) return failed(thrownAs, messageOf(thrown));
    return { kind: 'failed', failure: calledOff(request) };
  }
}

export function timeoutFailure(timeoutMs: number): HookFailure {
  return { cause: 'timeout', message: `no answer within ${seconds(timeoutMs)}` };
}

/** Why the signal of a hook aborted: its time was up, or its answer is not needed any more. */
export function calledOff({
  signal,
  timeoutMs,
}: Pick<HookRequest, 'signal' | 'timeoutMs'>): HookFailure {
  const { reason } = signal;
  if (reason instanceof Error && reason.name === 'TimeoutError') return timeoutFailure(timeoutMs);
  return { cause: 'unavailable', message: 'withdrawn: its answer is not needed any more' };
}

/** As in settings: whole seconds where they are, fractions where not. */
export function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(3))} s`;
}

/** A hook that gave no verdict, and why, in one line. */
export function failed(cause: HookFailureCause, message: string, printed?: string): HookRaw {
  return { kind: 'failed', failure: { cause, message: oneLine(message) }, printed };
}

/** Causes come from servers, models and hosts, and may be of any length. */
const SHOWN_CHARACTERS = 500;

export function oneLine(text: string, cap: number = SHOWN_CHARACTERS): string {
  const flat = printable(text).replace(/\s+/g, ' ').trim();
  return flat.length <= cap ? flat : `${sliceWhole(flat, 0, cap)}…`;
}
