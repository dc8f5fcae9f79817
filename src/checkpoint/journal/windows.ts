import type { Clock } from '../../platform/clock.js';
import type { Author, Change, OpenWindow } from '../types.js';

/** A window as the journal sees it. */
export interface TrackedWindow {
  readonly id: string;
  author: Author;
  readonly startedAt: number;
  /** Position of the turn it was begun in. */
  readonly turn: number;
  endedAt: number | undefined;
  readonly found: Change[];
}

export interface WindowEvents {
  /** Called once, when the window ends: a look has to follow. */
  ended(window: TrackedWindow): void;
  /** Called once, when that look has been written down. */
  settled(window: TrackedWindow): void;
}

/**
 * The windows that a look may have to name: those that are open, and those that ended after the look
 * before it had begun.
 */
export class Windows {
  readonly #kept = new Map<TrackedWindow, () => void>();
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  open(
    about: Pick<TrackedWindow, 'id' | 'author' | 'turn'>,
    events: WindowEvents,
  ): { readonly handle: OpenWindow; readonly window: TrackedWindow } {
    const window: TrackedWindow = {
      ...about,
      startedAt: this.#clock.now(),
      endedAt: undefined,
      found: [],
    };
    const changes = new Promise<readonly Change[]>((resolve) => {
      this.#kept.set(window, () => {
        if (window.endedAt !== undefined) events.settled(window);
        resolve(window.found);
      });
    });
    const handle: OpenWindow = {
      changes,
      goesOn: () => {
        if (window.author.kind === 'call') window.author = { ...window.author, background: true };
      },
      end: () => {
        if (window.endedAt !== undefined) return;
        window.endedAt = this.#clock.now();
        events.ended(window);
      },
    };
    return { handle, window };
  }

  all(): readonly TrackedWindow[] {
    return [...this.#kept.keys()];
  }

  /** Those that still run. */
  running(): readonly TrackedWindow[] {
    return this.all().filter((window) => window.endedAt === undefined);
  }

  ended(): readonly TrackedWindow[] {
    return this.all().filter((window) => window.endedAt !== undefined);
  }

  /** A look that began after their end has been taken: nothing found later can be theirs. */
  retire(windows: readonly TrackedWindow[]): void {
    for (const window of windows) {
      this.#kept.get(window)?.();
      this.#kept.delete(window);
    }
  }
}
