import { type AnswerHead, answerHead, HEAD_END, sameHead } from './http-answer-head.js';

/** Who is told what an answer brings, piece by piece. */
export interface AnswerReader {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  /** Bytes `from` to `to` belong to the body. They are overwritten when this returns. */
  body(bytes: Buffer, from: number, to: number): void;
  /** The answer is whole. */
  end(): void;
}

/** Where in an answer the next byte stands. */
type Place = 'head' | 'body' | 'size' | 'piece' | 'after-piece' | 'trailer' | 'over';

const CR = 13;
const LF = 10;
const SEMICOLON = 59;
const SPACE = 32;
const TAB = 9;
const BEGINNING = 'HTTP/1.';

/** Of a head, and of all that may stand behind a body. */
const MAX_HEAD_BYTES = 64 * 1024;
/** Behind the size of a piece: nothing that anybody needs. */
const MAX_EXTENSION_BYTES = 4 * 1024;
/** Twelve digits of sixteen: more than any body, less than a number can hold. */
const MAX_SIZE_DIGITS = 12;
/** Notices such as `100 Continue`, each of which is a head of its own. */
const MAX_NOTICES = 16;

/**
 * The answers of one HTTP/1.1 connection, one after another, from bytes that come in arbitrary pieces.
 * Strict: what two readers could take for answers of different lengths is a fault, and after a fault
 * nothing of the connection is believed.
 */
export class AnswerParser {
  /** Whether the connection may serve another request, as far as the answer says. */
  keepsAlive = false;
  /** For how long the server keeps an idle connection, where it says so. */
  keepAliveMs: number | undefined;
  #place: Place = 'over';
  #isBodiless = false;
  #headPart: Buffer | undefined;
  #notices = 0;
  /** Bytes to come of the body or of its piece under way; Infinity: until the connection ends. */
  #left = 0;
  #digits = 0;
  #extension = 0;
  #afterCr = false;
  #lineBytes = 0;
  #trailerBytes = 0;

  /** An answer is expected. That to a HEAD has no body, whatever it says of its length. */
  expect({ isBodiless }: { readonly isBodiless: boolean }): void {
    this.#place = 'head';
    this.#isBodiless = isBodiless;
    this.#headPart = undefined;
    this.#notices = 0;
    this.keepsAlive = false;
    this.keepAliveMs = undefined;
  }

  /** What is wrong with the answer, if anything. */
  push(bytes: Buffer, reader: AnswerReader): string | undefined {
    let at = 0;
    while (at < bytes.length) {
      const next = this.#step(bytes, at, reader);
      if (typeof next === 'string') return next;
      at = next;
    }
    return undefined;
  }

  /** The connection has ended. True: that is the end of the answer, too. */
  ended(reader: AnswerReader): boolean {
    if (this.#place !== 'body' || this.#left !== Number.POSITIVE_INFINITY) return false;
    this.#over(reader);
    return true;
  }

  /** Where the next byte to look at stands, or what is wrong. */
  #step(bytes: Buffer, at: number, reader: AnswerReader): number | string {
    switch (this.#place) {
      case 'head':
        return this.#head(bytes, at, reader);
      case 'body':
      case 'piece':
        return this.#bodyBytes(bytes, at, reader);
      case 'size':
        return this.#wholePieces(bytes, at, reader) ?? this.#sizeLine(bytes, at);
      case 'after-piece':
        return this.#lineEnd(bytes, at);
      case 'trailer':
        return this.#trailer(bytes, at, reader);
      case 'over':
        return 'it sent more than its answer';
    }
  }

  #head(bytes: Buffer, at: number, reader: AnswerReader): number | string {
    const before = this.#headPart?.length ?? 0;
    const same = before === 0 ? sameHead(bytes, at) : undefined;
    if (same !== undefined) return this.#answer(same, reader) ?? at + same.bytes;
    const whole =
      this.#headPart === undefined
        ? bytes.subarray(at)
        : Buffer.concat([this.#headPart, bytes.subarray(at)]);
    const end = whole.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length), 'latin1');
    if ((end === -1 ? whole.length : end) > MAX_HEAD_BYTES) return 'its head is too long';
    if (end === -1) {
      const begun = whole.toString('latin1', 0, BEGINNING.length);
      if (!BEGINNING.startsWith(begun)) return 'the answer does not begin as one of HTTP/1.1';
      // A copy: what is handed over is overwritten by the next bytes.
      this.#headPart = Buffer.from(whole);
      return bytes.length;
    }
    const head = answerHead(whole.toString('latin1', 0, end));
    this.#headPart = undefined;
    if (typeof head === 'string') return head;
    return this.#answer(head, reader) ?? at + head.bytes - before;
  }

  /** What is wrong with what begins so, if anything. */
  #answer(head: AnswerHead, reader: AnswerReader): string | undefined {
    if (head.status < 200) return this.#notice(head.status);
    this.keepsAlive = head.keepsAlive;
    this.keepAliveMs = head.keepAliveMs;
    reader.head(head.status, head.headers);
    this.#beginBody(head.status, head.length, reader);
    return undefined;
  }

  /** The answer itself comes behind it. */
  #notice(status: number): string | undefined {
    if (status === 101) return 'it changed to another protocol, which nobody asked for';
    this.#notices++;
    return this.#notices > MAX_NOTICES ? 'it sends notices instead of an answer' : undefined;
  }

  #beginBody(status: number, length: number | 'pieces' | 'rest', reader: AnswerReader): void {
    if (this.#isBodiless || status === 204 || status === 304) this.#over(reader);
    else if (length === 'pieces') this.#beginSize();
    else {
      this.#place = 'body';
      this.#left = length === 'rest' ? Number.POSITIVE_INFINITY : length;
      if (this.#left === 0) this.#over(reader);
    }
  }

  #bodyBytes(bytes: Buffer, at: number, reader: AnswerReader): number {
    const to = Math.min(bytes.length, at + this.#left);
    this.#left -= to - at;
    reader.body(bytes, at, to);
    if (this.#left > 0) return to;
    if (this.#place === 'body') this.#over(reader);
    else this.#place = 'after-piece';
    return to;
  }

  #beginSize(): void {
    this.#place = 'size';
    this.#left = 0;
    this.#digits = 0;
    this.#extension = 0;
  }

  /**
   * Pieces that are there as a whole and say nothing but their size, up to the end of the body or to one that is
   * otherwise: nearly every body comes so. Where the next byte stands then; undefined: there is none.
   */
  #wholePieces(bytes: Buffer, start: number, reader: AnswerReader): number | undefined {
    if (this.#digits > 0) return undefined;
    let at = start;
    while (this.#place === 'size') {
      let from = at;
      let size = 0;
      for (let digit = hexDigit(bytes[from]); digit !== -1; digit = hexDigit(bytes[from])) {
        size = size * 16 + digit;
        from++;
      }
      if (from === at || from - at > MAX_SIZE_DIGITS || !isLineEnd(bytes, from)) break;
      from += 2;
      const to = from + size;
      if (!isLineEnd(bytes, to)) break;
      at = to + 2;
      if (size > 0) reader.body(bytes, from, to);
      else this.#over(reader);
    }
    return at === start ? undefined : at;
  }

  /** The line before a piece: its size in digits of sixteen, and perhaps more that nobody needs. */
  #sizeLine(bytes: Buffer, at: number): number | string {
    for (let next = at; next < bytes.length; next++) {
      const byte = bytes[next];
      if (this.#afterCr) {
        if (byte !== LF) return BAD_SIZE;
        this.#afterCr = false;
        if (this.#left > 0) this.#place = 'piece';
        else this.#beginTrailer();
        return next + 1;
      }
      if (byte === CR && this.#digits > 0) this.#afterCr = true;
      else if (this.#extension > 0) {
        if (byte === LF || ++this.#extension > MAX_EXTENSION_BYTES) return BAD_SIZE;
      } else if (this.#digits > 0 && (byte === SEMICOLON || byte === SPACE || byte === TAB))
        this.#extension = 1;
      else {
        const digit = hexDigit(byte);
        if (digit === -1 || ++this.#digits > MAX_SIZE_DIGITS) return BAD_SIZE;
        this.#left = this.#left * 16 + digit;
      }
    }
    return bytes.length;
  }

  /** Between a piece and the next one's size. */
  #lineEnd(bytes: Buffer, at: number): number | string {
    if (bytes[at] !== (this.#afterCr ? LF : CR))
      return 'a piece of its body is longer than it says';
    if (this.#afterCr) this.#beginSize();
    this.#afterCr = !this.#afterCr;
    return at + 1;
  }

  #beginTrailer(): void {
    this.#place = 'trailer';
    this.#lineBytes = 0;
    this.#trailerBytes = 0;
  }

  /** Headers behind the body, up to an empty line: nobody needs them. */
  #trailer(bytes: Buffer, at: number, reader: AnswerReader): number | string {
    for (let next = at; next < bytes.length; next++) {
      const byte = bytes[next];
      if (++this.#trailerBytes > MAX_HEAD_BYTES) return 'what follows its body is too long';
      if (this.#afterCr !== (byte === LF)) return 'a line behind its body does not end as lines do';
      if (byte === CR) this.#afterCr = true;
      else if (byte === LF) {
        this.#afterCr = false;
        if (this.#lineBytes === 0) {
          this.#over(reader);
          return next + 1;
        }
        this.#lineBytes = 0;
      } else this.#lineBytes++;
    }
    return bytes.length;
  }

  #over(reader: AnswerReader): void {
    this.#place = 'over';
    reader.end();
  }
}

const BAD_SIZE = 'the size of a piece of its body cannot be read';

function isLineEnd(bytes: Buffer, at: number): boolean {
  return bytes[at] === CR && bytes[at + 1] === LF;
}

/** -1: it is none. */
function hexDigit(byte = 0): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
