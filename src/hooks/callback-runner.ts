import type { CallbackHandler, HookRunner } from './hook.js';
import type { HostCallbacks } from './host-callbacks.js';
import { inTime } from './in-time.js';

/** Asks a function of the host, over its channel. */
export function createCallbackRunner(
  callbacks: Pick<HostCallbacks, 'call'>,
): HookRunner<CallbackHandler> {
  return ({ handler }, request) =>
    inTime(request, 'threw', async (signal) => {
      const { input, toolUseId } = request;
      const value = await callbacks.call({
        id: handler.id,
        input,
        signal,
        ...(toolUseId === undefined ? {} : { toolUseId }),
      });
      return { kind: 'value', value };
    });
}
