import { messageOf, PortcullisError } from '../errors.js';
import { FleetClient } from './attach.js';
import { openFleet } from './open.js';
import type { Fleet, FleetSession, OpenAsk } from './types.js';

const POLL_MS = 1_000;
const MOST_SESSIONS = 200;
/** A client leaves its session when no page has followed it for this time. */
const UNUSED_MS = 10 * 60_000;

/** Follows the newest sessions and all open questions of a fleet. A session is attached only while it is used. */
export class FleetFollower {
  sessions: readonly FleetSession[] = [];
  asks: readonly OpenAsk[] = [];
  /** Why the fleet cannot be read; what is listed may be out of date. */
  problem: string | undefined;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #options: FollowOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #clients = new Map<string, { client: Promise<FleetClient>; usedAt: number }>();
  #fleet: Promise<Fleet> | undefined;
  #isPolling = false;

  constructor(env: Readonly<Record<string, string | undefined>>, options: FollowOptions) {
    this.#env = env;
    this.#options = options;
    this.#timer = setInterval(() => void this.#poll(), POLL_MS);
    void this.#poll();
  }

  find(id: string): FleetSession | undefined {
    return this.sessions.find(({ order }) => order.id === id);
  }

  /** A client of a session, shared by all who follow it here. */
  async client(session: FleetSession): Promise<FleetClient> {
    const { id } = session.order;
    const attach = async (): Promise<FleetClient> =>
      FleetClient.attach(await this.fleet(), session, this.#options.name);
    const known = this.#clients.get(id) ?? { client: attach(), usedAt: 0 };
    known.usedAt = Date.now();
    this.#clients.set(id, known);
    try {
      return await known.client;
    } catch (thrown) {
      this.#clients.delete(id);
      throw thrown;
    }
  }

  /** A fleet that cannot be opened is tried again by the next call. */
  async fleet(): Promise<Fleet> {
    this.#fleet ??= openFleet(this.#env);
    try {
      return await this.#fleet;
    } catch (thrown) {
      this.#fleet = undefined;
      throw thrown;
    }
  }

  close(): void {
    clearInterval(this.#timer);
    for (const id of this.#clients.keys()) this.#leave(id);
    // A fleet that could not be opened needs no closing.
    this.#fleet?.then((fleet) => fleet.close()).catch(() => undefined);
  }

  #leave(id: string): void {
    // A client that could not attach has nothing to leave.
    this.#clients
      .get(id)
      ?.client.then((client) => client.close())
      .catch(() => undefined);
    this.#clients.delete(id);
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    const before = this.#state();
    try {
      await this.#read();
      this.problem = undefined;
    } catch (thrown) {
      const remedy = thrown instanceof PortcullisError ? thrown.remedy : undefined;
      const more = remedy === undefined ? '' : ` (${remedy})`;
      this.problem = `The fleet cannot be read: ${messageOf(thrown)}${more}`;
    }
    this.#isPolling = false;
    if (this.#state() !== before) this.#options.onChange();
  }

  async #read(): Promise<void> {
    const fleet = await this.fleet();
    const parked = await fleet.list({ phase: 'parked', limit: MOST_SESSIONS });
    const recent = await fleet.list({ limit: MOST_SESSIONS });
    const isShown = (id: string): boolean => id.startsWith(this.#options.only ?? '');
    const byId = new Map([...parked, ...recent].map((session) => [session.order.id, session]));
    this.asks = (await fleet.asks()).filter(({ session }) => isShown(session));
    this.sessions = [...byId.values()].filter(
      ({ order, phase }) => isShown(order.id) && phase !== 'cancelled',
    );
    for (const [id, { client, usedAt }] of this.#clients) {
      const isUsed = (await client).followers > 0 || Date.now() - usedAt < UNUSED_MS;
      if (!isUsed || this.find(id) === undefined) this.#leave(id);
    }
  }

  #state(): string {
    return JSON.stringify([this.sessions, this.asks, this.problem]);
  }
}

interface FollowOptions {
  /** Under which messages and answers are recorded. */
  readonly name: string;
  /** The beginning of the id of the one session that is followed. */
  readonly only?: string | undefined;
  onChange(): void;
}
