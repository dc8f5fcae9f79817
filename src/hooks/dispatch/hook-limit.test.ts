import { describe, expect, it } from 'vitest';
import { calledOff, seconds, timeoutFailure } from './hook-limit.js';

const withdrawn = { cause: 'unavailable' };

describe('calledOff', () => {
  const signal = AbortSignal.abort();

  it('is a timeout when the time was up, give or take a moment', () => {
    expect(calledOff({ signal, timeoutMs: 2000 }, 2000)).toEqual({
      cause: 'timeout',
      message: 'no answer within 2 s',
    });
    expect(calledOff({ signal, timeoutMs: 2000 }, 1960)).toMatchObject({ cause: 'timeout' });
    expect(calledOff({ signal, timeoutMs: 2000 }, 1900)).toMatchObject(withdrawn);
    expect(calledOff({ signal, timeoutMs: 20 }, 5)).toMatchObject(withdrawn);
  });

  it('believes a signal that says that it is a deadline', () => {
    const deadline = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
    expect(calledOff({ signal: deadline, timeoutMs: 2000 }, 10)).toMatchObject({
      cause: 'timeout',
    });
  });
});

describe('seconds', () => {
  it.each([
    [2000, '2 s'],
    [1500, '1.5 s'],
    [50, '0.05 s'],
    [600_000, '600 s'],
  ])('%i ms are %s', (ms, text) => {
    expect(seconds(ms)).toBe(text);
    expect(timeoutFailure(ms).message).toBe(`no answer within ${text}`);
  });
});
