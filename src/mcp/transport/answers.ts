import { isRecord } from '../../lib/own.js';
import { sliceWhole } from '../../lib/truncate.js';
import { visible } from '../../lib/visible.js';
import type { Fetch } from '../../platform/http/fetch.js';
import { NoAnswer, UNREADABLE } from '../connection/thrown.js';
import { eventsWith } from './event-lines.js';
import { isNamelessError, messageOf } from './message.js';

type Id = string | number;

const ID_CHARS = 60;
/** Messages in one list. Each becomes an event of its own, and to read very many of them would hold up all else. */
const MOST_IN_A_LIST = 1_000;

/** The requests that wait for an answer, each with what ends its stream. */
export class Waiting {
  /** Told of a request that gets no answer any more. */
  onFailed: ((id: Id, why: unknown) => void) | undefined;
  readonly #streams = new Map<Id, AbortController>();

  add(id: Id): AbortController {
    const stream = new AbortController();
    this.#streams.set(id, stream);
    return stream;
  }

  has(id: Id): boolean {
    return this.#streams.has(this.#key(id));
  }

  /** It has its answer, or wants none. False when it did not wait. */
  remove(id: Id): boolean {
    return this.#streams.delete(this.#key(id));
  }

  abort(id: Id): void {
    this.#streams.get(this.#key(id))?.abort();
    this.remove(id);
  }

  fail(id: Id, why: unknown): void {
    const key = this.#key(id);
    if (!this.#streams.has(key)) return;
    // Or the library would open a stream that broke off once more, for what nobody waits for.
    this.abort(key);
    this.onFailed?.(key, why);
  }

  /** The library takes "7" for 7. */
  #key(id: Id): Id {
    return this.#streams.has(id) ? id : Number(id);
  }
}

/**
 * The answers of a server as all transports take them: without members that the protocol does not know,
 * and with one that cannot be taken, or that is for nobody, failing the request at once. The library drops
 * both without a word. `hasOwnBody`: the answer comes with the response to the request.
 */
export function answersJudged(
  fetch: Fetch,
  waiting: Waiting,
  { hasOwnBody }: { readonly hasOwnBody: boolean },
): Fetch {
  return async (url, init = {}) => {
    const response = await fetch(url, init);
    const asked = hasOwnBody ? askedIn(init) : undefined;
    if (asked !== undefined && response.status === 202) {
      const text = 'accepted the request with HTTP 202, which means that no answer comes.';
      waiting.fail(asked, new NoAnswer(text));
      return response;
    }
    const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
    if (type === 'text/event-stream') return judgedEvents(response, waiting, asked);
    if (type === 'application/json' && asked !== undefined)
      return judgedBody(response, waiting, asked);
    return response;
  };
}

/** The id of the request that is sent; undefined for whatever else is. */
function askedIn({ method, body }: RequestInit): Id | undefined {
  if (method !== 'POST' || typeof body !== 'string') return undefined;
  try {
    const sent: unknown = JSON.parse(body);
    if (!isRecord(sent) || sent.jsonrpc !== '2.0' || sent.method === undefined) return undefined;
    return isId(sent.id) ? sent.id : undefined;
  } catch {
    // A form, and no message.
    return undefined;
  }
}

function judgedEvents(response: Response, waiting: Waiting, asked: Id | undefined): Response {
  const { body } = response;
  if (!response.ok || body === null) return response;
  const events = eventsWith((data) => {
    const value = parsed(data);
    // The library tells of what is no message.
    if (value === undefined) return [data];
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (isTooMany(values, waiting, asked)) return [data];
    return values.flatMap((one) => {
      const { answers, isRefused, text } = judge(one, asked);
      if (answers !== undefined && !waiting.has(answers)) {
        // On the stream of a request that waits for its own.
        if (asked !== undefined) waiting.fail(asked, foreign(answers));
      } else if (answers !== undefined && isRefused) waiting.fail(answers, UNREADABLE);
      return isRefused ? [] : [text ?? (values === value ? JSON.stringify(one) : data)];
    });
  });
  const text = body.pipeThrough(new TextDecoderStream()).pipeThrough(events);
  return new Response(text.pipeThrough(new TextEncoderStream()), response);
}

async function judgedBody(response: Response, waiting: Waiting, asked: Id): Promise<Response> {
  const text = await response.text();
  const value = parsed(text);
  if (value === undefined) return new Response(text, response);
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (isTooMany(values, waiting, asked)) return new Response('[]', response);
  // A refusal may be written as an answer; the library knows what to make of it.
  const judged = values.map((one) => judge(one, response.ok ? asked : undefined));
  if (response.ok) tellOf(judged, waiting, asked);
  if (judged.every((one) => !one.isRefused && one.text === undefined)) {
    return new Response(text, response);
  }
  const kept = judged.flatMap((one, at) =>
    one.isRefused && response.ok ? [] : [one.text ?? JSON.stringify(values[at])],
  );
  const [first] = kept;
  const isOne = kept.length === 1 && first !== undefined;
  return new Response(isOne ? first : `[${kept.join(',')}]`, response);
}

/** Whoever waits for something in it is told. The library takes no list that it is handed in an event. */
function isTooMany(values: readonly unknown[], waiting: Waiting, asked: Id | undefined): boolean {
  if (values.length <= MOST_IN_A_LIST) return false;
  const why = new NoAnswer(
    `sent a list of ${values.length} messages, more than ${MOST_IN_A_LIST}.`,
  );
  if (asked !== undefined) waiting.fail(asked, why);
  for (const one of values) {
    if (isRecord(one) && one.method === undefined && isId(one.id)) waiting.fail(one.id, why);
  }
  return true;
}

/** The body is whole: what is not answered in it never is. */
function tellOf(judged: readonly Judged[], waiting: Waiting, asked: Id): void {
  const answers: Id[] = [];
  for (const { answers: id, isRefused } of judged) {
    if (id === undefined) continue;
    answers.push(id);
    if (isRefused) waiting.fail(id, UNREADABLE);
  }
  if (answers.some((id) => id === asked || Number(id) === asked)) return;
  const [other] = answers;
  if (other !== undefined) waiting.fail(asked, foreign(other));
  else if (judged.every((one) => one.isMessage)) {
    waiting.fail(asked, new NoAnswer('answered with messages of which none is an answer.'));
  }
}

interface Judged {
  readonly isMessage: boolean;
  /** The id that it answers. */
  readonly answers?: Id | undefined;
  readonly isRefused: boolean;
  /** As it is to be read; absent where that is as it came. */
  readonly text?: string;
}

/** Where a server answers without an id, as it could not read that of the request, it is clear which it was. */
function judge(value: unknown, asked: Id | undefined): Judged {
  const message = messageOf(isNamelessError(value) ? { ...value, id: asked ?? null } : value);
  if (message === undefined) return { isMessage: false, isRefused: false };
  const answers = 'method' in message ? undefined : message.id;
  const isFailure = 'error' in message;
  if (isFailure && message.error.data === UNREADABLE) {
    return { isMessage: true, answers, isRefused: true };
  }
  const isSame = !isFailure && Object.keys(Object(value)).length === Object.keys(message).length;
  if (isSame) return { isMessage: true, answers, isRefused: false };
  try {
    return { isMessage: true, answers, isRefused: false, text: JSON.stringify(message) };
  } catch {
    // fail-closed: what is nested too deep to be written is not taken either.
    return { isMessage: true, answers, isRefused: true };
  }
}

function foreign(id: Id): NoAnswer {
  const shown = visible(sliceWhole(JSON.stringify(id), 0, ID_CHARS));
  return new NoAnswer(`answered with the id ${shown}, which is not that of the request.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whoever reads it says so.
    return undefined;
  }
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number';
}
