import { PortcullisError } from '../errors.js';
import { LineSplitter, parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';

/** One message of a host, parsed. */
export type Message = Readonly<Record<string, unknown>>;

/** What comes in: text with one JSON object per line, cut anywhere, or messages that are parsed already. */
export type Inbound = AsyncIterable<string | Message>;

/**
 * Hands every message on, in order, until the input ends or `signal` says that nobody listens any more.
 * Rejects on what is no message: what follows it cannot be trusted to mean what it says.
 */
export async function readInbound(
  input: Inbound,
  onMessage: (message: Message) => void,
  signal: AbortSignal,
): Promise<void> {
  const splitter = new LineSplitter();
  const iterator = input[Symbol.asyncIterator]();
  const gone = whenAborted(signal);
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), gone.promise]);
      if (next === undefined) {
        // Not awaited: an input that stands still would hold its own end back.
        void Promise.resolve(iterator.return?.()).catch(() => undefined);
        return;
      }
      if (next.done === true) break;
      if (typeof next.value !== 'string') onMessage(asMessage(next.value));
      else for (const line of splitter.push(next.value)) onMessage(parseLine(line));
    }
    for (const line of splitter.end()) onMessage(parseLine(line));
  } finally {
    gone.forget();
  }
}

function parseLine(line: string): Message {
  const parsed = parseJson(line);
  if (parsed.ok && isRecord(parsed.value)) return parsed.value;
  throw new PortcullisError(
    'usage',
    `a line on standard input is not a JSON object: ${line.slice(0, 200)}`,
  );
}

function asMessage(value: unknown): Message {
  if (isRecord(value)) return value;
  throw new PortcullisError('usage', 'a message of the host is not an object');
}

function whenAborted(signal: AbortSignal): { promise: Promise<undefined>; forget(): void } {
  let stop: () => void = () => undefined;
  const promise = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  return { promise, forget: () => signal.removeEventListener('abort', stop) };
}
