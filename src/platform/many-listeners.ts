import { setMaxListeners } from 'node:events';

/**
 * Node warns of a leak when more than ten listen to one signal. Calls that run beside each other all listen
 * to the signal of their turn, and each takes its listener away at its end.
 */
export function mayHaveManyListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}
