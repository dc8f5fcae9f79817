import { getEventListeners } from 'node:events';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { stopWatching, watchAbort } from './abort-watch.js';

function setUp() {
  const controller = new AbortController();
  const { signal } = controller;
  const told: string[] = [];
  const waiting = (name: string) => ({ aborted: () => void told.push(name) });
  const listeners = (): number => getEventListeners(signal, 'abort').length;
  return { controller, signal, told, waiting, listeners };
}

describe('an abort', () => {
  it('is told to all who wait, once, by one listener', () => {
    const { controller, signal, told, waiting, listeners } = setUp();
    for (const name of ['a', 'b', 'c']) watchAbort(signal, waiting(name));
    expect(listeners()).toBe(1);
    controller.abort();
    expect(told).toEqual(['a', 'b', 'c']);
    expect(listeners()).toBe(0);
  });

  it('is not told to those who have left', () => {
    const { controller, signal, told, waiting } = setUp();
    const gone = waiting('gone');
    watchAbort(signal, waiting('here'));
    watchAbort(signal, gone);
    stopWatching(signal, gone);
    stopWatching(signal, gone);
    controller.abort();
    expect(told).toEqual(['here']);
    stopWatching(signal, gone);
  });

  it('is not told to one who leaves because another was told', () => {
    const { controller, signal, told, waiting } = setUp();
    const second = waiting('second');
    const first = {
      aborted() {
        told.push('first');
        stopWatching(signal, second);
      },
    };
    for (const one of [first, second, waiting('third')]) watchAbort(signal, one);
    controller.abort();
    expect(told).toEqual(['first', 'third']);
  });

  it('is listened for to the end of the turn in which the last one left, and no longer', async () => {
    const { signal, waiting, listeners } = setUp();
    const [first, second] = [waiting('first'), waiting('second')];
    watchAbort(signal, first);
    stopWatching(signal, first);
    expect(listeners()).toBe(1);
    watchAbort(signal, second);
    await turnEnd();
    expect(listeners()).toBe(1);
    stopWatching(signal, second);
    await turnEnd();
    expect(listeners()).toBe(0);
  });

  it('is told to whoever comes after the others were told to leave', async () => {
    const { controller, signal, told, waiting } = setUp();
    const first = waiting('first');
    watchAbort(signal, first);
    stopWatching(signal, first);
    await turnEnd();
    watchAbort(signal, waiting('second'));
    controller.abort();
    expect(told).toEqual(['second']);
  });

  it('after everybody has left within the turn is told to nobody', async () => {
    const { controller, signal, told, waiting, listeners } = setUp();
    const first = waiting('first');
    watchAbort(signal, first);
    stopWatching(signal, first);
    controller.abort();
    await turnEnd();
    expect([told, listeners()]).toEqual([[], 0]);
  });
});
