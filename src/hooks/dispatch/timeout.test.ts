import { describe, expect, it } from 'vitest';
import { attempt, calledOff, failed, seconds, timeoutFailure, withTimeout } from './timeout.js';

const NEVER = new AbortController().signal;
const done = { kind: 'value', value: 1 } as const;

function silent(signal: AbortSignal, seen: AbortSignal[]): Promise<typeof done> {
  seen.push(signal);
  return new Promise(() => {});
}

describe('work with a timeout', () => {
  it('passes on what the work gives', async () => {
    expect(await withTimeout({ signal: NEVER, ms: 20_000 }, async () => done)).toEqual({
      kind: 'done',
      value: done,
    });
  });

  it('ends at the deadline and tells the work why', async () => {
    const seen: AbortSignal[] = [];
    const timed = await withTimeout({ signal: NEVER, ms: 20 }, (one) => silent(one, seen));
    expect(timed).toMatchObject({ kind: 'late' });
    const [signal] = seen;
    if (signal === undefined) throw new Error('the work was not begun');
    expect(calledOff({ signal, timeoutMs: 20 })).toEqual({
      cause: 'timeout',
      message: 'no answer within 0.02 s',
    });
  });

  it('hands over what comes after the deadline', async () => {
    let finish: (value: number) => void = () => {};
    const work = new Promise<number>((answer) => {
      finish = answer;
    });
    const timed = await withTimeout({ signal: NEVER, ms: 10 }, () => work);
    finish(7);
    expect(timed.kind === 'late' && (await timed.result)).toBe(7);
  });

  it('ends when the caller does not wait any more, and does not begin what nobody waits for', async () => {
    const waiting = new AbortController();
    const seen: AbortSignal[] = [];
    const running = withTimeout({ signal: waiting.signal, ms: 20_000 }, (one) => silent(one, seen));
    waiting.abort();
    expect(await running).toEqual({ kind: 'cancelled' });
    expect(seen[0]?.aborted).toBe(true);
    const again = withTimeout({ signal: waiting.signal, ms: 20_000 }, (one) => silent(one, seen));
    expect(await again).toEqual({ kind: 'cancelled' });
    expect(seen).toHaveLength(1);
  });

  it('takes limits that are longer than any timer', async () => {
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return done;
    };
    expect(await withTimeout({ signal: NEVER, ms: 1e12 }, slow)).toMatchObject({ kind: 'done' });
  });
});

describe('an attempt of a runner', () => {
  it('ends with its signal, and says the limit or the reason', async () => {
    const ask = (signal: AbortSignal) =>
      attempt({ signal, timeoutMs: 2000 }, 'http', () => silent(signal, []));
    const gone = { failure: { cause: 'unavailable' } };
    expect(await ask(AbortSignal.timeout(5))).toMatchObject({
      failure: { cause: 'timeout', message: 'no answer within 2 s' },
    });
    expect(await ask(AbortSignal.abort())).toMatchObject(gone);
    const reason = new Error('the turn was ended');
    expect(await ask(AbortSignal.abort(reason))).toMatchObject(gone);
  });

  it('makes a failure of what is thrown, at once or later', async () => {
    const thrown = (work: () => Promise<never>) =>
      attempt({ signal: NEVER, timeoutMs: 20_000 }, 'threw', work);
    const expected = { kind: 'failed', failure: { cause: 'threw', message: 'broken' } };
    expect(await thrown(() => Promise.reject(new Error('broken')))).toEqual(expected);
    expect(
      await thrown(() => {
        throw new Error('broken');
      }),
    ).toEqual(expected);
  });
});

describe('a failure', () => {
  it('is one short line without control characters', () => {
    const raw = failed('http', `a\r\nb\u001b[31m\t${'x'.repeat(1000)}`);
    if (raw.kind !== 'failed') throw new Error(raw.kind);
    expect(raw.failure.message).toMatch(/^a b\[31m x+…$/);
    expect(raw.failure.message.length).toBe(501);
  });

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
