import { type HttpResponse, type HttpStream, httpStream } from '../../platform/http/http.js';
import type { ModelEvent } from '../client.js';
import { ABORTED, type FailureContext, failureOfStatus, failureOfTransport } from '../failures.js';
import { AnswerReader, type StreamTranslator } from './answer-reader.js';

/** Longest silence of a model's stream before it is given up. */
const DEFAULT_IDLE_TIMEOUT_MS = 5 * 60_000;

/** How long the end of the body may take after the answer's last event. */
const FINISH_GRACE_MS = 50;

/** More is not looked at of what is not a stream. */
export const MAX_BODY_CHARS = 1024 * 1024;

/** How long an error body may take; it says enough by then. */
const BODY_MS = 10_000;

/** What the clients of all providers have in common. */
export interface ClientOptions {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  /** `portcullis/<version>`. */
  readonly userAgent: string;
  /** They win over ours. */
  readonly customHeaders?: Readonly<Record<string, string>> | undefined;
  readonly idleTimeoutMs?: number | undefined;
  readonly http?: HttpStream | undefined;
}

interface AnswerParts {
  readonly options: ClientOptions;
  /** Behind the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Writes the body; what it throws ends the answer as other failures do. */
  body(): string;
  /** The provider's header with its id of the request. */
  readonly requestIdHeader: string;
  createTranslator(requestId: string | undefined): StreamTranslator;
  readonly model: string;
  readonly signal: AbortSignal;
  readonly context: FailureContext;
}

/** Sends a request and yields the events of its answer. Every failure is the last event. */
export async function* streamAnswer(parts: AnswerParts): AsyncGenerator<ModelEvent> {
  const { model, signal, context, options } = parts;
  let requestId: string | undefined;
  try {
    const response = await (options.http ?? httpStream)({
      url: `${options.baseUrl}${parts.path}`,
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        ...parts.headers,
      },
      body: parts.body(),
      signal,
      idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
    });
    requestId = response.headers[parts.requestIdHeader];
    if (response.status < 200 || response.status > 299) {
      const { status, headers } = response;
      const refusal = { status, headers, body: await readAll(response), model, now: Date.now() };
      yield { type: 'failure', failure: failureOfStatus(refusal, context) };
      return;
    }
    const translator = parts.createTranslator(requestId);
    const reader = new AnswerReader(translator, { model, context, requestId });
    for await (const event of eventsOf(response, reader)) {
      if (signal.aborted) throw signal.reason;
      yield event;
      if (isLast(event)) return;
    }
  } catch (thrown) {
    const failure = signal.aborted ? ABORTED : failureOfTransport(thrown, context);
    yield {
      type: 'failure',
      failure: requestId === undefined ? failure : { ...failure, requestId },
    };
  }
}

async function* eventsOf(response: HttpResponse, reader: AnswerReader): AsyncGenerator<ModelEvent> {
  for await (const text of response.chunks) {
    for (const event of reader.push(text)) {
      if (event.type === 'message_stop') response.finish(FINISH_GRACE_MS);
      yield event;
    }
    if (reader.sawEnd) {
      response.finish(FINISH_GRACE_MS);
      break;
    }
  }
  yield* reader.end();
}

/** Whether nothing may come after this event. */
function isLast(event: ModelEvent): boolean {
  return event.type === 'message_stop' || event.type === 'failure';
}

/**
 * The text of a body that is not a stream: an error, a page, a list. What comes after a mebibyte or
 * ten seconds is left out, so that a slow server cannot hold the run.
 */
export async function readAll(
  response: Pick<HttpResponse, 'chunks' | 'finish'>,
  limits: { readonly maxMs?: number } = {},
): Promise<string> {
  const timer = setTimeout(() => response.finish(0), limits.maxMs ?? BODY_MS);
  let text = '';
  try {
    for await (const chunk of response.chunks) {
      text += chunk;
      if (text.length > MAX_BODY_CHARS) break;
    }
  } finally {
    clearTimeout(timer);
  }
  return text;
}
