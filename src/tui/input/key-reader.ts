import { type InputEvent, KeyParser } from './keys.js';

interface KeyReaderOptions {
  /** `isPasted`: further keys or lines came together with it, as a paste does in terminals that do not mark pastes. */
  onEvent(event: InputEvent, chunk: { readonly isPasted: boolean }): void;
  /** Called after all events of a chunk. */
  onIdle(): void;
}

/** Hands on key presses as they arrive; a lone escape character becomes the Esc key after a moment. */
export class KeyReader {
  readonly #parser = new KeyParser();
  readonly #options: KeyReaderOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: KeyReaderOptions) {
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
    const last = events.length - 1;
    let hasLine = false;
    for (const [at, event] of events.entries()) {
      this.#options.onEvent(event, { isPasted: at < last || hasLine });
      hasLine ||= event.type === 'key' && event.key.id === 'enter';
    }
    if (events.length > 0) this.#options.onIdle();
  }
}
