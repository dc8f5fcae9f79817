import { type HttpStream, httpStream } from '../../platform/http/http.js';
import type { ModelClient } from '../client.js';
import type { FailureContext } from '../failures.js';
import { DEFAULT_IDLE_TIMEOUT_MS, streamAnswer } from '../stream/answer.js';
import { ChatReader } from './reader.js';
import { type ChatRequestOptions, chatRequest } from './request.js';

export interface OpenAiOptions extends ChatRequestOptions {
  /** Everything before `/chat/completions`, `/v1` included. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly userAgent: string;
  readonly customHeaders?: Readonly<Record<string, string>> | undefined;
  readonly idleTimeoutMs?: number | undefined;
  readonly http?: HttpStream | undefined;
  /** Ids for tool calls and answers of servers that send none. */
  readonly newId?: () => string;
}

/** A client of any server that speaks OpenAI's chat completions. */
export function openAiClient(options: OpenAiOptions): ModelClient {
  const http = options.http ?? httpStream;
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
        send: () =>
          http({
            url: `${options.baseUrl}/chat/completions`,
            method: 'POST',
            headers: headersOf(options),
            body: chatRequest(request, options),
            signal,
            idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
          }),
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
  const headers: Record<string, string> = {
    accept: 'text/event-stream',
    'content-type': 'application/json',
    'user-agent': userAgent,
  };
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`;
  return { ...headers, ...customHeaders };
}

function randomId(): string {
  return `call_${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`;
}
