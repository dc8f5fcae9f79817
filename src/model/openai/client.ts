import type { ModelClient } from '../client.js';
import type { FailureContext } from '../failures.js';
import { type ClientOptions, streamAnswer } from '../stream/answer.js';
import { ChatTranslator } from './events.js';
import { chatRequest } from './request.js';

/** `baseUrl` is everything before `/chat/completions`, `/v1` included. */
interface OpenAiOptions extends ClientOptions {
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
        createTranslator: (requestId) =>
          new ChatTranslator({ model: request.model, newId, requestId }),
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
