import { describe, expect, it } from 'vitest';
import { createHostCallbacks } from './host-callbacks.js';
import { createHostChannel } from './host-channel.js';
import type { Frame } from './wire.js';

function channel() {
  const frames: Frame[] = [];
  return { frames, ...createHostChannel((frame) => frames.push(frame)) };
}

const quiet = new AbortController().signal;

describe('requests to the host', () => {
  it('are answered by their own id, out of order', async () => {
    const { request, settle, frames } = channel();
    const first = request({ subtype: 'a' }, quiet);
    const second = request({ subtype: 'b' }, quiet);
    const [one, two] = frames.map((frame) => frame.request_id);
    settle({ subtype: 'success', request_id: two, response: { n: 2 } });
    settle({ subtype: 'success', request_id: one });
    expect([await first, await second]).toEqual([undefined, { n: 2 }]);
  });

  it('reject with the error of the host', async () => {
    const { request, settle, frames } = channel();
    const asked = request({ subtype: 'a' }, quiet);
    settle({ subtype: 'error', request_id: frames[0]?.request_id, error: 'BOOM' });
    await expect(asked).rejects.toThrow('BOOM');
  });

  it('are withdrawn with a cancel, and a late answer is ignored', async () => {
    const { request, settle, frames, open } = channel();
    const turn = new AbortController();
    const asked = request({ subtype: 'can_use_tool' }, turn.signal);
    expect(open('can_use_tool')).toEqual([frames[0]]);
    turn.abort(new Error('interrupted'));
    await expect(asked).rejects.toThrow('interrupted');
    const id = frames[0]?.request_id;
    expect(frames[1]).toEqual({ type: 'control_cancel_request', request_id: id });
    settle({ subtype: 'success', request_id: id, response: { behavior: 'allow' } });
    expect(open('can_use_tool')).toEqual([]);
  });

  it('fail at once when the host has left', async () => {
    const { request, close, frames } = channel();
    const asked = request({ subtype: 'a' }, quiet);
    close();
    await expect(asked).rejects.toThrow('closed its end');
    await expect(request({ subtype: 'b' }, quiet)).rejects.toThrow('closed its end');
    expect(frames).toHaveLength(1);
  });

  it('are not sent for a turn that is over', async () => {
    const { request, frames } = channel();
    await expect(request({ subtype: 'a' }, AbortSignal.abort())).rejects.toThrow();
    expect(frames).toEqual([]);
  });
});

describe('registered callbacks', () => {
  it('keep matcher, time limit and what a failure means', () => {
    const callbacks = createHostCallbacks(channel());
    callbacks.register({
      PreToolUse: [
        { matcher: 'Bash', hookCallbackIds: ['a', 'b'], timeout: 5, onFailure: 'continue' },
        { matcher: null, hookCallbackIds: ['c'], timeout: 'soon', onFailure: 'later' },
      ],
      SomethingNew: [{ hookCallbackIds: ['d'] }],
    });
    expect(callbacks.registered('PreToolUse')).toEqual([
      { matcher: 'Bash', ids: ['a', 'b'], timeoutMs: 5_000, onFailure: 'continue' },
      { ids: ['c'], onFailure: 'block' },
    ]);
    expect(callbacks.registered('PermissionRequest')).toEqual([]);
    expect(callbacks.events?.()).toEqual(['PreToolUse', 'SomethingNew']);
  });

  it('are replaced as a whole', () => {
    const callbacks = createHostCallbacks(channel());
    callbacks.register({ PreToolUse: [{ hookCallbackIds: ['a'] }] });
    for (const nothing of [null, undefined]) callbacks.register(nothing);
    expect(callbacks.registered('PreToolUse')).toHaveLength(1);
    callbacks.register({ Stop: [{ hookCallbackIds: ['b'] }] });
    expect(callbacks.registered('PreToolUse')).toEqual([]);
  });

  it.each([
    [['x']],
    [{ PreToolUse: {} }],
    [{ PreToolUse: ['x'] }],
    [{ PreToolUse: [{ hookCallbackIds: 'a' }] }],
    [{ PreToolUse: [{ hookCallbackIds: [7] }] }],
    [{ PreToolUse: [{ hookCallbackIds: ['a'], matcher: 7 }] }],
  ])('fail for every tool when %j cannot be read', async (hooks) => {
    const callbacks = createHostCallbacks(channel());
    callbacks.register(hooks);
    const [entry] = callbacks.registered('PreToolUse');
    expect(entry).toMatchObject({ onFailure: 'block' });
    expect(entry).not.toHaveProperty('matcher');
    const id = entry?.ids[0] ?? '';
    const asked = callbacks.call({ id, input: {}, toolUseId: 't', signal: quiet });
    await expect(asked).rejects.toThrow('cannot be read');
  });
});
