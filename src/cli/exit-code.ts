import type { Turn } from '../client/events.js';
import { turnEnd } from '../client/turn-end.js';

/** What each exit code means; `docs/headless.md` lists them. */
export const EXIT = {
  done: 0,
  error: 1,
  usage: 2,
  config: 3,
  denied: 4,
  maxTurns: 5,
  budget: 6,
  stuck: 7,
  interrupted: 130,
  terminated: 143,
} as const;

/** The exit code of a headless run that a person or script started. */
export function exitCodeOf(turn: Turn): number {
  const { exit } = turnEnd(turn.outcome.reason);
  // A refused run does not look like a done one.
  return exit === 'done' && turn.unrecoveredDenials > 0 ? EXIT.denied : EXIT[exit];
}
