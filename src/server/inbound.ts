import { PortcullisError } from '../errors.js';
import { LineSplitter, parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';
import { sliceWhole } from '../lib/text/truncate.js';

/** One message of a host, parsed. */
export type Message = Readonly<Record<string, unknown>>;

/** What comes in: text with one JSON object per line, cut anywhere, or messages that are parsed already. */
export type Inbound = AsyncIterable<string | Message>;

/** A longer line is no message. */
const MAX_LINE_CHARS = 64 * 1024 * 1024;

/** An input that is being read. */
export interface Reading {
  /**
   * Resolves when the input has ended or reading was stopped. Rejects on a malformed message, as the lines
   * after it cannot be trusted.
   */
  readonly done: Promise<void>;
  /** Stops reading. */
  stop(): void;
}

/** Hands every message on, in order. */
export function readInbound(input: Inbound, onMessage: (message: Message) => void): Reading {
  const splitter = new LineSplitter(MAX_LINE_CHARS);
  const iterator = input[Symbol.asyncIterator]();
  let stopped = false;
  let wake: (nothing: undefined) => void = () => undefined;
  // One promise a message: what waits for the end is not heaped up on a promise that lives as long.
  const next = (): Promise<IteratorResult<string | Message> | undefined> =>
    new Promise((resolve, reject) => {
      wake = resolve;
      iterator.next().then(resolve, reject);
    });
  const read = async (): Promise<void> => {
    while (!stopped) {
      const result = await next();
      if (result === undefined || stopped) break;
      if (result.done === true) {
        for (const line of splitter.end()) onMessage(parseLine(line));
        return;
      }
      if (typeof result.value !== 'string') onMessage(asMessage(result.value));
      else for (const line of splitter.push(result.value)) onMessage(parseLine(line));
    }
    // Not awaited: an idle input would never finish its `return`.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  };
  return {
    done: read(),
    stop() {
      stopped = true;
      wake(undefined);
    },
  };
}

function parseLine(line: string | undefined): Message {
  if (line === undefined) {
    throw new PortcullisError('usage', 'a line on standard input is longer than 64 MB');
  }
  const parsed = parseJson(line);
  if (parsed.ok && isRecord(parsed.value)) return parsed.value;
  throw new PortcullisError(
    'usage',
    `a line on standard input is not a JSON object: ${sliceWhole(line, 0, 200)}`,
  );
}

function asMessage(value: unknown): Message {
  if (isRecord(value)) return value;
  throw new PortcullisError('usage', 'a message of the host is not an object');
}
