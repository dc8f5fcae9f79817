import { type HttpStream, httpStream } from '../env/http.js';
import { isLast, oneByOne, upToLast } from './bunched.js';
import type { ModelClient, ModelEvent, ModelRequest } from './client.js';
import { ABORTED, type FailureContext, failureOfStatus, failureOfTransport } from './failures.js';
import { DEFAULT_IDLE_TIMEOUT_MS, FINISH_GRACE_MS, readAll } from './http-reading.js';
import { ChatBody, type ChatBodyOptions } from './openai-body.js';
import { ChatReader } from './openai-reader.js';

export interface OpenAiOptions extends ChatBodyOptions {
  /** With its `/v1` or whatever stands before `/chat/completions`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly userAgent: string;
  readonly customHeaders?: Readonly<Record<string, string>>;
  readonly idleTimeoutMs?: number;
  readonly http?: HttpStream;
  /** Ids for tool calls and answers of servers that send none. */
  readonly newId?: () => string;
}

/** A client of any server that speaks OpenAI's chat completions. */
export function openAiClient(options: OpenAiOptions): ModelClient {
  const http = options.http ?? httpStream;
  const body = new ChatBody(options);
  const newId = options.newId ?? randomId;
  const context: FailureContext = {
    baseUrl: options.baseUrl,
    baseUrlVariable: 'PORTCULLIS_OPENAI_BASE_URL or OPENAI_BASE_URL',
    keyVariables: ['OPENAI_API_KEY'],
    hasKey: options.apiKey !== undefined,
  };

  async function* answer(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ModelEvent[]> {
    try {
      const response = await http({
        url: `${options.baseUrl}/chat/completions`,
        method: 'POST',
        headers: headersOf(options),
        body: body.chunks(request),
        signal,
        idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
      });
      if (response.status < 200 || response.status > 299) {
        const text = await readAll(response.chunks);
        const refusal = { ...response, body: text, model: request.model, now: Date.now() };
        yield [{ type: 'failure', failure: failureOfStatus(refusal, context) }];
        return;
      }
      const requestId = response.headers['x-request-id'];
      const reader = new ChatReader({ model: request.model, newId, context, requestId });
      for await (const chunk of response.chunks) {
        const bunch = upToLast([...reader.push(chunk)]);
        yield bunch;
        if (isLast(bunch.at(-1))) return;
        if (reader.sawDone) {
          response.finish(FINISH_GRACE_MS);
          break;
        }
      }
      if (signal.aborted) throw signal.reason;
      yield [...reader.end()];
    } catch (thrown) {
      const failure = signal.aborted ? ABORTED : failureOfTransport(thrown, context);
      yield [{ type: 'failure', failure }];
    }
  }

  return {
    provider: 'openai-compatible',
    stream: (request, signal) => oneByOne(answer(request, signal), signal),
  };
}

function headersOf(options: OpenAiOptions): Record<string, string> {
  return {
    accept: 'text/event-stream',
    'content-type': 'application/json',
    'user-agent': options.userAgent,
    ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
    ...options.customHeaders,
  };
}

function randomId(): string {
  return `call_${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`;
}
