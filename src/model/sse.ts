/** A single message longer than this is not a model's answer. */
const MAX_PENDING_CHARS = 64 * 1024 * 1024;
/** Nor is a whole stream longer than this, however small its messages are. */
const MAX_STREAM_CHARS = 128 * 1024 * 1024;
const SAMPLE_CHARS = 200;

/**
 * The data of server-sent events from text that arrives in arbitrary pieces. Takes LF and CRLF, comments, data
 * of several lines, and a last message without its blank line. What events are named is passed over: their
 * data says it again.
 */
export class SseParser {
  /** Pieces of a line whose end has not come yet; joined once, or a long line would cost its square. */
  #rest: string[] = [];
  #pending = 0;
  #received = 0;
  /** Of the message under way. */
  #data: string | undefined;
  /** Whole, but not given yet. */
  #messages: string[] = [];
  #stray = '';
  #first = true;

  /** Throws when a message, or the stream, is longer than any answer can be. */
  push(text: string): string[] {
    this.#received += text.length;
    if (this.#received > MAX_STREAM_CHARS)
      throw new Error('the server sends an answer without end');
    let start = 0;
    if (this.#first && text !== '') {
      this.#first = false;
      if (text.charCodeAt(0) === 0xfeff) start = 1;
    }
    let newline = text.indexOf('\n', start);
    if (newline !== -1 && this.#rest.length > 0) {
      const line = this.#takeRest() + text.slice(start, newline);
      this.#line(line, 0, endOfLine(line, 0, line.length));
      start = newline + 1;
      newline = text.indexOf('\n', start);
    }
    while (newline !== -1) {
      // Mostly a message is a line with its name, one with its data and a blank one: nothing is put together.
      if (text.startsWith(NAME, start)) start = newline + 1;
      else if (this.#isWhole(text, start, newline)) {
        this.#messages.push(fieldValue(text, start + DATA.length, endOfLine(text, start, newline)));
        start = newline + 2;
      } else {
        this.#line(text, start, endOfLine(text, start, newline));
        start = newline + 1;
      }
      newline = text.indexOf('\n', start);
    }
    if (start < text.length) this.#keep(text.slice(start));
    return this.#taken();
  }

  /** What the stream left unfinished: a message without its blank line. */
  end(): string[] {
    const rest = this.#takeRest();
    if (rest !== '') this.#line(rest, 0, rest.length);
    this.#blank();
    return this.#taken();
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

  #taken(): string[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }

  /** Whether a line holds a whole message: all of its data, with the blank line right behind it. */
  #isWhole(text: string, start: number, newline: number): boolean {
    return (
      text.charCodeAt(newline + 1) === NEWLINE &&
      this.#data === undefined &&
      newline - start <= MAX_PENDING_CHARS &&
      text.startsWith(DATA, start)
    );
  }

  /** The message under way is whole. */
  #blank(): void {
    if (this.#data !== undefined) this.#messages.push(this.#data);
    this.#data = undefined;
  }

  /** A line where it stands in a text: most are looked at and not copied. */
  #line(text: string, start: number, end: number): void {
    if (start === end) this.#blank();
    else if (text.startsWith(DATA, start)) {
      const value = fieldValue(text, start + DATA.length, end);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
      if (this.#data.length > MAX_PENDING_CHARS)
        throw new Error('the server sends a message without end');
    } else if (!text.startsWith(NAME, start)) this.#other(text.slice(start, end));
  }

  #other(line: string): void {
    if (/^(:|id(:|$)|retry(:|$)|data$|event$)/.test(line)) return;
    if (this.#stray.length < SAMPLE_CHARS) {
      this.#stray = `${this.#stray}${line}\n`.slice(0, SAMPLE_CHARS);
    }
  }
}

const DATA = 'data:';
const NAME = 'event:';
const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;

function endOfLine(text: string, start: number, newline: number): number {
  return newline > start && text.charCodeAt(newline - 1) === RETURN ? newline - 1 : newline;
}

function fieldValue(text: string, from: number, end: number): string {
  return text.slice(text.charCodeAt(from) === SPACE ? from + 1 : from, end);
}
