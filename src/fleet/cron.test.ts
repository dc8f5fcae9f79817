import { describe, expect, it } from 'vitest';
import { dueMinute, parseCron } from './cron.js';

describe('a schedule', () => {
  it.each<[string, string, boolean]>([
    ['* * * * *', '2026-01-05T03:30Z', true],
    ['30 3 * * *', '2026-01-05T03:30Z', true],
    ['30 3 * * *', '2026-01-05T03:31Z', false],
    ['*/15 * * * *', '2026-01-05T03:45Z', true],
    ['*/15 * * * *', '2026-01-05T03:46Z', false],
    ['10-20/5 * * * *', '2026-01-05T03:15Z', true],
    ['0 0 * * 1-5', '2026-01-04T00:00Z', false],
    ['0 0 * * 7', '2026-01-04T00:00Z', true],
    ['0 0 1,15 * *', '2026-01-15T00:00Z', true],
    ['0 0 13 * 5', '2026-02-06T00:00Z', true],
    ['0 0 13 * 5', '2026-02-07T00:00Z', false],
  ])('%s at %s: %s', (cron, time, fits) => {
    expect(parseCron(cron)(new Date(time))).toBe(fits);
  });

  it.each(['', '* * * *', '60 * * * *', '* 24 * * *', '5-1 * * * *', 'a * * * *', '*/0 * * * *'])(
    'refuses "%s" and says how one looks',
    (cron) => {
      expect(() => parseCron(cron)).toThrow('is no schedule');
    },
  );

  it('is due once for a minute, and makes up for a missed one', () => {
    const cron = '30 3 * * *';
    const at = (time: string): Date => new Date(time);
    expect(dueMinute({ cron, lastRun: '' }, at('2026-01-05T03:30:10Z'))).toBe('2026-01-05T03:30');
    expect(dueMinute({ cron, lastRun: '' }, at('2026-01-05T03:35:10Z'))).toBe('2026-01-05T03:30');
    expect(dueMinute({ cron, lastRun: '' }, at('2026-01-05T03:50:10Z'))).toBeUndefined();
    const ran = { cron, lastRun: '2026-01-05T03:30' };
    expect(dueMinute(ran, at('2026-01-05T03:31:10Z'))).toBeUndefined();
  });
});
