import { type InputEvent, KeyParser } from './keys.js';

/** How long an escape character may wait for the rest of its sequence. */
const ESCAPE_MS = 40;

/** Hands on key presses as they arrive; a lone escape character becomes the Esc key after a moment. */
export class KeyReader {
  readonly #parser = new KeyParser();
  readonly #options: { onEvent(event: InputEvent): void; onIdle(): void };
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onIdle` is called after all events of a chunk. */
  constructor(options: { onEvent(event: InputEvent): void; onIdle(): void }) {
    this.#options = options;
  }

  feed(data: string): void {
    clearTimeout(this.#timer);
    this.#give(this.#parser.feed(data));
    if (!this.#parser.isWaiting) return;
    this.#timer = setTimeout(() => this.#give(this.#parser.flush()), ESCAPE_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #give(events: readonly InputEvent[]): void {
    for (const event of events) this.#options.onEvent(event);
    if (events.length > 0) this.#options.onIdle();
  }
}
