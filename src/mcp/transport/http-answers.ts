import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type { Fetch } from '../../platform/http/fetch.js';
import { breach, type Failed } from '../connection/classify.js';
import { isId, isUnreadable, type MessageId, messagesOf } from './messages.js';

/** Messages per batch. */
const MOST_IN_A_LIST = 1_000;

/** The requests that await a response, with the controllers of their streams. */
export class WaitingRequests {
  /** Called for a request that will get no response. */
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

  /** False when the request was not waiting. */
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
    // Otherwise the library would reopen the stream.
    this.abort(key);
    this.onFailed?.(key, why);
  }

  /** The library equates "7" and 7. */
  #key(id: MessageId): MessageId {
    return this.#streams.has(id) ? id : Number(id);
  }
}

/**
 * Filters a server's responses through `messagesIn`. The library silently drops invalid or unexpected
 * responses; here the request fails at once. `hasOwnBody`: responses arrive in the HTTP response to their
 * request.
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
    // The body is complete, so a missing response will never come.
    if (!messages.some((one) => answers(one, asked)))
      waiting.fail(asked, breach('answered with messages of which none is an answer.'));
    const [only] = messages;
    return new Response(JSON.stringify(messages.length === 1 ? only : messages), response);
  };
}

/** Drops unusable messages and fails the requests they answer. */
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
    // A foreign response on a request's own stream fails that request.
    else if (!waiting.has(message.id) && asked !== undefined)
      waiting.fail(asked, foreign(message.id));
    else return true;
    return false;
  });
}

/** Parses without checks, so that only the unsafe items of a batch fail. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Form data, or not a message.
    return undefined;
  }
}

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

/** Rewrites the data of server-sent events: a message is one `data:` line, other lines pass unchanged. */
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
        // Collected and joined once, so that a long line costs linear time.
        rest.push(last);
        return;
      }
      lines[0] = rest.join('') + (lines[0] ?? '');
      rest = [last];
      controller.enqueue(lines.map((one) => line(one.replace(/\r$/, ''))).join(''));
    },
  });
}
