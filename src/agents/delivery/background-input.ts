import type { InputMessage } from '../../loop/types.js';

/**
 * How long the end of a headless run waits for background work. Client libraries end a program that still
 * runs 5 s after the end of its input: this leaves time to close.
 */
export const BACKGROUND_WAIT_MS = 4_000;

/** Finished background work on its way to the agent that started it. No polling. */
export interface BackgroundInput {
  /** Something finished. */
  add(message: InputMessage): void;
  take(): readonly InputMessage[];
  /** Everything that has arrived as one message, for an agent that is about to leave. */
  next(): InputMessage | undefined;
  onArrival(listener: () => void): void;
  /** Waits for running work, for a bounded time. True: there is something to take. */
  wait(): Promise<boolean>;
}

export function createBackgroundInput(
  running: () => number,
  patienceMs: () => number = () => BACKGROUND_WAIT_MS,
): BackgroundInput {
  let waiting: InputMessage[] = [];
  let listeners: (() => void)[] = [];
  /** Nobody waits twice for the same work. */
  let gaveUp = false;
  return {
    add(message) {
      waiting.push(message);
      gaveUp = false;
      const told = listeners;
      listeners = [];
      for (const listener of told) listener();
    },
    take() {
      const taken = waiting;
      waiting = [];
      return taken;
    },
    next() {
      const [first, ...rest] = waiting;
      waiting = [];
      if (first === undefined) return undefined;
      return { ...first, content: [first, ...rest].flatMap((message) => message.content) };
    },
    onArrival(listener) {
      if (waiting.length > 0) listener();
      else listeners.push(listener);
    },
    wait() {
      if (waiting.length > 0) return Promise.resolve(true);
      if (running() === 0 || gaveUp) return Promise.resolve(false);
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          gaveUp = true;
          resolve(false);
        }, patienceMs());
        listeners.push(() => {
          clearTimeout(timer);
          resolve(true);
        });
      });
    },
  };
}
