import { type HttpStream, httpStream } from '../env/http.js';
import { AnthropicAnswer } from './anthropic-answer.js';
import { AnthropicBody, type AnthropicBodyOptions } from './anthropic-body.js';
import { oneByOne } from './bunched.js';
import type { ModelClient, ModelRequest } from './client.js';
import type { FailureContext } from './failures.js';
import { DEFAULT_IDLE_TIMEOUT_MS } from './http-reading.js';

export interface AnthropicOptions extends AnthropicBodyOptions {
  /** Without `/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly authToken?: string;
  /** `portcullis/<version>`. */
  readonly userAgent: string;
  /** From ANTHROPIC_CUSTOM_HEADERS; they win over ours. */
  readonly customHeaders?: Readonly<Record<string, string>>;
  /** Sent with every request, beside the request's own. */
  readonly betas?: readonly string[];
  readonly idleTimeoutMs?: number;
  readonly http?: HttpStream;
}

/** A client of the Anthropic Messages API, always streaming. */
export function anthropicClient(options: AnthropicOptions): ModelClient {
  const http = options.http ?? httpStream;
  const body = new AnthropicBody(options);
  const url = `${options.baseUrl}/v1/messages`;
  const headers = Object.freeze(headersOf(options));
  const context = contextOf(options);
  const idleTimeoutMs = options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS;

  const answerTo = (request: ModelRequest, signal: AbortSignal): AnthropicAnswer =>
    new AnthropicAnswer({
      send: () =>
        http({
          url,
          method: 'POST',
          headers: withBetas(headers, options.betas, request.betas),
          body: body.chunks(request),
          signal,
          idleTimeoutMs,
        }),
      model: request.model,
      signal,
      context,
    });

  return {
    provider: 'anthropic',
    stream: (request, signal) => oneByOne(answerTo(request, signal), signal),
  };
}

function headersOf(options: AnthropicOptions): Record<string, string> {
  return {
    accept: 'text/event-stream',
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'user-agent': options.userAgent,
    ...(options.apiKey === undefined ? {} : { 'x-api-key': options.apiKey }),
    ...(options.authToken === undefined ? {} : { authorization: `Bearer ${options.authToken}` }),
    ...options.customHeaders,
  };
}

function withBetas(
  headers: Readonly<Record<string, string>>,
  always: readonly string[] = [],
  own: readonly string[] = [],
): Readonly<Record<string, string>> {
  if (always.length === 0 && own.length === 0) return headers;
  const betas = [...new Set([...always, ...own])].join(',');
  const custom = headers['anthropic-beta'];
  return { ...headers, 'anthropic-beta': custom === undefined ? betas : `${custom},${betas}` };
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
