import { PortcullisError } from '../errors.js';
import type { Schedule } from './types.js';

const FIELDS = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12 },
  { name: 'weekday', min: 0, max: 7 },
] as const;

/** How far back a run that no worker was there for is made up. */
const MISSED_MINUTES = 10;

/** Reads `30 3 * * 1-5`: minute, hour, day, month, weekday, in UTC. */
export function parseCron(text: string): (time: Date) => boolean {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) throw wrong(text, 'it has not five fields');
  const sets = FIELDS.map(({ name, min, max }, at) => {
    const values = new Set<number>();
    for (const part of (fields[at] ?? '').split(',')) {
      const found = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
      if (found === null) throw wrong(text, `"${part}" is no ${name}`);
      const [, first, last, step = '1'] = found;
      const from = first === undefined ? min : Number(first);
      const to = last !== undefined ? Number(last) : first === undefined || found[3] ? max : from;
      if (from < min || to > max || from > to || Number(step) < 1)
        throw wrong(text, `"${part}" is no ${name}`);
      for (let value = from; value <= to; value += Number(step)) values.add(value);
    }
    return values;
  });
  const [minutes, hours, days, months, weekdays] = sets;
  const isAnyDay = fields[2] === '*';
  const isAnyWeekday = fields[4] === '*';
  return (time) => {
    const weekday = time.getUTCDay();
    const isDay = days?.has(time.getUTCDate()) === true;
    const isWeekday =
      weekdays?.has(weekday) === true || (weekday === 0 && weekdays?.has(7) === true);
    // As cron has it: where both are given, one is enough.
    const fits = isAnyDay || isAnyWeekday ? isDay && isWeekday : isDay || isWeekday;
    return (
      fits &&
      minutes?.has(time.getUTCMinutes()) === true &&
      hours?.has(time.getUTCHours()) === true &&
      months?.has(time.getUTCMonth() + 1) === true
    );
  };
}

/** The newest minute that a schedule is due for and has not run for, as `2026-01-31T03:30`. */
export function dueMinute(
  { cron, lastRun }: Pick<Schedule, 'cron' | 'lastRun'>,
  now: Date,
): string | undefined {
  const fits = parseCron(cron);
  for (let back = 0; back < MISSED_MINUTES; back++) {
    const time = new Date(now.getTime() - back * 60_000);
    const minute = time.toISOString().slice(0, 16);
    if (minute <= lastRun) return undefined;
    if (fits(time)) return minute;
  }
  return undefined;
}

function wrong(text: string, why: string): PortcullisError {
  return new PortcullisError('usage', `"${text}" is no schedule: ${why}`, {
    remedy: 'five fields: minute hour day month weekday, such as "30 3 * * 1-5" (UTC)',
  });
}
