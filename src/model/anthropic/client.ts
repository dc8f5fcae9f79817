import { type HttpStream, httpStream } from '../../platform/http/http.js';
import type { ModelClient } from '../client.js';
import type { FailureContext } from '../failures.js';
import { DEFAULT_IDLE_TIMEOUT_MS, streamAnswer } from '../stream/answer.js';
import { AnthropicEvents } from './events.js';
import { type AnthropicRequestOptions, anthropicRequest } from './request.js';

export interface AnthropicOptions extends AnthropicRequestOptions {
  /** Without `/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly authToken?: string | undefined;
  /** `portcullis/<version>`. */
  readonly userAgent: string;
  /** From ANTHROPIC_CUSTOM_HEADERS; they win over ours. */
  readonly customHeaders?: Readonly<Record<string, string>> | undefined;
  /** Sent with every request, beside the request's own. */
  readonly betas?: readonly string[] | undefined;
  readonly idleTimeoutMs?: number | undefined;
  readonly http?: HttpStream | undefined;
}

/** A client of the Anthropic Messages API, always streaming. */
export function anthropicClient(options: AnthropicOptions): ModelClient {
  const http = options.http ?? httpStream;
  const context = contextOf(options);
  return {
    provider: 'anthropic',
    stream: (request, signal) =>
      streamAnswer({
        send: () =>
          http({
            url: `${options.baseUrl}/v1/messages`,
            method: 'POST',
            headers: headersOf(options, request.betas),
            body: anthropicRequest(request, options),
            signal,
            idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
          }),
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
    accept: 'text/event-stream',
    'content-type': 'application/json',
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
