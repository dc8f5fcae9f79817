import { messageOf } from '../errors.js';
import { parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';
import { HttpError } from '../platform/http/http-error.js';
import type { FailureKind, ModelFailure } from './client.js';

/** What a failure's remedy may name. */
export interface FailureContext {
  readonly baseUrl: string;
  /** `ANTHROPIC_BASE_URL` …: where the address was set. */
  readonly baseUrlVariable: string;
  /** The variables that the credentials come from, the one in use first. */
  readonly keyVariables: readonly string[];
  readonly hasKey: boolean;
}

const SAMPLE_CHARS = 200;

/** The beginning of something that was received, on one line, for a message. */
export function sample(text: string): string {
  const line = text.slice(0, SAMPLE_CHARS).replace(/\s+/g, ' ').trim();
  return text.length > SAMPLE_CHARS ? `${line}…` : line;
}

/** An HTTP answer with a status other than 2xx. */
export function failureOfStatus(
  answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly model: string;
    readonly now: number;
  },
  context: FailureContext,
): ModelFailure {
  const { status, headers } = answer;
  const error = errorIn(answer.body);
  const message = error?.message ?? (answer.body.trim() === '' ? 'no text' : sample(answer.body));
  const kind = kindOf({ status, type: error?.type, message, fromApi: error !== undefined });
  const requestId = headers['request-id'] ?? headers['x-request-id'] ?? error?.requestId;
  const shouldRetry = headers['x-should-retry'];
  return {
    kind,
    status,
    message: `${status}: ${message}`,
    remedy: remedyFor(kind, { ...context, model: answer.model }),
    retryable: shouldRetry === undefined ? isRetryable(kind, status) : shouldRetry === 'true',
    retryAfterMs: retryAfterMs(headers, answer.now),
    requestId,
  };
}

/** An error object that arrived inside a stream whose status was 200. */
export function failureOfErrorObject(
  error: unknown,
  options: { readonly model: string; readonly requestId?: string | undefined },
  context: FailureContext,
): ModelFailure {
  const found = errorFields(error);
  const message = found?.message ?? sample(JSON.stringify(error) ?? 'an error without text');
  const status = found?.status ?? STATUS_BY_TYPE.get(found?.type ?? '');
  const kind = kindOf({ status: status ?? 500, type: found?.type, message, fromApi: true });
  return {
    kind,
    status,
    message: found?.type === undefined ? message : `${found.type}: ${message}`,
    remedy: remedyFor(kind, { ...context, model: options.model }),
    retryable: isRetryable(kind, status ?? 500),
    requestId: options.requestId,
  };
}

/** The connection failed, before or in the middle of the answer. */
export function failureOfTransport(thrown: unknown, context: FailureContext): ModelFailure {
  if (!(thrown instanceof HttpError)) {
    return { kind: 'connection', message: messageOf(thrown), retryable: false };
  }
  const { kind, message, waitedMs } = thrown;
  if (kind === 'aborted') return ABORTED;
  if (kind === 'timeout') return { kind, message, retryable: true, waitedMs };
  const address = `Check ${context.baseUrlVariable} (now ${context.baseUrl})`;
  const remedies: Partial<Record<typeof kind, string>> = {
    refused: `${address} and that the server runs.`,
    dns: `${address} and the network connection.`,
    tls: `If a proxy of your organisation re-encrypts traffic, point NODE_EXTRA_CA_CERTS to its certificate.`,
    protocol: `${address}: is it https instead of http, or another port?`,
    proxy: 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.',
    invalid_url: `${address}.`,
  };
  const permanent = kind === 'tls' || kind === 'invalid_url' || kind === 'proxy';
  return {
    kind: 'connection',
    message,
    remedy: remedies[kind],
    retryable: !permanent && kind !== 'protocol',
  };
}

export const ABORTED: ModelFailure = {
  kind: 'aborted',
  message: 'the request was aborted',
  retryable: false,
};

/** The server answered 200 with something that is not the stream we asked for. */
export function badResponse(
  what: string,
  context: FailureContext,
  options: { readonly retryable?: boolean; readonly requestId?: string | undefined } = {},
): ModelFailure {
  return {
    kind: 'bad_response',
    message: what,
    remedy: `Check that ${context.baseUrlVariable} (now ${context.baseUrl}) is the address of a model API.`,
    retryable: options.retryable ?? false,
    requestId: options.requestId,
  };
}

/** The body ended before the answer was complete. `unknown`: what came instead of server-sent events. */
export function incompleteAnswer(
  stream: { readonly isStarted: boolean; readonly unknown: string },
  context: FailureContext,
  requestId: string | undefined,
): ModelFailure {
  const { isStarted, unknown } = stream;
  if (!isStarted && unknown !== '') {
    const what = `the server sent no event stream but: ${sample(unknown)}`;
    return badResponse(what, context, { requestId });
  }
  const message = isStarted
    ? 'the stream ended in the middle of the answer'
    : 'the server closed the stream without an answer';
  return { kind: 'connection', message, retryable: true, requestId };
}

interface ErrorFields {
  readonly type: string | undefined;
  readonly message: string;
  readonly status?: number;
  readonly requestId?: string;
}

function errorIn(body: string): ErrorFields | undefined {
  const parsed = parseJson(body);
  if (!parsed.ok) return undefined;
  const fields = errorFields(parsed.value);
  const id = isRecord(parsed.value) ? parsed.value.request_id : undefined;
  return fields && typeof id === 'string' ? { ...fields, requestId: id } : fields;
}

/** `{error:{type,message}}`, `{error:"…"}`, `{message}`, or a bare error object. */
function errorFields(value: unknown): ErrorFields | undefined {
  if (!isRecord(value)) return undefined;
  const inner = 'error' in value ? value.error : value;
  if (typeof inner === 'string') return { type: undefined, message: inner };
  if (!isRecord(inner)) return undefined;
  const message = inner.message ?? inner.detail;
  if (typeof message !== 'string') return undefined;
  const named = typeof inner.type === 'string' ? inner.type : undefined;
  const type = named ?? (typeof inner.code === 'string' ? inner.code : undefined);
  return typeof inner.code === 'number' ? { type, message, status: inner.code } : { type, message };
}

const STATUS_BY_TYPE: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['server_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

const TOO_LONG =
  /prompt is too long|context[_ ](length|window|size)|maximum context|too many (input )?tokens|exceed\w* .{0,40}(context|token limit)|input length and `?max_tokens|request too large/i;
const BILLING = /credit balance|billing|insufficient_quota|exceeded your current quota|payment/i;

function kindOf(error: {
  readonly status: number;
  readonly type: string | undefined;
  readonly message: string;
  readonly fromApi: boolean;
}): FailureKind {
  const { status, type, message } = error;
  if (type === 'overloaded_error' || status === 529) return 'overloaded';
  if (status === 401 || status === 403) return 'authentication';
  if (status === 413) return 'prompt_too_long';
  if (status === 402) return 'billing';
  if (status === 429)
    return /insufficient_quota/.test(`${type} ${message}`) ? 'billing' : 'rate_limit';
  if (status === 404)
    return error.fromApi && /model/i.test(message) ? 'model_not_found' : 'bad_response';
  if (status >= 500 || status === 408 || status === 409) return 'server';
  if (status >= 300 && status < 400) return 'bad_response';
  if (TOO_LONG.test(message) || type === 'context_length_exceeded') return 'prompt_too_long';
  if (BILLING.test(message) || type === 'billing_error') return 'billing';
  if (type === 'model_not_found') return 'model_not_found';
  return 'invalid_request';
}

function isRetryable(kind: FailureKind, status: number): boolean {
  if (kind === 'rate_limit' || kind === 'overloaded') return true;
  // 501 and 505 say that asking again will not help.
  return kind === 'server' && status !== 501 && status !== 505;
}

function remedyFor(
  kind: FailureKind,
  context: FailureContext & { readonly model: string },
): string | undefined {
  const { baseUrl, keyVariables } = context;
  switch (kind) {
    case 'authentication':
      return context.hasKey
        ? `Check ${keyVariables[0] ?? 'the key'}: the server at ${baseUrl} does not accept it.`
        : `Set ${keyVariables.join(' or ')}.`;
    case 'billing':
      return 'Check the credit and the billing settings of the account that owns the key.';
    case 'model_not_found':
      return `Choose a model that the server at ${baseUrl} offers; it does not know "${context.model}".`;
    case 'bad_response':
      return `Check that ${context.baseUrlVariable} (now ${baseUrl}) is the address of a model API.`;
    case 'prompt_too_long':
      return 'Shorten the conversation (compact it) or choose a model with a larger context window.';
    case 'rate_limit':
      return 'Wait, or ask the provider for a higher limit.';
    default:
      return undefined;
  }
}

/** How long the server asks us to wait, from `retry-after-ms` or `retry-after` (seconds or a date). */
function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const exact = numeric(headers['retry-after-ms']);
  if (exact !== undefined) return Math.ceil(exact);
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const seconds = numeric(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numeric(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}
