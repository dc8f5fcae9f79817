import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchCall } from './request.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(totalMs: number, idleMs: number) {
  const heard: string[] = [];
  const person = { isAsked: false };
  const limits = watchCall({
    totalMs,
    idleMs,
    stillRunningMs: 30_000,
    monotonic: () => Date.now(),
    isPaused: () => person.isAsked,
    onExpire: (limit) => heard.push(limit),
    onStillRunning: (seconds) => heard.push(`${seconds} s`),
  });
  return { limits, heard, person };
}

describe('the limits of a call', () => {
  it('speak after each half minute of silence and end in the limit for it', () => {
    const { heard } = start(1_000_000, 100_000);
    vi.advanceTimersByTime(99_999);
    expect(heard).toEqual(['30 s', '60 s', '90 s']);
    vi.advanceTimersByTime(10);
    expect(heard.at(-1)).toBe('idle');
  });

  it('of silence begin anew with each sign of life, the total one does not', () => {
    const { limits, heard } = start(100_000, 20_000);
    for (let sign = 0; sign < 9; sign++) {
      vi.advanceTimersByTime(10_000);
      limits.heard();
    }
    expect(heard).toEqual([]);
    vi.advanceTimersByTime(10_010);
    expect(heard).toEqual(['total']);
  });

  it('stand still while a person is asked', () => {
    const { heard, person } = start(50_000, 40_000);
    vi.advanceTimersByTime(20_000);
    person.isAsked = true;
    vi.advanceTimersByTime(10_000_000);
    person.isAsked = false;
    vi.advanceTimersByTime(19_000);
    expect(heard).toEqual(['30 s']);
    vi.advanceTimersByTime(1_010);
    expect(heard).toEqual(['30 s', 'idle']);
  });

  it('say nothing once stopped', () => {
    const { limits, heard } = start(1000, 1000);
    limits.stop();
    vi.advanceTimersByTime(100_000);
    expect(heard).toEqual([]);
  });
});
