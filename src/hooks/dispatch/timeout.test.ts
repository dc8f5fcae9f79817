import { describe, expect, it } from 'vitest';
import { failed, inTime } from './timeout.js';

const NEVER = new AbortController().signal;
const done = { kind: 'value', value: 1 } as const;

function silent(signal: AbortSignal, seen: AbortSignal[]): Promise<typeof done> {
  seen.push(signal);
  return new Promise(() => {});
}

describe('a runner that is given its time', () => {
  it('passes on what the work gives', async () => {
    expect(await inTime({ signal: NEVER, timeoutMs: 20_000 }, 'http', async () => done)).toBe(done);
  });

  it('ends at the deadline, says the limit, and ends the work', async () => {
    const seen: AbortSignal[] = [];
    const raw = await inTime({ signal: NEVER, timeoutMs: 20 }, 'http', (one) => silent(one, seen));
    expect(raw).toEqual({
      kind: 'failed',
      failure: { cause: 'timeout', message: 'no answer within 0.02 s' },
    });
    expect(seen[0]?.aborted).toBe(true);
  });

  it('ends when nobody waits any more, with the reason where there is one', async () => {
    for (const [reason, message] of [
      [new Error('the turn was ended'), 'the turn was ended'],
      [undefined, 'it was cancelled before it answered'],
    ] as const) {
      const waiting = new AbortController();
      const seen: AbortSignal[] = [];
      const running = inTime({ signal: waiting.signal, timeoutMs: 20_000 }, 'http', (one) =>
        silent(one, seen),
      );
      waiting.abort(reason);
      expect(await running).toMatchObject({ failure: { cause: 'timeout', message } });
      expect(seen[0]?.aborted).toBe(true);
    }
  });

  it('does not begin what nobody waits for', async () => {
    const seen: AbortSignal[] = [];
    const raw = await inTime({ signal: AbortSignal.abort(), timeoutMs: 20_000 }, 'http', (one) =>
      silent(one, seen),
    );
    expect(raw).toMatchObject({ failure: { cause: 'timeout' } });
    expect(seen).toEqual([]);
  });

  it('makes a failure of what is thrown, at once or later', async () => {
    const time = { signal: NEVER, timeoutMs: 20_000 };
    const thrown = (work: () => Promise<never>) => inTime(time, 'threw', work);
    const expected = { kind: 'failed', failure: { cause: 'threw', message: 'broken' } };
    expect(await thrown(() => Promise.reject(new Error('broken')))).toEqual(expected);
    expect(
      await thrown(() => {
        throw new Error('broken');
      }),
    ).toEqual(expected);
  });

  it('takes limits that are longer than any timer', async () => {
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return done;
    };
    expect(await inTime({ signal: NEVER, timeoutMs: 1e12 }, 'http', slow)).toBe(done);
  });
});

describe('a failure', () => {
  it('is one short line without control characters', () => {
    const raw = failed('http', `a\r\nb\u001b[31m\t${'x'.repeat(1000)}`);
    if (raw.kind !== 'failed') throw new Error(raw.kind);
    expect(raw.failure.message).toMatch(/^a b\[31m x+…$/);
    expect(raw.failure.message.length).toBe(501);
  });
});
