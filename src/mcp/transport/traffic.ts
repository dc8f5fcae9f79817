import { isRecord } from '../../lib/own.js';

/** How much of one kind a server may send by itself. */
export interface Allowance {
  /** Messages at one go, as long as it has been quiet before. */
  readonly burst: number;
  /** Messages a second that it may go on with. */
  readonly perSecond: number;
  /** Messages above that, without a calm in between, after which it is not spoken to any more. */
  readonly mostExcess: number;
}

export interface TrafficLimits {
  readonly requests: Allowance & {
    /** Requests that are being answered at the same moment, and refusals that are on their way. */
    readonly atOnce: number;
  };
  /** Notifications, answers to nothing that was asked, and what is no message. */
  readonly notes: Allowance;
  /** Without anything above the limits for so long, what was above them before is forgiven. */
  readonly calmMs: number;
}

/** A server that reports every step of long work and logs each line stays far below. */
export const TRAFFIC_LIMITS: TrafficLimits = {
  requests: { atOnce: 100, burst: 300, perSecond: 100, mostExcess: 3_000 },
  notes: { burst: 10_000, perSecond: 2_000, mostExcess: 100_000 },
  calmMs: 60_000,
};

export type TrafficKind = 'requests' | 'notes';

/** `refused`: not handled, and the server is told. `dropped`: not handled. `cut`: it is over. */
export type Verdict = 'taken' | 'refused' | 'dropped' | 'cut';

type Id = string | number;

/** A message this long counts as one more, each time. */
const CHARS_PER_MESSAGE = 4_096;
/** An id is sent back; nobody needs a longer one to tell requests apart. */
const LONGEST_ID = 256;
const CANCELLED = 'notifications/cancelled';

/** Whether what a server sends by itself is taken. Answers to what it was asked are never counted. */
export class Traffic {
  readonly #limits: TrafficLimits;
  readonly #meters: Readonly<Record<TrafficKind, Meter>>;
  readonly #asked = new Set<string>();
  /** How many of each id: a server may give one id to several. */
  readonly #answering = new Map<unknown, number>();
  #open = 0;
  #refusing = 0;
  #answersRequests = true;

  constructor(limits: TrafficLimits, monotonic: () => number) {
    this.#limits = limits;
    const meter = (kind: TrafficKind): Meter => new Meter(limits[kind], limits.calmMs, monotonic);
    this.#meters = { requests: meter('requests'), notes: meter('notes') };
  }

  /** Requests that came in the handshake may never be answered, and others never are. */
  connected({ answersRequests }: { readonly answersRequests: boolean }): void {
    this.#answering.clear();
    this.#open = 0;
    this.#answersRequests = answersRequests;
  }

  /** A request of ours waits for its answer. */
  asked(id: Id): void {
    this.#asked.add(String(id));
  }

  /** Nobody waits for it any more. */
  forgot(id: unknown): void {
    this.#asked.delete(String(id));
  }

  /** The server has what it asked for, or asks no more. */
  answered(id: unknown): boolean {
    const count = this.#answering.get(id);
    if (count === undefined) return false;
    if (count === 1) this.#answering.delete(id);
    else this.#answering.set(id, count - 1);
    this.#open -= 1;
    return true;
  }

  refusalSent(): void {
    this.#refusing -= 1;
  }

  /** What is above the limits since the last calm. */
  excess(kind: TrafficKind): number {
    return this.#meters[kind].excess;
  }

  /** Which kind a message is of, and whether it is taken. */
  judge(message: unknown): { readonly kind: TrafficKind; readonly verdict: Verdict } {
    if (!isRecord(message)) return this.#note(message);
    const { id, method } = message;
    if (method === undefined) {
      // The library takes "7" for 7.
      const isWanted = this.#asked.delete(String(id));
      return isWanted ? { kind: 'notes', verdict: 'taken' } : this.#note(message);
    }
    if (id !== undefined) return this.#request(id, message);
    return this.#endsSomething(message) ? { kind: 'notes', verdict: 'taken' } : this.#note(message);
  }

  /** What is no message at all. */
  noise(): Verdict {
    return this.#note(undefined).verdict;
  }

  #request(id: unknown, message: unknown): { kind: TrafficKind; verdict: Verdict } {
    // An id of another kind makes it no message.
    if (typeof id !== 'number' && typeof id !== 'string') return this.#note(message);
    const kind = 'requests';
    const cost = costOf(message);
    if (typeof id === 'string' && id.length > LONGEST_ID)
      return { kind, verdict: this.#above(kind, cost) };
    const { atOnce } = this.#limits.requests;
    if (this.#open < atOnce && this.#meters.requests.take(cost)) {
      if (this.#answersRequests) this.#opened(id);
      return { kind, verdict: 'taken' };
    }
    const verdict = this.#above(kind, cost);
    if (verdict === 'cut' || this.#refusing >= atOnce || !this.#answersRequests)
      return { kind, verdict };
    this.#refusing += 1;
    return { kind, verdict: 'refused' };
  }

  #opened(id: Id): void {
    this.#answering.set(id, (this.#answering.get(id) ?? 0) + 1);
    this.#open += 1;
  }

  #note(message: unknown): { kind: TrafficKind; verdict: Verdict } {
    const kind = 'notes';
    const cost = costOf(message);
    if (this.#meters.notes.take(cost)) return { kind, verdict: 'taken' };
    return { kind, verdict: this.#above(kind, cost) };
  }

  #above(kind: TrafficKind, cost: number): Verdict {
    const meter = this.#meters[kind];
    meter.above(cost);
    // fail-closed: a server that goes on and on is not listened to.
    return meter.excess > this.#limits[kind].mostExcess ? 'cut' : 'dropped';
  }

  /** It asks no more for what is being answered: each can come once for each request that was taken. */
  #endsSomething({ method, params }: Readonly<Record<string, unknown>>): boolean {
    if (method !== CANCELLED || !isRecord(params)) return false;
    return this.answered(params.requestId);
  }
}

/** Fills with time and is emptied by messages. A large one may leave a debt, or it would never pass. */
class Meter {
  excess = 0;
  readonly #allowance: Allowance;
  readonly #calmMs: number;
  readonly #monotonic: () => number;
  #level: number;
  #at: number;
  #aboveAt = Number.NEGATIVE_INFINITY;

  constructor(allowance: Allowance, calmMs: number, monotonic: () => number) {
    this.#allowance = allowance;
    this.#calmMs = calmMs;
    this.#monotonic = monotonic;
    this.#level = allowance.burst;
    this.#at = monotonic();
  }

  take(cost: number): boolean {
    const { burst, perSecond } = this.#allowance;
    const now = this.#monotonic();
    this.#level = Math.min(burst, this.#level + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    if (this.#level < 1) return false;
    this.#level -= cost;
    return true;
  }

  above(cost: number): void {
    const now = this.#monotonic();
    if (now - this.#aboveAt >= this.#calmMs) this.excess = 0;
    this.#aboveAt = now;
    this.excess += cost;
  }
}

/** One, and one more for each stretch of text. Without recursion: nesting may have no end. */
function costOf(message: unknown): number {
  let chars = 0;
  const left: unknown[] = [message];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') chars += value.length;
    else if (Array.isArray(value)) {
      chars += value.length;
      for (const inner of value) left.push(inner);
    } else if (isRecord(value)) {
      for (const name of Object.keys(value)) {
        chars += name.length + 1;
        left.push(value[name]);
      }
    }
  }
  return 1 + Math.floor(chars / CHARS_PER_MESSAGE);
}
