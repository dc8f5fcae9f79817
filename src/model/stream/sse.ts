import { createParser, type EventSourceParser } from 'eventsource-parser';

/** A single message longer than this is not a model's answer. */
const MAX_MESSAGE_CHARS = 64 * 1024 * 1024;
/** Nor is a whole stream longer than this, however small its messages are. */
const MAX_STREAM_CHARS = 128 * 1024 * 1024;
const SAMPLE_CHARS = 200;

/**
 * The data of server-sent events; a last message may lack its blank line. Event names repeat what the data says.
 * A body that begins like JSON or a web page is no stream and is kept as `document`.
 */
export class SseParser {
  readonly #parser: EventSourceParser;
  #messages: string[] = [];
  #received = 0;
  /** The beginning of received text that is no server-sent event, for an error message. */
  unknown = '';
  #isSniffed = false;
  /** The body so far, if it is not an event stream. */
  document: string | undefined;

  constructor() {
    this.#parser = createParser({
      maxBufferSize: MAX_MESSAGE_CHARS,
      onEvent: ({ data }) => {
        if (data !== '') this.#messages.push(data);
      },
      onError: ({ type, line = '' }) => {
        if (type === 'max-buffer-size-exceeded') {
          throw new Error('the server sends a message without end');
        }
        if (type !== 'unknown-field' || this.unknown.length >= SAMPLE_CHARS) return;
        this.unknown = `${this.unknown}${line}\n`.slice(0, SAMPLE_CHARS);
      },
    });
  }

  /** Throws when a message, or the stream, is longer than any answer can be. */
  push(text: string): string[] {
    this.#received += text.length;
    if (this.#received > MAX_STREAM_CHARS)
      throw new Error('the server sends an answer without end');
    if (this.document !== undefined) {
      this.document += text;
      return [];
    }
    // `trimStart` also takes a byte order mark away.
    const first = text.trimStart();
    if (!this.#isSniffed && first === '') return [];
    if (!this.#isSniffed && /^[{[<]/.test(first)) this.document = text;
    else this.#parser.feed(this.#isSniffed ? text : first);
    this.#isSniffed = true;
    return this.#messages.splice(0);
  }

  /** What the stream left unfinished: a message without its blank line. */
  end(): string[] {
    this.#parser.feed('\n\n');
    return this.#messages.splice(0);
  }
}
