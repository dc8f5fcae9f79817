import type { Message } from '../protocol/content.js';

/** A message as JSON text. */
export interface EncodedMessage {
  readonly text: string;
  /** How many bytes of it stand behind the place for a cache mark; undefined: there is no such place. */
  readonly behindMark: number | undefined;
}

export interface ConversationView {
  /** They begin with the comma-separated messages. These stay as they are: later ones are only added behind. */
  readonly bytes: Uint8Array;
  /** How many bytes the messages take. */
  readonly size: number;
  /** Byte position for a cache mark near the end, or -1. */
  readonly mark: number;
  /** Where the mark of the request before this one stood, or -1. */
  readonly previousMark: number;
}

const MAX_CONVERSATIONS = 256;
const MAX_TOTAL_BYTES = 96 * 1024 * 1024;

/**
 * The serialised messages of the conversations that one client carries. A message is encoded once;
 * it is recognised by identity in the next request, and only what is new behind it is encoded.
 * A history that diverges (fork, compaction) gets a buffer of its own, beginning with a copy of the
 * common bytes: written bytes never change, because an earlier request may still be sending them.
 */
export class ConversationBytes {
  readonly #encode: (message: Message) => EncodedMessage | undefined;
  readonly #conversations = new Set<Conversation>();
  /** The same by their first message: no other ones can have anything in common with a history. */
  readonly #byFirst = new Map<Message, readonly Conversation[]>();
  #totalBytes = 0;
  #views = 0;

  /** `encode` returns undefined for a message of which nothing may be sent. */
  constructor(encode: (message: Message) => EncodedMessage | undefined) {
    this.#encode = encode;
  }

  view(messages: readonly Message[]): ConversationView {
    const conversation = this.#find(messages);
    conversation.lastView = ++this.#views;
    const previousMark = conversation.lastMark;
    const before = conversation.capacity;
    for (let index = conversation.length; index < messages.length; index++) {
      const message = messages[index];
      if (message !== undefined) conversation.append(message, this.#encode(message));
    }
    conversation.lastMark = conversation.mark();
    this.#totalBytes += conversation.capacity - before;
    this.#forgetOldest(conversation);
    const { bytes, size, lastMark: mark } = conversation;
    return { bytes, size, mark, previousMark };
  }

  /** The conversation that these messages go on. */
  #find(messages: readonly Message[]): Conversation {
    const first = messages[0];
    const related = first === undefined ? [] : (this.#byFirst.get(first) ?? []);
    let best: Conversation | undefined;
    let bestCommon = 0;
    for (const candidate of related) {
      const common = candidate.commonPrefix(messages);
      const isBetter =
        common > bestCommon || (common === bestCommon && common === candidate.length);
      if (!isBetter) continue;
      best = candidate;
      bestCommon = common;
    }
    if (best !== undefined && best.length === bestCommon) return best;
    const fresh = best === undefined ? new Conversation() : best.copyOf(bestCommon);
    this.#conversations.add(fresh);
    this.#totalBytes += fresh.capacity;
    if (first !== undefined) this.#byFirst.set(first, [...related, fresh]);
    return fresh;
  }

  #forgetOldest(current: Conversation): void {
    while (this.#conversations.size > MAX_CONVERSATIONS || this.#totalBytes > MAX_TOTAL_BYTES) {
      let oldest = current;
      for (const other of this.#conversations) {
        if (other.lastView < oldest.lastView) oldest = other;
      }
      if (oldest === current) return;
      this.#conversations.delete(oldest);
      this.#totalBytes -= oldest.capacity;
      this.#unlist(oldest);
    }
  }

  #unlist(conversation: Conversation): void {
    const { first } = conversation;
    if (first === undefined) return;
    const left = this.#byFirst.get(first)?.filter((other) => other !== conversation) ?? [];
    if (left.length === 0) this.#byFirst.delete(first);
    else this.#byFirst.set(first, left);
  }
}

const COMMA = 44;
const INITIAL_CAPACITY = 8 * 1024;

class Conversation {
  lastMark = -1;
  /** Which view of any conversation was the last one of this. */
  lastView = 0;
  #messages: Message[] = [];
  /** Byte position behind each message, and the place for its mark (-1: none). */
  #ends: number[] = [];
  #marks: number[] = [];
  #buffer = Buffer.alloc(INITIAL_CAPACITY);
  #size = 0;

  get length(): number {
    return this.#messages.length;
  }

  get first(): Message | undefined {
    return this.#messages[0];
  }

  get capacity(): number {
    return this.#buffer.length;
  }

  get bytes(): Uint8Array {
    return this.#buffer;
  }

  get size(): number {
    return this.#size;
  }

  mark(): number {
    for (let index = this.#marks.length - 1; index >= 0; index--) {
      const position = this.#marks[index];
      if (position !== undefined && position !== -1) return position;
    }
    return -1;
  }

  commonPrefix(messages: readonly Message[]): number {
    const own = this.#messages;
    const limit = Math.min(own.length, messages.length);
    let common = 0;
    while (common < limit && own[common] === messages[common]) common++;
    return common;
  }

  append(message: Message, encoded: EncodedMessage | undefined): void {
    this.#messages.push(message);
    if (encoded === undefined) {
      this.#ends.push(this.#size);
      this.#marks.push(-1);
      return;
    }
    if (this.#size > 0) {
      this.#reserve(1);
      this.#buffer[this.#size++] = COMMA;
    }
    this.#write(encoded.text);
    const { behindMark } = encoded;
    this.#marks.push(behindMark === undefined ? -1 : this.#size - behindMark);
    this.#ends.push(this.#size);
  }

  copyOf(count: number): Conversation {
    const copy = new Conversation();
    copy.#messages = this.#messages.slice(0, count);
    copy.#ends = this.#ends.slice(0, count);
    copy.#marks = this.#marks.slice(0, count);
    copy.#size = copy.#ends.at(-1) ?? 0;
    copy.#buffer = Buffer.alloc(Math.max(INITIAL_CAPACITY, copy.#size * 2));
    copy.#buffer.set(this.#buffer.subarray(0, copy.#size));
    copy.lastMark = copy.mark();
    return copy;
  }

  #write(text: string): void {
    // No character of a text takes more bytes; only a text that might not fit is measured.
    if (this.#buffer.length - this.#size < text.length * 3) this.#reserve(Buffer.byteLength(text));
    this.#size += this.#buffer.write(text, this.#size);
  }

  #reserve(extra: number): void {
    const needed = this.#size + extra;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.alloc(Math.max(needed, this.#buffer.length * 2));
    grown.set(this.#buffer.subarray(0, this.#size));
    this.#buffer = grown;
  }
}
