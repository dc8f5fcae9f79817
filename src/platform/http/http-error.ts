import { systemCodeOf } from '../../errors.js';

export type HttpErrorKind =
  | 'refused'
  | 'dns'
  | 'tls'
  | 'reset'
  | 'unreachable'
  | 'timeout'
  | 'protocol'
  | 'proxy'
  | 'invalid_url'
  | 'aborted'
  | 'other';

interface HttpErrorOptions {
  readonly code?: string | undefined;
  readonly cause?: unknown;
  readonly staleSocket?: boolean | undefined;
  readonly waitedMs?: number | undefined;
}

/** Why a response did not arrive, or did not arrive completely. The message names the host and is safe to show. */
export class HttpError extends Error {
  readonly kind: HttpErrorKind;
  readonly code: string | undefined;
  /** The server had already closed this kept-alive connection: it never received the request. */
  readonly staleSocket: boolean;
  /** How long the client waited for a response head; undefined for every other failure. */
  readonly waitedMs: number | undefined;

  constructor(kind: HttpErrorKind, message: string, options: HttpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HttpError';
    this.kind = kind;
    this.code = options.code;
    this.staleSocket = options.staleSocket ?? false;
    this.waitedMs = options.waitedMs;
  }
}

const KIND_BY_CODE: ReadonlyMap<string, HttpErrorKind> = new Map([
  ['ECONNREFUSED', 'refused'],
  ['ENOTFOUND', 'dns'],
  ['EAI_AGAIN', 'dns'],
  ['EAI_FAIL', 'dns'],
  ['ECONNRESET', 'reset'],
  ['ECONNABORTED', 'reset'],
  ['EPIPE', 'reset'],
  ['ERR_STREAM_PREMATURE_CLOSE', 'reset'],
  ['ETIMEDOUT', 'timeout'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
  ['EPROTO', 'tls'],
]);

/** The kind of a system error; undefined: the code says nothing about the network. */
export function networkErrorKind(code: string): HttpErrorKind | undefined {
  return KIND_BY_CODE.get(code);
}

/** Classifies an error of Node's HTTP client. */
export function toHttpError(
  thrown: unknown,
  target: URL,
  options: { readonly mayBeStale?: boolean } = {},
): HttpError {
  if (thrown instanceof HttpError) return thrown;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = systemCodeOf(error);
  const kind = kindOf(code ?? '');
  const staleSocket = options.mayBeStale === true && kind === 'reset';
  return new HttpError(kind, describe(kind, error, target), { code, cause: error, staleSocket });
}

function kindOf(code: string): HttpErrorKind {
  if (code.startsWith('HPE_')) return 'protocol';
  const isTls = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH)/;
  return KIND_BY_CODE.get(code) ?? (isTls.test(code) ? 'tls' : 'other');
}

function describe(kind: HttpErrorKind, error: Error, { host, hostname }: URL): string {
  const code = systemCodeOf(error) ?? '';
  // Some libraries hand on only this text: the code in it keeps the kind recognisable.
  const suffix = /^E(?!RR_)/.test(code) ? ` (${code})` : '';
  switch (kind) {
    case 'refused':
      return `nothing listens at ${host}${suffix}`;
    case 'dns':
      return `the name ${hostname} could not be resolved${suffix}`;
    case 'reset':
      return `${host} closed the connection${suffix}`;
    case 'tls':
      return `no trusted TLS connection to ${host}: ${error.message}`;
    case 'protocol':
      return `${host} sent an invalid HTTP response: ${error.message}`;
    default:
      // An aggregate of failed addresses has an empty message of its own.
      return `the request to ${host} failed: ${error.message || code || error.name}`;
  }
}
