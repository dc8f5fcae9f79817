import type { EventEmitter } from 'node:events';

interface Key {
  readonly name?: string;
  readonly meta?: boolean;
}

/** The second of two has to come within this time. */
const TOGETHER_MS = 1_000;

/**
 * Calls `then` when Escape is pressed twice. A terminal sends two that come quickly as one key with
 * `meta`, and slower ones as two keys.
 */
export function onDoubleEscape(
  keys: EventEmitter,
  then: () => void,
  now: () => number = Date.now,
): void {
  let last = Number.NEGATIVE_INFINITY;
  keys.on('keypress', (_text: string | undefined, key: Key | undefined) => {
    if (key?.name !== 'escape') {
      last = Number.NEGATIVE_INFINITY;
      return;
    }
    const isSecond = key.meta === true || now() - last <= TOGETHER_MS;
    last = isSecond ? Number.NEGATIVE_INFINITY : now();
    if (isSecond) then();
  });
}
