import { LONGEST_TIMER_MS } from '../connection/deps.js';

/** A stream that is opened anew this soon after the last time has brought nothing. */
const SHORT_MS = 30_000;
/** Pauses that the server may choose by itself, one after the other. */
const OWN_CHOICE = 3;
const LEAST_MS = 100;
const FLOOR_MS = 1000;
const LONGEST_MS = 30_000;
/** In a row, each soon after the other. */
const MOST_IN_A_ROW = 200;

/** The pause before a stream is opened anew. Throws when it has been in vain too often. */
export type StreamPace = (askedMs: number) => number;

/**
 * A server may say how soon it wants to be asked again (`retry:`), and a wait of nothing would be a
 * loop. It is believed a few times; after that the pauses have a floor of ours, which grows.
 */
export function streamPace(now: () => number): StreamPace {
  let inARow = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let waitedMs = 0;
  return (askedMs) => {
    const at = now();
    inARow = at - lastAt < SHORT_MS + waitedMs ? inARow + 1 : 0;
    // fail-closed: a stream that never stays is not one.
    if (inARow > MOST_IN_A_ROW) throw new Error('its stream does not stay open');
    const floor =
      inARow < OWN_CHOICE
        ? LEAST_MS
        : Math.min(LONGEST_MS, FLOOR_MS * 2 ** Math.min(10, inARow - OWN_CHOICE));
    lastAt = at;
    waitedMs = Math.min(Math.max(askedMs, floor), LONGEST_TIMER_MS);
    return waitedMs;
  };
}
