import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type { Fetch } from '../../platform/http/fetch.js';
import { breach, type Failed } from '../connection/classify.js';
import { isId, isUnreadable, type MessageId, messagesOf } from './messages.js';

/** Messages in one list: more would hold up everything else. */
const MOST_IN_A_LIST = 1_000;

/** The requests that wait for an answer, each with what ends its stream. */
export class WaitingRequests {
  /** Told of a request that gets no answer any more. */
  onFailed: ((id: MessageId, why: Failed) => void) | undefined;
  readonly #streams = new Map<MessageId, AbortController>();

  add(id: MessageId): AbortController {
    const stream = new AbortController();
    this.#streams.set(id, stream);
    return stream;
  }

  has(id: MessageId): boolean {
    return this.#streams.has(this.#key(id));
  }

  /** False when it did not wait. */
  remove(id: MessageId): boolean {
    return this.#streams.delete(this.#key(id));
  }

  abort(id: MessageId): void {
    this.#streams.get(this.#key(id))?.abort();
    this.remove(id);
  }

  fail(id: MessageId, why: Failed): void {
    const key = this.#key(id);
    if (!this.#streams.has(key)) return;
    // Or the library would reopen a stream that nobody waits for.
    this.abort(key);
    this.onFailed?.(key, why);
  }

  /** The library takes "7" for 7. */
  #key(id: MessageId): MessageId {
    return this.#streams.has(id) ? id : Number(id);
  }
}

/**
 * The answers of a server as `messagesIn` reads them. The library drops an answer that it does not like, or that no
 * request waits for, without a word: here the request fails at once. `hasOwnBody`: answers come in the response to
 * their request.
 */
export function readAnswers(
  fetch: Fetch,
  waiting: WaitingRequests,
  { hasOwnBody }: { readonly hasOwnBody: boolean },
): Fetch {
  return async (url, init = {}) => {
    const response = await fetch(url, init);
    const asked = hasOwnBody ? requestIn(init) : undefined;
    if (asked !== undefined && response.status === 202) {
      const text = 'accepted the request with HTTP 202, which means that no answer comes.';
      waiting.fail(asked, breach(text));
      return response;
    }
    const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
    if (!response.ok || response.body === null) return response;
    if (type === 'text/event-stream') {
      const events = response.body
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(dataLines((data) => kept(data, waiting, asked)))
        .pipeThrough(new TextEncoderStream());
      return new Response(events, response);
    }
    if (type !== 'application/json' || asked === undefined) return response;
    const messages = kept(await response.text(), waiting, asked);
    // The body is whole: a request that is not answered in it never is.
    if (!messages.some((one) => answers(one, asked)))
      waiting.fail(asked, breach('answered with messages of which none is an answer.'));
    const [only] = messages;
    return new Response(JSON.stringify(messages.length === 1 ? only : messages), response);
  };
}

/** What the library may see of a text; requests fail whose answer is not in what is kept. */
function kept(
  text: string,
  waiting: WaitingRequests,
  asked: MessageId | undefined,
): readonly JSONRPCMessage[] {
  const messages = messagesOf(parsed(text), asked);
  const isTooLong = messages.length > MOST_IN_A_LIST;
  const why = isTooLong
    ? breach(`sent a list of ${messages.length} messages, more than ${MOST_IN_A_LIST}.`)
    : breach();
  if (isTooLong && asked !== undefined) waiting.fail(asked, why);
  return messages.filter((message) => {
    if ('method' in message || message.id === undefined) return !isTooLong;
    if (isTooLong || isUnreadable(message)) waiting.fail(message.id, why);
    // On the stream of a request that waits for its own.
    else if (!waiting.has(message.id) && asked !== undefined)
      waiting.fail(asked, foreign(message.id));
    else return true;
    return false;
  });
}

/** Unchecked: of a list, only the items fail that are nested too deep or hold a `__proto__`. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A form, or no message.
    return undefined;
  }
}

/** The id of the request that is sent. */
function requestIn({ method, body }: RequestInit): MessageId | undefined {
  if (method !== 'POST' || typeof body !== 'string') return undefined;
  const [sent] = messagesOf(parsed(body));
  return sent !== undefined && 'method' in sent && 'id' in sent && isId(sent.id)
    ? sent.id
    : undefined;
}

function answers(message: JSONRPCMessage, asked: MessageId): boolean {
  return !('method' in message) && (message.id === asked || Number(message.id) === asked);
}

function foreign(id: MessageId): Failed {
  const shown = visible(sliceWhole(JSON.stringify(id), 0, 60));
  return breach(`answered with the id ${shown}, which is not that of the request.`);
}

/** Server-sent events with other data: a message stands on one `data:` line; other lines pass as they are. */
function dataLines(
  read: (data: string) => readonly JSONRPCMessage[],
): TransformStream<string, string> {
  let rest: string[] = [];
  const line = (text: string): string => {
    const data = /^data: ?(\s*[[{].*)$/.exec(text)?.[1];
    if (data === undefined) return `${text}\n`;
    const events = read(data).map((message) => `data: ${JSON.stringify(message)}\n`);
    return events.length === 0 ? ':\n' : events.join('\n');
  };
  return new TransformStream({
    transform(piece, controller) {
      const lines = piece.split(/\r?\n/);
      const last = lines.pop() ?? '';
      if (lines.length === 0) {
        // Joined once: a long line must not cost its square.
        rest.push(last);
        return;
      }
      lines[0] = rest.join('') + (lines[0] ?? '');
      rest = [last];
      controller.enqueue(lines.map((one) => line(one.replace(/\r$/, ''))).join(''));
    },
  });
}
