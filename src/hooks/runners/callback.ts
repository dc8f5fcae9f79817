import { messageOf } from '../../errors.js';
import { attempt, failed } from '../dispatch/timeout.js';
import type { CallbackHandler, HookRunner } from '../registry/hook.js';
import { type HostCallbacks, HostNotAsked } from '../registry/host-callbacks.js';

/** Asks a function of the host, over its channel. */
export function createCallbackRunner(
  callbacks: Pick<HostCallbacks, 'call' | 'isOpen'>,
): HookRunner<CallbackHandler> {
  return ({ handler }, request) =>
    attempt(request, 'threw', async (signal) => {
      const { input, toolUseId } = request;
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
