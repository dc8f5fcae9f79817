import { messageOf } from '../../errors.js';
import { attempt, failed } from '../dispatch/timeout.js';
import type { CallbackHandler, HookRunner } from './hook.js';

/** One entry of what a host registered: these callbacks, for this event, for these names. */
export interface CallbackEntry {
  /** Absent: everything. */
  readonly matcher?: string;
  readonly ids: readonly string[];
  /** Absent: what is usual at the event. */
  readonly timeoutMs?: number;
  /** What the host wants of a callback that answers with an error or with something invalid. */
  readonly onFailure: 'continue' | 'block';
}

export interface CallbackRequest {
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Absent for events that are about no call. */
  readonly toolUseId?: string;
  readonly signal: AbortSignal;
}

/** The callbacks of a host, as registered at this moment. */
export interface HostCallbacks {
  registered(event: string): readonly CallbackEntry[];
  /** The events that something is registered for, known or not. Absent: only known ones. */
  events?(): readonly string[];
  /** Called when others are registered in place of these. */
  onRegistered?(listener: () => void): void;
  /** Whether the host can still be asked. Absent: it can. */
  isOpen?(): boolean;
  /** Rejects with what the host says went wrong. Undefined: the callback returned nothing. */
  call(request: CallbackRequest): Promise<unknown>;
}

/** The question never reached the host, so the host did not let it pass. */
export class HostNotAsked extends Error {}

/** Asks a function of the host, over its channel. */
export function createCallbackRunner(
  callbacks: Pick<HostCallbacks, 'call' | 'isOpen'>,
): HookRunner<CallbackHandler> {
  return ({ handler }, request) =>
    attempt(request, 'threw', async () => {
      const { input, toolUseId, signal } = request;
      try {
        const value = await callbacks.call({ id: handler.id, input, signal, toolUseId });
        return { kind: 'value', value };
      } catch (thrown) {
        // A host that is gone has not answered; what it says about itself is an answer with an error.
        const isSilent = thrown instanceof HostNotAsked || callbacks.isOpen?.() === false;
        if (isSilent) return failed('unavailable', messageOf(thrown));
        throw thrown;
      }
    });
}
