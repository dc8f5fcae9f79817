import type { Clock } from '../env/clock.js';
import { err, ok, type Result } from '../util/result.js';

/** How much one server may ask. */
export interface ElicitLimits {
  /** Questions within a minute. */
  readonly perMinute: number;
  /** Questions that wait for an answer at the same time. */
  readonly atOnce: number;
}

const DEFAULTS: ElicitLimits = { perMinute: 10, atOnce: 3 };
const MINUTE_MS = 60_000;

export interface ElicitLimit {
  /** A place for one question, to be left when it is answered; or why there is none. */
  enter(server: string): Result<{ leave(): void }, string>;
}

export function createElicitLimit(
  clock: Pick<Clock, 'monotonic'>,
  limits: Partial<ElicitLimits> = {},
): ElicitLimit {
  const { perMinute, atOnce } = { ...DEFAULTS, ...limits };
  const servers = new Map<string, { asked: number[]; open: number }>();
  return {
    enter(server) {
      const now = clock.monotonic();
      const state = servers.get(server) ?? { asked: [], open: 0 };
      servers.set(server, state);
      state.asked = state.asked.filter((at) => now - at < MINUTE_MS);
      if (state.open >= atOnce) return err(`${atOnce} of its questions wait already`);
      if (state.asked.length >= perMinute) {
        return err(`it has asked ${perMinute} times within a minute`);
      }
      state.asked.push(now);
      state.open += 1;
      let left = false;
      return ok({
        leave() {
          if (!left) state.open -= 1;
          left = true;
        },
      });
    },
  };
}
