import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import type { ModelClient, ModelEvent, ModelFailure, StreamEvent } from '../client.js';
import {
  badResponse,
  type FailureContext,
  failureOfErrorObject,
  incompleteAnswer,
  sample,
} from '../failures.js';
import {
  type AnswerParser,
  type ClientOptions,
  MAX_BODY_CHARS,
  streamAnswer,
} from '../stream/answer.js';
import { SseParser } from '../stream/sse.js';
import { type AnthropicRequestOptions, anthropicRequest } from './request.js';

/** `baseUrl` is without `/v1`. */
export interface AnthropicOptions extends AnthropicRequestOptions, ClientOptions {
  readonly authToken?: string | undefined;
  /** Sent with every request, beside the request's own. */
  readonly betas?: readonly string[] | undefined;
}

/** A client of the Anthropic Messages API, always streaming. */
export function anthropicClient(options: AnthropicOptions): ModelClient {
  const context = contextOf(options);
  return {
    provider: 'anthropic',
    stream: (request, signal) =>
      streamAnswer({
        options,
        path: '/v1/messages',
        headers: headersOf(options, request.betas),
        body: () => anthropicRequest(request, options),
        requestIdHeader: 'request-id',
        createParser: (requestId) =>
          new AnthropicEvents({ context, model: request.model, requestId }),
        model: request.model,
        signal,
        context,
      }),
  };
}

function headersOf(options: AnthropicOptions, own: readonly string[] = []): Record<string, string> {
  const { apiKey, authToken, customHeaders } = options;
  const headers: Record<string, string> = {
    'anthropic-version': '2023-06-01',
    'user-agent': options.userAgent,
  };
  if (apiKey !== undefined) headers['x-api-key'] = apiKey;
  if (authToken !== undefined) headers.authorization = `Bearer ${authToken}`;
  Object.assign(headers, customHeaders);
  const betas = new Set([...(options.betas ?? []), ...own]);
  if (betas.size > 0) {
    headers['anthropic-beta'] = [headers['anthropic-beta'] ?? [], ...betas].flat().join(',');
  }
  return headers;
}

function contextOf(options: AnthropicOptions): FailureContext {
  const token = options.apiKey === undefined && options.authToken !== undefined;
  return {
    baseUrl: options.baseUrl,
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    keyVariables: token
      ? ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY']
      : ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
    hasKey: options.apiKey !== undefined || options.authToken !== undefined,
  };
}

interface Options {
  readonly context: FailureContext;
  readonly model: string;
  readonly requestId: string | undefined;
}

/** Turns the text of a Messages API stream into events. Whatever is wrong becomes one failure. */
export class AnthropicEvents implements AnswerParser {
  readonly #options: Options;
  readonly #parser = new SseParser();
  #started = false;

  constructor(options: Options) {
    this.#options = options;
  }

  *push(text: string): Generator<ModelEvent> {
    for (const data of this.#parser.push(text)) yield* this.#events(data);
    if ((this.#parser.document?.length ?? 0) > MAX_BODY_CHARS) yield* this.end();
  }

  /** The body ended without `message_stop`. */
  *end(): Generator<ModelEvent> {
    const { document } = this.#parser;
    if (document !== undefined) {
      yield failure(this.#documentFailure(document));
      return;
    }
    for (const data of this.#parser.end()) if (parseJson(data).ok) yield* this.#events(data);
    const { context, requestId } = this.#options;
    const stream = { isStarted: this.#started, unknown: this.#parser.unknown };
    yield failure(incompleteAnswer(stream, context, requestId));
  }

  *#events(data: string): Generator<ModelEvent> {
    const parsed = parseJson(data);
    if (!parsed.ok || !isRecord(parsed.value)) {
      yield failure(this.#malformed(data, parsed.ok ? 'not an object' : parsed.error));
      return;
    }
    const event = parsed.value;
    if (event.type === 'error') {
      const { model, requestId, context } = this.#options;
      yield failure(failureOfErrorObject(event.error ?? event, { model, requestId }, context));
      return;
    }
    const check = typeof event.type === 'string' ? PROBLEMS.get(event.type) : undefined;
    const problem = check === undefined ? 'ignore' : check(event);
    if (problem === 'ignore') return;
    if (problem !== undefined) yield failure(this.#malformed(data, problem));
    else if (event.type === 'message_start') yield this.#start(event);
    // Checked by the table just above.
    else yield event as unknown as StreamEvent;
  }

  #start(event: Record<string, unknown>): ModelEvent {
    this.#started = true;
    const given = isRecord(event.message) ? event.message : {};
    const { requestId, model } = this.#options;
    const message = {
      ...given,
      id: typeof given.id === 'string' ? given.id : '',
      model: typeof given.model === 'string' ? given.model : model,
      usage: isRecord(given.usage) ? given.usage : {},
    };
    return { type: 'message_start', message, requestId };
  }

  #malformed(data: string, reason: string): ModelFailure {
    return badResponse(
      `an event of the stream cannot be read (${sample(reason)}): ${sample(data)}`,
      this.#options.context,
      { retryable: this.#started, requestId: this.#options.requestId },
    );
  }

  #documentFailure(text: string): ModelFailure {
    const { context, model, requestId } = this.#options;
    const parsed = parseJson(text);
    if (parsed.ok && isRecord(parsed.value) && parsed.value.error !== undefined) {
      return failureOfErrorObject(parsed.value, { model, requestId }, context);
    }
    const what = text.trimStart().startsWith('<') ? 'a web page' : 'an answer that is not a stream';
    return badResponse(`the server sent ${what}: ${sample(text)}`, context, { requestId });
  }
}

function failure(of: ModelFailure): ModelEvent {
  return { type: 'failure', failure: of };
}

const KNOWN_DELTAS: ReadonlySet<unknown> = new Set([
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
]);

type Check = (event: Record<string, unknown>) => string | undefined;

/** What is wrong with an event of each kind; undefined: nothing. Kinds that are not listed are skipped. */
const PROBLEMS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['message_start', ({ message }) => (isRecord(message) ? undefined : 'no message')],
  [
    'content_block_start',
    ({ index, content_block: block }) =>
      typeof index === 'number' && isRecord(block) && typeof block.type === 'string'
        ? undefined
        : 'no index or content block',
  ],
  [
    'content_block_delta',
    ({ index, delta }) => {
      if (typeof index !== 'number' || !isRecord(delta)) return 'no index or delta';
      return KNOWN_DELTAS.has(delta.type) ? undefined : 'ignore';
    },
  ],
  ['content_block_stop', ({ index }) => (typeof index === 'number' ? undefined : 'no index')],
  ['message_delta', ({ delta }) => (isRecord(delta) ? undefined : 'no delta')],
  ['message_stop', () => undefined],
  ['ping', () => undefined],
]);
