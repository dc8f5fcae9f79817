export interface SseMessage {
  /** Absent when the server did not name the event. */
  readonly event: string | undefined;
  readonly data: string;
}

/** A single line longer than this is not a model's answer. */
const MAX_PENDING_CHARS = 64 * 1024 * 1024;
const SAMPLE_CHARS = 200;

/**
 * Server-sent events from text that arrives in arbitrary pieces. Takes LF and CRLF, comments, data of
 * several lines, and a last message without its blank line.
 */
export class SseParser {
  #rest = '';
  #event: string | undefined;
  #data: string | undefined;
  #stray = '';
  #first = true;

  push(text: string): SseMessage[] {
    const messages: SseMessage[] = [];
    let buffer = this.#rest === '' ? text : this.#rest + text;
    if (this.#first && buffer !== '') {
      this.#first = false;
      if (buffer.charCodeAt(0) === 0xfeff) buffer = buffer.slice(1);
    }
    let start = 0;
    for (;;) {
      const newline = buffer.indexOf('\n', start);
      if (newline === -1) break;
      const end = newline > start && buffer.charCodeAt(newline - 1) === 13 ? newline - 1 : newline;
      this.#line(buffer.slice(start, end), messages);
      start = newline + 1;
    }
    this.#rest = start === 0 ? buffer : buffer.slice(start);
    if (this.#rest.length > MAX_PENDING_CHARS) throw new Error('a line without end');
    return messages;
  }

  /** What the stream left unfinished: a message without its blank line. */
  end(): SseMessage[] {
    const messages: SseMessage[] = [];
    if (this.#rest !== '') this.#line(this.#rest, messages);
    this.#rest = '';
    this.#line('', messages);
    return messages;
  }

  /** The beginning of what was received and is no server-sent event, for an error message. */
  get stray(): string {
    return this.#stray;
  }

  #line(line: string, messages: SseMessage[]): void {
    if (line === '') {
      if (this.#data !== undefined) messages.push({ event: this.#event, data: this.#data });
      this.#data = undefined;
      this.#event = undefined;
    } else if (line.startsWith('data:')) {
      const value = fieldValue(line, 5);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (line.startsWith('event:')) {
      this.#event = fieldValue(line, 6);
    } else if (!/^(:|id(:|$)|retry(:|$)|data$|event$)/.test(line)) {
      if (this.#stray.length < SAMPLE_CHARS) {
        this.#stray = `${this.#stray}${line}\n`.slice(0, SAMPLE_CHARS);
      }
    }
  }
}

function fieldValue(line: string, from: number): string {
  return line.charCodeAt(from) === 32 ? line.slice(from + 1) : line.slice(from);
}
