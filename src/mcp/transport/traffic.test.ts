import { describe, expect, it } from 'vitest';
import { TRAFFIC_LIMITS, Traffic, type TrafficLimits, type Verdict } from './traffic.js';

const SMALL: TrafficLimits = {
  requests: { atOnce: 3, burst: 5, perSecond: 2, mostExcess: 10 },
  notes: { burst: 5, perSecond: 2, mostExcess: 10 },
  calmMs: 1_000,
};

function trafficAt(limits: TrafficLimits = SMALL) {
  const clock = { now: 0 };
  const traffic = new Traffic(limits, () => clock.now);
  let next = 0;
  const ping = (id: unknown = next++): Verdict =>
    traffic.judge({ jsonrpc: '2.0', id, method: 'ping' }).verdict;
  const note = (params: unknown = {}): Verdict =>
    traffic.judge({ jsonrpc: '2.0', method: 'notifications/message', params }).verdict;
  return { clock, traffic, ping, note };
}

const times = <T>(count: number, work: () => T): T[] => Array.from({ length: count }, work);

describe('requests of a server', () => {
  it('are refused while as many are being answered as may be', () => {
    const { traffic, ping } = trafficAt();
    expect([ping(1), ping(2), ping(3), ping(4)]).toEqual(['taken', 'taken', 'taken', 'refused']);
    traffic.answered(1);
    expect(ping(5)).toBe('taken');
  });

  it('are free again when the server asks no more', () => {
    const { traffic, ping } = trafficAt();
    times(3, ping);
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 0 } };
    expect(traffic.judge(cancelled).verdict).toBe('taken');
    expect(ping()).toBe('taken');
  });

  it('are refused above so many a second, and taken again later', () => {
    const { clock, traffic, ping } = trafficAt();
    const answered = (id: number): Verdict => {
      const verdict = ping(id);
      traffic.answered(id);
      return verdict;
    };
    expect([1, 2, 3, 4, 5].map(answered)).toEqual(times(5, () => 'taken'));
    expect(answered(6)).toBe('refused');
    clock.now += 500;
    expect(answered(7)).toBe('taken');
    expect(answered(8)).toBe('refused');
  });

  it('get no refusal either while as many refusals have not gone out', () => {
    const { traffic, ping } = trafficAt();
    times(3, ping);
    expect(times(4, ping)).toEqual(['refused', 'refused', 'refused', 'dropped']);
    traffic.refusalSent();
    expect(ping()).toBe('refused');
  });

  it('are not taken with an id that is too long to be sent back', () => {
    const { traffic, ping } = trafficAt();
    expect(ping('x'.repeat(300))).toBe('dropped');
    expect(traffic.judge({ id: {}, method: 'ping' })).toEqual({ kind: 'notes', verdict: 'taken' });
  });

  it('are counted each, also where they all have one id', () => {
    const { traffic, ping } = trafficAt();
    expect([ping(7), ping(7), ping(7), ping(7)].at(-1)).toBe('refused');
    traffic.answered(7);
    expect([ping(7), ping(7)]).toEqual(['taken', 'refused']);
  });

  it('end in the end of the connection when they go on and on', () => {
    const { ping } = trafficAt();
    const seen = times(14, ping);
    expect(seen.slice(0, 13)).not.toContain('cut');
    expect(seen.at(-1)).toBe('cut');
  });

  it('hold no place after the handshake that nobody answered them in', () => {
    const { traffic, ping } = trafficAt();
    times(3, ping);
    traffic.connected({ answersRequests: true });
    expect(ping()).toBe('taken');
  });

  it('hold no place where the protocol knows none', () => {
    const { traffic, ping } = trafficAt();
    traffic.connected({ answersRequests: false });
    expect(times(6, ping)).toEqual([...times(5, () => 'taken'), 'dropped']);
  });
});

describe('notifications of a server', () => {
  it('are dropped above the limit and forgiven after a calm', () => {
    const { clock, traffic, note } = trafficAt();
    expect(times(6, () => note())).toEqual([...times(5, () => 'taken'), 'dropped']);
    expect(traffic.excess('notes')).toBe(1);
    clock.now += 10_000;
    times(6, () => note());
    expect(traffic.excess('notes')).toBe(1);
  });

  it('count by their length as well, and a large one passes when there is room', () => {
    const { note } = trafficAt();
    let deep: unknown[] = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(note({ data: 'x'.repeat(100_000) })).toBe('taken');
    expect(note()).toBe('dropped');
    expect(trafficAt().note(deep)).toBe('taken');
  });

  it('are cut when nothing helps, and so are answers to nothing', () => {
    const { traffic, note } = trafficAt();
    const stray = (): Verdict => traffic.judge({ id: 99, result: {} }).verdict;
    times(5, () => note());
    expect(times(10, stray)).not.toContain('cut');
    expect(stray()).toBe('cut');
  });
});

describe('what a server was asked for', () => {
  it('is never counted, also with its number as text', () => {
    const { traffic } = trafficAt();
    for (let id = 0; id < 1000; id++) {
      traffic.asked(id);
      const answer = { id: id % 2 === 0 ? id : String(id), result: {} };
      expect(traffic.judge(answer).verdict).toBe('taken');
    }
    traffic.asked(1);
    traffic.forgot(1);
    const late = times(6, () => traffic.judge({ id: 1, result: {} }).verdict);
    expect(late.at(-1)).toBe('dropped');
  });
});

describe('a server that works', () => {
  it('is not held back by what it tells', () => {
    const { clock, traffic, ping, note } = trafficAt(TRAFFIC_LIMITS);
    const seen = new Set<Verdict>();
    for (let second = 0; second < 600; second++) {
      clock.now += 1000;
      for (let i = 0; i < 1500; i++) seen.add(note({ level: 'debug', data: 'x'.repeat(500) }));
      for (let id = 0; id < 50; id++) {
        seen.add(ping(id));
        traffic.answered(id);
      }
    }
    expect([...seen]).toEqual(['taken']);
  });
});
