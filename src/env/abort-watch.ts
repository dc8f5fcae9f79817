/** Who is to be told of an abort. */
export interface Abortable {
  aborted(): void;
}

/** Tells of the signal's abort, until `stopWatching`. */
export function watchAbort(signal: AbortSignal, waiting: Abortable): void {
  let watch = watches.get(signal);
  if (watch === undefined) {
    watch = new AbortWatch(signal);
    watches.set(signal, watch);
  }
  watch.add(waiting);
}

export function stopWatching(signal: AbortSignal, waiting: Abortable): void {
  watches.get(signal)?.delete(waiting);
}

const watches = new WeakMap<AbortSignal, AbortWatch>();

/**
 * The one listener that a signal has for all who wait. It stays to the end of the loop's turn after the last one
 * has left: by then the next request of the same agent is mostly there, and to listen anew for each costs more
 * than all else that is done to send one. No longer, or a signal that is never aborted would be kept for ever.
 */
class AbortWatch {
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<Abortable>();
  #isListening = false;
  #isLeaving = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(waiting: Abortable): void {
    this.#waiting.add(waiting);
    if (this.#isListening) return;
    this.#isListening = true;
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  delete(waiting: Abortable): void {
    this.#waiting.delete(waiting);
    if (this.#waiting.size > 0 || this.#isLeaving || !this.#isListening) return;
    this.#isLeaving = true;
    if (leaving.push(this) === 1) setImmediate(leaveAll);
  }

  leave(): void {
    this.#isLeaving = false;
    if (this.#waiting.size > 0 || !this.#isListening) return;
    this.#isListening = false;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#isListening = false;
    // One by one: whoever is told may make others leave.
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting);
      waiting.aborted();
    }
  };
}

let leaving: AbortWatch[] = [];

function leaveAll(): void {
  const all = leaving;
  leaving = [];
  for (const watch of all) watch.leave();
}
