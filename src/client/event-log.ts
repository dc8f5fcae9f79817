import { PortcullisError } from '../errors.js';
import type { Envelope, SessionEvent } from './events.js';

export interface Subscription {
  /** Replays what came after this event first. */
  readonly after?: number | undefined;
  /** Whether parts of an answer that is still being written are delivered. Absent: they are. */
  readonly deltas?: boolean | undefined;
}

type Listener = (envelope: Envelope) => void;

/** Older events are dropped; a client that needs them takes a snapshot. */
const MAX_EVENTS = 5_000;

/** The numbered events of a session: every subscriber gets the same ones in the same order. */
export class EventLog {
  #events: Envelope[] = [];
  #dropped = 0;
  #seq = 0;
  readonly #listeners = new Set<Listener>();
  /** Events that arrived while others are being delivered. */
  readonly #pending: Envelope[] = [];
  #delivering = false;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The number of the newest event. */
  get seq(): number {
    return this.#seq;
  }

  /** The first event that can still be replayed. */
  get replayFrom(): number {
    return this.#dropped + 1;
  }

  /** How many subscriptions are open. */
  get listeners(): number {
    return this.#listeners.size;
  }

  append(event: SessionEvent): void {
    const envelope = { seq: ++this.#seq, time: new Date(this.#now()).toISOString(), event };
    this.#keep(envelope);
    this.#pending.push(envelope);
    // A listener that causes an event must not make others see the two in the wrong order.
    if (this.#delivering) return;
    this.#delivering = true;
    let failure: { readonly thrown: unknown } | undefined;
    try {
      for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
        for (const listener of [...this.#listeners]) {
          try {
            listener(next);
          } catch (thrown) {
            // One failing subscriber keeps no other from its events.
            failure ??= { thrown };
          }
        }
      }
    } finally {
      this.#delivering = false;
    }
    if (failure !== undefined) throw failure.thrown;
  }

  /** Returns the end of the subscription. */
  subscribe(listener: Listener, { after, deltas = true }: Subscription = {}): () => void {
    if (after !== undefined && (after < this.#dropped || after > this.#seq)) {
      throw new PortcullisError('usage', `event ${after} is not one of those that are kept`, {
        remedy: 'take a snapshot and subscribe after its seq',
      });
    }
    // What is still being delivered reaches the new subscriber once: as a live event.
    const live = this.#pending[0]?.seq ?? this.#seq + 1;
    const wanted: Listener = (envelope) => {
      if (deltas || !isDelta(envelope.event)) listener(envelope);
    };
    if (after !== undefined) {
      for (const envelope of [...this.#events]) {
        if (envelope.seq > after && envelope.seq < live) wanted(envelope);
      }
    }
    this.#listeners.add(wanted);
    return () => void this.#listeners.delete(wanted);
  }

  async *events(
    { signal, ...options }: Subscription & { readonly signal?: AbortSignal | undefined } = {},
    /** Tells when the reader's client has left. */
    left?: AbortSignal,
  ): AsyncGenerator<Envelope, void, void> {
    const unread: Envelope[] = [];
    let wake: () => void = () => undefined;
    const stop = this.subscribe((envelope) => {
      unread.push(envelope);
      wake();
    }, options);
    const isOver = (): boolean => signal?.aborted === true || left?.aborted === true;
    const onAbort = (): void => wake();
    signal?.addEventListener('abort', onAbort, { once: true });
    left?.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) {
        const next = unread.shift();
        if (isOver()) return;
        if (next !== undefined) {
          yield next;
          if (next.event.type === 'closed') return;
          continue;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      stop();
      signal?.removeEventListener('abort', onAbort);
      left?.removeEventListener('abort', onAbort);
    }
  }

  #keep(envelope: Envelope): void {
    const { event } = envelope;
    if (event.type === 'transcript') return;
    // The whole answer, or its retry, takes the place of its parts.
    if (event.type === 'answer' || event.type === 'retry') {
      this.#events = this.#events.filter((kept) => !isDelta(kept.event));
    }
    this.#events.push(envelope);
    if (this.#events.length <= MAX_EVENTS) return;
    this.#events.splice(0, MAX_EVENTS / 10);
    this.#dropped = (this.#events[0]?.seq ?? this.#seq + 1) - 1;
  }
}

function isDelta({ type }: SessionEvent): boolean {
  return type === 'stream' || type === 'block';
}
