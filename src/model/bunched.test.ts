import { describe, expect, it } from 'vitest';
import { oneByOne, upToLast } from './bunched.js';
import type { ModelEvent } from './client.js';

const START: ModelEvent = { type: 'message_start', message: { id: '1', model: 'a', usage: {} } };
const PING: ModelEvent = { type: 'ping' };
const STOP: ModelEvent = { type: 'message_stop' };

/** What comes, and what became of the one who sends it. */
function sender(bunches: readonly (readonly ModelEvent[])[]) {
  const state = { asked: 0, left: false };
  async function* send(): AsyncGenerator<readonly ModelEvent[]> {
    try {
      for (const bunch of bunches) {
        state.asked++;
        yield bunch;
      }
    } finally {
      state.left = true;
    }
  }
  return { state, send };
}

async function kinds(events: AsyncIterable<ModelEvent>): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of events) seen.push(event.type);
  return seen;
}

const never = new AbortController().signal;

describe('events that come in bunches', () => {
  it('are given one by one and in order, empty bunches passed over', async () => {
    const { send, state } = sender([[], [START, PING], [], [STOP], []]);
    expect(await kinds(oneByOne(send(), never))).toEqual(['message_start', 'ping', 'message_stop']);
    expect(state.left).toBe(true);
  });

  it('are asked for only when the ones before were taken', async () => {
    const { send, state } = sender([[START, PING], [STOP]]);
    const events = oneByOne(send(), never);
    expect(state.asked).toBe(0);
    await events.next();
    await events.next();
    expect(state.asked).toBe(1);
    await events.next();
    expect(state.asked).toBe(2);
  });

  it('end at an abort in the middle of a bunch, and the sender is left', async () => {
    const controller = new AbortController();
    const { send, state } = sender([[START, PING, STOP]]);
    const events = oneByOne(send(), controller.signal);
    await events.next();
    controller.abort();
    expect((await events.next()).value).toMatchObject({
      type: 'failure',
      failure: { kind: 'aborted' },
    });
    expect(await events.next()).toEqual({ value: undefined, done: true });
    expect(state.left).toBe(true);
  });

  it('leave the sender when the reader leaves', async () => {
    const { send, state } = sender([[START, PING, STOP]]);
    for await (const event of oneByOne(send(), never)) if (event.type === 'ping') break;
    expect(state.left).toBe(true);
  });

  it('are there without waiting once their bunch has come, but for the first', async () => {
    const { send, state } = sender([[START, PING], [STOP]]);
    const events = oneByOne(send(), never);
    expect(events.takeReady()).toBeUndefined();
    expect((await events.next()).value).toBe(START);
    expect(events.takeReady()).toEqual([PING]);
    expect(events.takeReady()).toBeUndefined();
    expect(state.asked).toBe(1);
    expect((await events.next()).value).toBe(STOP);
  });

  it('leave failures and aborts to whoever waits', async () => {
    const failed: ModelEvent = {
      type: 'failure',
      failure: { kind: 'server', message: 'm', retryable: true },
    };
    const events = oneByOne(sender([[START, failed]]).send(), never);
    await events.next();
    expect(events.takeReady()).toBeUndefined();
    expect((await events.next()).value).toBe(failed);

    const late = oneByOne(sender([[START, PING, failed]]).send(), never);
    await late.whenReady?.();
    expect(late.takeReady()).toEqual([START, PING]);
    expect(late.takeReady()).toBeUndefined();
    expect(late.whenReady?.()).toBeUndefined();
    expect((await late.next()).value).toBe(failed);

    const controller = new AbortController();
    const cut = oneByOne(sender([[START, PING]]).send(), controller.signal);
    await cut.next();
    controller.abort();
    expect(cut.takeReady()).toBeUndefined();
    expect((await cut.next()).value).toMatchObject({ failure: { kind: 'aborted' } });
  });

  it('say when they have come, and that they are over, where their sender says so', async () => {
    const { send, state } = sender([[START, PING], [], [STOP]]);
    const source = send();
    const events = oneByOne(Object.assign(source, { isOver: false }), never);
    expect(state.asked).toBe(0);
    await events.whenReady?.();
    expect(events.whenReady?.()).toBeUndefined();
    expect(events.takeReady()).toEqual([START, PING]);
    expect(events.takeReady()).toBeUndefined();
    await events.whenReady?.();
    expect(events.takeReady()).toBeUndefined();
    await events.whenReady?.();
    Object.assign(source, { isOver: true });
    expect(events.takeEnd?.()).toBe(false);
    expect(events.takeReady()).toEqual([STOP]);
    expect(events.takeEnd?.()).toBe(true);
    expect(state.asked).toBe(3);
    const silent = oneByOne(sender([[STOP]]).send(), never);
    await silent.whenReady?.();
    expect([silent.takeReady(), silent.takeEnd?.()]).toEqual([[STOP], false]);
  });

  it('tell of a sender that broke, or ended, while it was waited for', async () => {
    async function* broken(): AsyncGenerator<readonly ModelEvent[]> {
      yield [START];
      throw new Error('broken');
    }
    const events = oneByOne(broken(), never);
    await events.whenReady?.();
    events.takeReady();
    await events.whenReady?.();
    expect(events.takeReady()).toBeUndefined();
    expect(events.whenReady?.()).toBeUndefined();
    await expect(events.next()).rejects.toThrow('broken');

    const ended = oneByOne(sender([]).send(), never);
    await ended.whenReady?.();
    expect(await ended.next()).toEqual({ value: undefined, done: true });
  });

  it('are no part of an answer behind its end', () => {
    expect(upToLast([START, STOP, PING])).toEqual([START, STOP]);
    const whole = [START, STOP];
    expect(upToLast(whole)).toBe(whole);
    expect(upToLast([])).toEqual([]);
  });
});
