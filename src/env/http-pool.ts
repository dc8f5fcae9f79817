import { connect, type Socket } from 'node:net';
import { type ConnectionWatch, HttpConnection } from './http-connection.js';
import { KEEP_ALIVE_PROBE_MS, type Place } from './http-place.js';

/** How many idle connections to one place are kept. */
const MAX_IDLE = 256;

const idle = new Map<string, HttpConnection[]>();

/** A connection that was used before and may be used again: the last one, so that the others can end. */
export function idleConnection(place: Place): HttpConnection | undefined {
  const waiting = idle.get(place.key);
  for (let last = waiting?.pop(); last !== undefined; last = waiting?.pop()) {
    if (last.isUsable) return last;
    last.destroy();
  }
  return undefined;
}

export interface Opening {
  readonly place: Place;
  readonly timeoutMs: number;
  opened(connection: HttpConnection): void;
  failed(error: Error): void;
  /** Within `timeoutMs` no connection stood. */
  late(): void;
}

/**
 * Opens a new connection. `opened` is told before it stands: what is sent is kept until then. Only a tunnel has
 * to stand first. Returns what gives it up.
 */
export function openConnection({ place, timeoutMs, ...told }: Opening): () => void {
  let socket: Socket | undefined;
  let isGivenUp = false;
  const dialling = new AbortController();
  const timer = setTimeout(() => told.late(), timeoutMs);
  const take = (made: Socket): HttpConnection => {
    socket = made;
    made.once(place.isSecure ? 'secureConnect' : 'connect', () => clearTimeout(timer));
    made.once('close', () => clearTimeout(timer));
    const connection = new HttpConnection(made, keeperOf(place));
    if (isGivenUp) made.destroy();
    else told.opened(connection);
    return connection;
  };
  const fail = (error: Error): void => {
    clearTimeout(timer);
    if (!isGivenUp) told.failed(error);
  };
  if (place.isSecure) openSecure(place, { take, fail, signal: dialling.signal });
  else openPlain(place, take);
  return () => {
    isGivenUp = true;
    clearTimeout(timer);
    dialling.abort();
    socket?.destroy();
  };
}

/** Whatever is read is used up before anything else is: one buffer serves all connections. */
const READ_BYTES = 64 * 1024;
let readInto: Buffer | undefined;

function openPlain(place: Place, take: (socket: Socket) => HttpConnection): void {
  readInto ??= Buffer.allocUnsafeSlow(READ_BYTES);
  const bytes = readInto;
  const { hostname: host, port } = place;
  const connection = take(
    connect({
      host,
      port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
      onread: {
        buffer: bytes,
        callback(length) {
          connection.receive(bytes.subarray(0, length));
          return true;
        },
      },
    }),
  );
}

function openSecure(
  place: Place,
  {
    take,
    fail,
    signal,
  }: {
    take(socket: Socket): HttpConnection;
    fail(error: Error): void;
    readonly signal: AbortSignal;
  },
): void {
  const opened = (socket: Socket): void => {
    const connection = take(socket);
    socket.on('data', (bytes: Buffer) => connection.receive(bytes));
  };
  import('./https-dial.js')
    .then(({ dialSecure }) => dialSecure(place, { take: opened, fail, signal }))
    .catch(fail);
}

function keeperOf({ key }: Place): ConnectionWatch {
  return {
    onIdle(connection) {
      const waiting = idle.get(key);
      if (waiting === undefined) idle.set(key, [connection]);
      else if (waiting.length < MAX_IDLE) waiting.push(connection);
      else connection.destroy();
    },
    onClose(connection) {
      const waiting = idle.get(key);
      const at = waiting?.indexOf(connection) ?? -1;
      if (at !== -1) waiting?.splice(at, 1);
      if (waiting?.length === 0) idle.delete(key);
    },
  };
}
