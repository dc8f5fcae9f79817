import { describe, expect, it } from 'vitest';
import { hookOf, requestOf } from '../../../test/hooks/runner-rig.js';
import {
  type CallbackRequest,
  createCallbackRunner,
  type HostCallbacks,
} from '../registry/host-callbacks.js';

const hook = hookOf({ type: 'callback', id: 'hook_0' });
const run = (call: HostCallbacks['call'], more: Parameters<typeof requestOf>[0] = {}) =>
  createCallbackRunner({ call })(hook, requestOf(more));

describe('a callback hook', () => {
  it('asks the callback with the input, and gives what it returns', async () => {
    const asked: CallbackRequest[] = [];
    for (const value of [undefined, null, {}, { continue: false }, 'text']) {
      const raw = await run(async (request) => {
        asked.push(request);
        return value;
      });
      expect(raw).toEqual({ kind: 'value', value });
    }
    expect(asked[0]).toMatchObject({
      id: 'hook_0',
      toolUseId: 'toolu_1',
      input: { tool_name: 'Bash' },
    });
  });

  it('names no call where there is none', async () => {
    const { toolUseId: _, ...request } = requestOf();
    let asked: CallbackRequest | undefined;
    const callbacks: Pick<HostCallbacks, 'call'> = {
      call: async (one) => {
        asked = one;
      },
    };
    await createCallbackRunner(callbacks)(hook, request);
    expect(asked?.toolUseId).toBeUndefined();
  });

  it('says what a callback threw', async () => {
    const threw = { kind: 'failed', failure: { cause: 'threw', message: 'TypeError: x' } };
    expect(await run(() => Promise.reject(new Error('TypeError: x')))).toEqual(threw);
    expect(await run(() => Promise.reject('TypeError: x'))).toEqual(threw);
    expect(
      await run(() => {
        throw new Error('TypeError: x');
      }),
    ).toEqual(threw);
  });

  it('tells a host that is gone from one that answers with an error', async () => {
    const call = () => Promise.reject(new Error('the host has closed its end and cannot answer'));
    const ask = (isOpen: () => boolean) =>
      createCallbackRunner({ call, isOpen })(hook, requestOf());
    expect(await ask(() => true)).toMatchObject({ failure: { cause: 'threw' } });
    expect(await ask(() => false)).toEqual({
      kind: 'failed',
      failure: { cause: 'unavailable', message: 'the host has closed its end and cannot answer' },
    });
  });

  it('takes silence for a failure, also where the host answers the end with an error', async () => {
    const timeout = { kind: 'failed', failure: { cause: 'timeout' } };
    expect(await run(() => new Promise(() => {}), { timeoutMs: 20 })).toMatchObject(timeout);
    const onAbort: HostCallbacks['call'] = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cancelled')));
      });
    expect(await run(onAbort, { timeoutMs: 20 })).toMatchObject(timeout);
  });
});
