export interface SseMessage {
  /** Absent when the server did not name the event. */
  readonly event: string | undefined;
  readonly data: string;
}

/** A single message longer than this is not a model's answer. */
const MAX_PENDING_CHARS = 64 * 1024 * 1024;
/** Nor is a whole stream longer than this, however small its messages are. */
const MAX_STREAM_CHARS = 128 * 1024 * 1024;
const SAMPLE_CHARS = 200;

/**
 * Server-sent events from text that arrives in arbitrary pieces. Takes LF and CRLF, comments, data of
 * several lines, and a last message without its blank line.
 */
export class SseParser {
  /** Pieces of a line whose end has not come yet; joined once, or a long line would cost its square. */
  #rest: string[] = [];
  #pending = 0;
  #received = 0;
  #event: string | undefined;
  #data: string | undefined;
  #stray = '';
  #first = true;

  /** Throws when a message, or the stream, is longer than any answer can be. */
  push(text: string): SseMessage[] {
    const messages: SseMessage[] = [];
    this.#received += text.length;
    if (this.#received > MAX_STREAM_CHARS)
      throw new Error('the server sends an answer without end');
    let fresh = text;
    if (this.#first && fresh !== '') {
      this.#first = false;
      if (fresh.charCodeAt(0) === 0xfeff) fresh = fresh.slice(1);
    }
    const firstNewline = fresh.indexOf('\n');
    if (firstNewline === -1) {
      this.#keep(fresh);
      return messages;
    }
    this.#line(withoutReturn(this.#takeRest() + fresh.slice(0, firstNewline)), messages);
    let start = firstNewline + 1;
    for (;;) {
      const newline = fresh.indexOf('\n', start);
      if (newline === -1) break;
      const end = newline > start && fresh.charCodeAt(newline - 1) === 13 ? newline - 1 : newline;
      this.#line(fresh.slice(start, end), messages);
      start = newline + 1;
    }
    this.#keep(fresh.slice(start));
    return messages;
  }

  /** What the stream left unfinished: a message without its blank line. */
  end(): SseMessage[] {
    const messages: SseMessage[] = [];
    const rest = this.#takeRest();
    if (rest !== '') this.#line(rest, messages);
    this.#line('', messages);
    return messages;
  }

  /** The beginning of what was received and is no server-sent event, for an error message. */
  get stray(): string {
    return this.#stray;
  }

  #keep(piece: string): void {
    if (piece === '') return;
    this.#rest.push(piece);
    this.#pending += piece.length;
    if (this.#pending + (this.#data?.length ?? 0) > MAX_PENDING_CHARS) {
      throw new Error('the server sends a message without end');
    }
  }

  #takeRest(): string {
    if (this.#rest.length === 0) return '';
    const rest = this.#rest.join('');
    this.#rest = [];
    this.#pending = 0;
    return rest;
  }

  #line(line: string, messages: SseMessage[]): void {
    if (line === '') {
      if (this.#data !== undefined) messages.push({ event: this.#event, data: this.#data });
      this.#data = undefined;
      this.#event = undefined;
    } else if (line.startsWith('data:')) {
      const value = fieldValue(line, 5);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
      if (this.#data.length > MAX_PENDING_CHARS)
        throw new Error('the server sends a message without end');
    } else if (line.startsWith('event:')) {
      this.#event = fieldValue(line, 6);
    } else if (!/^(:|id(:|$)|retry(:|$)|data$|event$)/.test(line)) {
      if (this.#stray.length < SAMPLE_CHARS) {
        this.#stray = `${this.#stray}${line}\n`.slice(0, SAMPLE_CHARS);
      }
    }
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function fieldValue(line: string, from: number): string {
  return line.charCodeAt(from) === 32 ? line.slice(from + 1) : line.slice(from);
}
