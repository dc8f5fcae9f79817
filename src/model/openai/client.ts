import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import type { ModelClient, ModelEvent, ModelFailure } from '../client.js';
import {
  badResponse,
  type FailureContext,
  failureOfErrorObject,
  incompleteAnswer,
  sample,
} from '../failures.js';
import { type AnswerParser, type ClientOptions, streamAnswer } from '../stream/answer.js';
import { SseParser } from '../stream/sse.js';
import { ChatTranslator } from './events.js';
import { type ChatRequestOptions, chatRequest } from './request.js';

/** `baseUrl` is everything before `/chat/completions`, `/v1` included. */
interface OpenAiOptions extends ChatRequestOptions, ClientOptions {
  readonly baseUrl: string;
  /** Ids for tool calls and answers of servers that send none. */
  readonly newId?: () => string;
}

/** A client of any server that speaks OpenAI's chat completions. */
export function openAiClient(options: OpenAiOptions): ModelClient {
  const newId = options.newId ?? randomId;
  const context: FailureContext = {
    baseUrl: options.baseUrl,
    baseUrlVariable: 'PORTCULLIS_OPENAI_BASE_URL or OPENAI_BASE_URL',
    keyVariables: ['OPENAI_API_KEY'],
    hasKey: options.apiKey !== undefined,
  };
  return {
    provider: 'openai-compatible',
    stream: (request, signal) =>
      streamAnswer({
        options,
        path: '/chat/completions',
        headers: headersOf(options),
        body: () => chatRequest(request, options),
        requestIdHeader: 'x-request-id',
        createParser: (requestId) =>
          new ChatReader({ model: request.model, newId, context, requestId }),
        model: request.model,
        signal,
        context,
      }),
  };
}

function headersOf({ userAgent, apiKey, customHeaders }: OpenAiOptions): Record<string, string> {
  const key = apiKey === undefined ? undefined : { authorization: `Bearer ${apiKey}` };
  return { 'user-agent': userAgent, ...key, ...customHeaders };
}

function randomId(): string {
  return `call_${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`;
}

/** An answer that was not streamed is no longer than this. */
const MAX_ANSWER_CHARS = 64 * 1024 * 1024;

interface ReaderOptions {
  readonly model: string;
  readonly newId: () => string;
  readonly context: FailureContext;
  readonly requestId: string | undefined;
}

/** From the body's text to events; takes streams and answers that were not streamed. */
export class ChatReader implements AnswerParser {
  readonly #options: ReaderOptions;
  readonly #parser = new SseParser();
  readonly #translator: ChatTranslator;
  /** A failure was yielded; nothing may follow. */
  done = false;
  sawEnd = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#translator = new ChatTranslator(options);
  }

  *push(text: string): Generator<ModelEvent> {
    for (const data of this.#parser.push(text)) {
      yield* this.#message(data);
      if (this.done || this.sawEnd) return;
    }
    if ((this.#parser.document?.length ?? 0) > MAX_ANSWER_CHARS) {
      const what = 'the server sends an answer without end';
      yield this.#fail(badResponse(what, this.#options.context));
    }
  }

  /** `[DONE]` came, or the body is over. */
  *end(): Generator<ModelEvent> {
    if (this.done) return;
    const { document } = this.#parser;
    if (document !== undefined) {
      yield* this.#message(document);
      if (this.done) return;
    } else if (!this.sawEnd) {
      for (const data of this.#parser.end()) {
        if (data === '[DONE]' || parseJson(data).ok) yield* this.#message(data);
        if (this.done) return;
      }
    }
    if (this.#translator.finished || (this.sawEnd && this.#translator.started)) {
      yield* this.#translator.end();
      return;
    }
    const { context, requestId } = this.#options;
    const stream = { isStarted: this.#translator.started, unknown: this.#parser.unknown };
    yield this.#fail(incompleteAnswer(stream, context, requestId));
  }

  *#message(data: string): Generator<ModelEvent> {
    if (data.trim() === '[DONE]') {
      this.sawEnd = true;
      return;
    }
    const { context, model, requestId } = this.#options;
    const parsed = parseJson(data);
    if (!parsed.ok || !isRecord(parsed.value)) {
      const what = data.trimStart().startsWith('<')
        ? `the server sent a web page: ${sample(data)}`
        : `a part of the answer cannot be read: ${sample(data)}`;
      const retryable = this.#translator.started;
      yield this.#fail(badResponse(what, context, { retryable, requestId }));
      return;
    }
    const chunk = parsed.value;
    if (chunk.error !== undefined && chunk.error !== null) {
      yield this.#fail(failureOfErrorObject(chunk, { model, requestId }, context));
      return;
    }
    if (chunk.choices === undefined && chunk.usage === undefined) {
      yield this.#fail(
        badResponse(`the answer has no choices: ${sample(data)}`, context, { requestId }),
      );
      return;
    }
    yield* this.#translator.chunk(chunk, { requestId });
  }

  #fail(failure: ModelFailure): ModelEvent {
    this.done = true;
    return { type: 'failure', failure };
  }
}
