import { describe, expect, it, vi } from 'vitest';
import { callOnAbort, takeBackOnAbort } from './abort-calls.js';

describe('calls on abort', () => {
  it('are made once each, in order, through one listener of the signal', () => {
    const controller = new AbortController();
    const listening = vi.spyOn(controller.signal, 'addEventListener');
    const seen: number[] = [];
    for (const number of [1, 2, 3]) callOnAbort(controller.signal, () => seen.push(number));
    expect(listening).toHaveBeenCalledTimes(1);
    controller.abort();
    controller.abort();
    expect(seen).toEqual([1, 2, 3]);
  });

  it('are not made when they were taken back, also by one before them', () => {
    const controller = new AbortController();
    const { signal } = controller;
    const seen: string[] = [];
    const gone = (): void => void seen.push('gone');
    const later = (): void => void seen.push('later');
    callOnAbort(signal, gone);
    callOnAbort(signal, () => takeBackOnAbort(signal, later));
    callOnAbort(signal, later);
    takeBackOnAbort(signal, gone);
    takeBackOnAbort(new AbortController().signal, gone);
    controller.abort();
    expect(seen).toEqual([]);
  });

  it('go on after one that fails, whose failure is told', () => {
    const failures: unknown[] = [];
    const signal = new EventTarget() as AbortSignal;
    const listen = EventTarget.prototype.addEventListener;
    signal.addEventListener = (type: string, act: unknown) =>
      listen.call(signal, type, () => {
        try {
          (act as () => void)();
        } catch (thrown) {
          failures.push(thrown);
        }
      });
    const seen: string[] = [];
    callOnAbort(signal, () => {
      throw new Error('first');
    });
    callOnAbort(signal, () => seen.push('second'));
    signal.dispatchEvent(new Event('abort'));
    expect(seen).toEqual(['second']);
    expect(failures).toEqual([new Error('first')]);
  });
});
