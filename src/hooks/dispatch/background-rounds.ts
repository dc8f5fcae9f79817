import { messageOf } from '../../errors.js';

/** Hooks that nobody waits for: a few rounds at a time, and the rest of them at the close. */
export interface BackgroundRounds {
  /** False when it is left out: too many wait, or it is over. */
  run(work: (signal: AbortSignal) => Promise<void>): boolean;
  /** Takes no more, waits for what is under way, and cuts it short when that takes too long. */
  close(): Promise<void>;
}

export interface BackgroundOptions {
  tell(text: string): void;
  /** Rounds at the same time. */
  readonly most?: number;
  /** Rounds that may wait for their turn. */
  readonly mostWaiting?: number;
  /** Milliseconds that the close waits. */
  readonly closeMs?: number;
}

export function createBackgroundRounds(options: BackgroundOptions): BackgroundRounds {
  const { most = 4, mostWaiting = 256, closeMs = 10_000 } = options;
  const over = new AbortController();
  const waiting: ((signal: AbortSignal) => Promise<void>)[] = [];
  let running = 0;
  let isClosed = false;
  let isFullTold = false;
  let whenIdle: (() => void) | undefined;

  const next = (): void => {
    if (running === 0 && waiting.length === 0) whenIdle?.();
    while (running < most) {
      const work = waiting.shift();
      if (work === undefined) return;
      running += 1;
      start(work, over.signal)
        .catch((thrown: unknown) => options.tell(`a hook could not be run: ${messageOf(thrown)}`))
        .finally(() => {
          running -= 1;
          next();
        });
    }
  };

  return {
    run(work) {
      if (isClosed) return false;
      if (waiting.length >= mostWaiting) {
        if (!isFullTold)
          options.tell('too much happens at once: some hooks that watch are left out');
        isFullTold = true;
        return false;
      }
      waiting.push(work);
      next();
      return true;
    },
    async close() {
      isClosed = true;
      if (running === 0 && waiting.length === 0) return;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const idle = new Promise<boolean>((resolve) => {
        whenIdle = () => resolve(true);
        timer = setTimeout(() => resolve(false), closeMs);
      });
      const isDone = await idle;
      clearTimeout(timer);
      if (isDone) return;
      waiting.length = 0;
      over.abort(new Error('the session is over'));
      options.tell(`hooks that were still running were ended after ${closeMs} ms`);
    },
  };
}

/** What throws at once fails like what fails later. */
async function start(
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await work(signal);
}
