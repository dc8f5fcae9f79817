import { err, ok, type Result } from '../../lib/result.js';
import type { Clock } from '../../platform/clock.js';

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
  enter(server: string): Result<{ leave(): void }, NoPlace>;
}

export interface NoPlace {
  readonly reason: string;
  /** The first of its kind within a minute: people need not read it for each question. */
  readonly isNews: boolean;
}

export function createElicitLimit(
  clock: Pick<Clock, 'monotonic'>,
  limits: Partial<ElicitLimits> = {},
): ElicitLimit {
  const { perMinute, atOnce } = { ...DEFAULTS, ...limits };
  const servers = new Map<string, { asked: number[]; open: number; told: Map<string, number> }>();
  return {
    enter(server) {
      const now = clock.monotonic();
      const state = servers.get(server) ?? { asked: [], open: 0, told: new Map() };
      const none = (reason: string): { readonly ok: false; readonly error: NoPlace } => {
        const isNews = now - (state.told.get(reason) ?? Number.NEGATIVE_INFINITY) >= MINUTE_MS;
        if (isNews) state.told.set(reason, now);
        return err({ reason, isNews });
      };
      servers.set(server, state);
      state.asked = state.asked.filter((at) => now - at < MINUTE_MS);
      if (state.open >= atOnce) return none(`${atOnce} of its questions wait already`);
      if (state.asked.length >= perMinute) {
        return none(`it has asked ${perMinute} times within a minute`);
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
