import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf, PortcullisError } from '../errors.js';
import type { Overview, SessionHub } from './session-hub.js';

/** Streams that are open at the same time; further ones get status 503. */
const MOST_STREAMS = 64;
/** Unread bytes after which a stream is ended; the page reconnects with the last event that it has. */
const MOST_UNREAD = 8 * 1024 * 1024;
const ALIVE_MS = 15_000;

/** The server-sent events of all pages. */
export class EventStreams {
  readonly #hub: SessionHub;
  readonly #open = new Set<ServerResponse>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(hub: SessionHub) {
    this.#hub = hub;
    this.#timer = setInterval(() => {
      for (const response of this.#open) response.write(':\n\n');
    }, ALIVE_MS);
    this.#timer.unref();
  }

  /** Sends the overview after every change and, where `key` names a session, its events after `after`. */
  open(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): void {
    if (this.#open.size >= MOST_STREAMS) {
      response.writeHead(503, { connection: 'close' }).end();
      return;
    }
    this.#open.add(response);
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    // `fetch` resolves only after the first byte.
    response.write(':\n\n');
    const ends: (() => void)[] = [];
    const end = (): void => {
      this.#open.delete(response);
      for (const stop of ends.splice(0)) stop();
    };
    request.once('close', end);
    response.once('close', end);
    ends.push(this.#sendOverviews(response));
    const key = query.get('key');
    if (key === null || key === '') return;
    const after = Number(query.get('after') ?? 0);
    this.#sendEvents(response, key, after).then(
      (stop) => (response.destroyed ? stop() : ends.push(stop)),
      (thrown: unknown) => {
        // The page reloads the session where the events that it wants are no longer kept.
        const isStale = thrown instanceof PortcullisError && thrown.code === 'usage';
        send(response, { type: isStale ? 'stale' : 'gone', key, reason: messageOf(thrown) });
      },
    );
  }

  close(): void {
    clearInterval(this.#timer);
    for (const response of this.#open) response.end();
  }

  /** A slow page gets the newest overview, not all of them. */
  #sendOverviews(response: ServerResponse): () => void {
    let waiting: Overview | undefined;
    const stop = this.#hub.subscribe((overview) => {
      if (response.writableNeedDrain) waiting = overview;
      else send(response, { type: 'overview', overview });
    });
    response.on('drain', () => {
      if (waiting !== undefined) send(response, { type: 'overview', overview: waiting });
      waiting = undefined;
    });
    return stop;
  }

  async #sendEvents(response: ServerResponse, key: string, after: number): Promise<() => void> {
    const session = await this.#hub.session(key);
    const over = (): void => send(response, { type: 'gone', key, reason: 'the session has ended' });
    void session.closed.then(over);
    return await session.subscribe((envelope) => send(response, { type: 'event', key, envelope }), {
      after,
      deltas: true,
    });
  }
}

function send(response: ServerResponse, message: object): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.writableLength > MOST_UNREAD) {
    response.destroy();
    return;
  }
  response.write(`data: ${JSON.stringify(message)}\n\n`);
}
