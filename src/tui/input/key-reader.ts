import { type InputEvent, KeyParser } from './keys.js';

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
    const { patienceMs } = this.#parser;
    if (patienceMs === undefined) return;
    this.#timer = setTimeout(() => this.#give(this.#parser.flush()), patienceMs);
  }

  /** The terminal was asked something: its reply must not be taken for keys, however it is cut into chunks. */
  expectReply(): void {
    this.#parser.expectsReply = true;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #give(events: readonly InputEvent[]): void {
    for (const event of events) this.#options.onEvent(event);
    if (events.length > 0) this.#options.onIdle();
  }
}
