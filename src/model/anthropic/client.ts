import { isRecord } from '../../lib/own.js';
import type { ModelClient, StreamEvent } from '../client.js';
import type { FailureContext } from '../failures.js';
import { type ClientOptions, streamAnswer } from '../stream/answer.js';
import { MalformedMessage, type StreamTranslator } from '../stream/answer-reader.js';
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
        createTranslator: (requestId) => new MessagesTranslator(request.model, requestId),
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

/** Checks the events of a Messages API stream, which are passed on as they are. */
class MessagesTranslator implements StreamTranslator {
  readonly #model: string;
  readonly #requestId: string | undefined;
  readonly mostUnstreamed = 0;
  started = false;

  constructor(model: string, requestId: string | undefined) {
    this.#model = model;
    this.#requestId = requestId;
  }

  *message(event: Readonly<Record<string, unknown>>): Generator<StreamEvent> {
    const check = typeof event.type === 'string' ? PROBLEMS.get(event.type) : undefined;
    const problem = check === undefined ? 'ignore' : check(event);
    if (problem === 'ignore') return;
    if (problem !== undefined) {
      throw new MalformedMessage(`an event of the stream cannot be read (${problem})`);
    }
    if (event.type === 'message_start') yield this.#start(event);
    // Checked by the table just above.
    else yield event as unknown as StreamEvent;
  }

  /** The last event ends the answer: without it there is nothing to close. */
  end(): undefined {}

  #start(event: Readonly<Record<string, unknown>>): StreamEvent {
    this.started = true;
    const given = isRecord(event.message) ? event.message : {};
    const message = {
      ...given,
      id: typeof given.id === 'string' ? given.id : '',
      model: typeof given.model === 'string' ? given.model : this.#model,
      usage: isRecord(given.usage) ? given.usage : {},
    };
    return { type: 'message_start', message, requestId: this.#requestId };
  }
}

const KNOWN_DELTAS: ReadonlySet<unknown> = new Set([
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
]);

type Check = (event: Readonly<Record<string, unknown>>) => string | undefined;

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
