import { messageOf } from '../../errors.js';
import type { InputMessage } from '../../loop/types.js';
import { inputOf, type Mail, type Mailboxes, mailIn } from './mail.js';

/** A team member whose mail is delivered in this process. */
export interface Reader {
  readonly name: string;
  /** Ids of messages in its transcript, which have arrived even if they are still in the mailbox. */
  readonly had?: ReadonlySet<string> | undefined;
  /** Handles the program's part of a message; false hides the message. */
  onMail?(mail: Mail): boolean | Promise<boolean>;
  /** Passes a message to the agent; false when it has ended. */
  tell(message: InputMessage): boolean;
}

interface Seat {
  readonly reader: Reader;
  /** Delivered, but not yet found in the transcript. */
  readonly told: Set<string>;
  warned: string | undefined;
  busy: Promise<void>;
}

const LOOK_MS = 200;

/** Delivers mail to the team members in this process, each message once. */
export class MailDelivery {
  readonly #boxes: Mailboxes;
  readonly #uuid: () => string;
  /** Reports invalid mail and unreadable mailboxes to people. */
  readonly #warn: (text: string) => void;
  readonly #seats = new Map<string, Seat>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(boxes: Mailboxes, parts: { uuid(): string; warn(text: string): void }) {
    this.#boxes = boxes;
    this.#uuid = parts.uuid;
    this.#warn = parts.warn;
  }

  add(reader: Reader): () => void {
    const seat: Seat = { reader, told: new Set(), warned: undefined, busy: Promise.resolve() };
    this.#seats.set(reader.name, seat);
    this.#timer ??= setInterval(() => {
      for (const name of this.#seats.keys()) this.nudge(name);
    }, LOOK_MS);
    this.#timer.unref();
    this.nudge(reader.name);
    return () => {
      if (this.#seats.get(reader.name) === seat) this.#seats.delete(reader.name);
    };
  }

  /** Checks a mailbox at once, after a message was sent. */
  nudge(name: string): void {
    const seat = this.#seats.get(name);
    if (seat !== undefined) this.#inTurn(seat, () => this.#carry(seat));
  }

  /** Removes messages from the mailbox once they are in the reader's transcript. */
  recorded(name: string, { content }: Pick<InputMessage, 'content'>): void {
    const seat = this.#seats.get(name);
    if (seat === undefined || seat.told.size === 0) return;
    const ids = content
      .flatMap((block) => (block.type === 'text' ? mailIn(block.text) : []))
      .filter((id) => seat.told.has(id));
    if (ids.length > 0) this.#inTurn(seat, () => this.#taken(seat, ids));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#seats.values()].map(({ busy }) => busy));
    this.#seats.clear();
  }

  #inTurn(seat: Seat, work: () => Promise<void>): void {
    seat.busy = seat.busy.then(work).catch((thrown: unknown) => {
      this.#warn(`mail for ${seat.reader.name}: ${messageOf(thrown)}`);
    });
  }

  async #carry(seat: Seat): Promise<void> {
    const { reader, told } = seat;
    const { name } = reader;
    if (this.#seats.get(name) !== seat) return;
    const found = this.#boxes.look(name);
    const problem = found.ok ? undefined : found.error;
    // Reported once, because mailboxes are checked several times a second.
    if (problem !== undefined && problem !== seat.warned) {
      this.#warn(`mail for ${name}: ${problem}`);
    }
    seat.warned = problem;
    if (!found.ok) return;
    const { mail, odd } = found.value;
    for (const { why } of odd) this.#warn(`a message for ${name} does not count: ${why}`);
    const old = mail.flatMap(({ id }) => (reader.had?.has(id) === true ? [id] : []));
    if (odd.length + old.length > 0) {
      const gone = new Set(odd.map(({ entry }) => JSON.stringify(entry)));
      await this.#boxes.remove(
        name,
        (entry) => gone.has(JSON.stringify(entry)) || old.includes(idOf(entry)),
      );
    }
    for (const one of mail) {
      if (old.includes(one.id) || told.has(one.id)) continue;
      told.add(one.id);
      const isShown = (await reader.onMail?.(one)) ?? true;
      if (!isShown) await this.#taken(seat, [one.id]);
      else if (!reader.tell(inputOf(one, this.#uuid()))) told.delete(one.id);
    }
  }

  async #taken({ reader: { name }, told }: Seat, ids: readonly string[]): Promise<void> {
    const done = await this.#boxes.remove(name, (entry) => ids.includes(idOf(entry)));
    // It stays marked as delivered: this process does not repeat it, and a later one finds it in the transcript.
    if (!done.ok) this.#warn(`mail that ${name} has read is still in its box: ${done.error}`);
    else for (const id of ids) told.delete(id);
  }
}

function idOf(entry: unknown): string {
  return typeof entry === 'object' && entry !== null && 'id' in entry ? String(entry.id) : '';
}
