import { systemCodeOf } from '../errors.js';
import type { Break } from './http-connection.js';
import { HttpError, type HttpErrorKind } from './http-error.js';

const KIND_BY_CODE: Readonly<Record<string, HttpErrorKind>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EPROTO: 'tls',
};

export interface Circumstances {
  readonly target: URL;
  readonly idleTimeoutMs: number;
  /** The connection was an old one, and nothing was answered. */
  readonly isStale: boolean;
  /** The head of an answer has arrived. */
  readonly isAnswered: boolean;
}

/** What became of a request whose connection broke. */
export function failureOf(
  how: Break,
  { target, idleTimeoutMs, isStale, isAnswered }: Circumstances,
): HttpError {
  const { host } = target;
  switch (how.kind) {
    case 'closed':
      return new HttpError('reset', `${host} closed the connection`, { staleSocket: isStale });
    case 'silent':
      return new HttpError(
        'timeout',
        `${host} sent nothing for ${idleTimeoutMs / 1000} s`,
        isAnswered ? {} : { waitedMs: idleTimeoutMs },
      );
    case 'fault':
      return new HttpError('protocol', `${host} does not speak HTTP here: ${how.reason}`);
    case 'error':
      return failureOfError(how.error, target, { isStale });
  }
}

function failureOfError(error: Error, target: URL, options: { isStale: boolean }): HttpError {
  if (error instanceof HttpError) return error;
  const code = systemCodeOf(error);
  const kind = code === undefined ? 'other' : (KIND_BY_CODE[code] ?? kindByPrefix(code));
  return new HttpError(kind, describe(kind, error, target), {
    ...(code === undefined ? {} : { code }),
    cause: error,
    staleSocket: options.isStale && kind === 'reset',
  });
}

function kindByPrefix(code: string): HttpErrorKind {
  return /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH)/.test(code)
    ? 'tls'
    : 'other';
}

function describe(kind: HttpErrorKind, error: Error, target: URL): string {
  const { host } = target;
  switch (kind) {
    case 'refused':
      return `nothing listens at ${host} (connection refused)`;
    case 'dns':
      return `the name ${target.hostname} could not be resolved`;
    case 'reset':
      return `${host} closed the connection`;
    case 'tls':
      return `no trusted TLS connection to ${host}: ${error.message}`;
    default:
      // An aggregate of failed addresses has an empty message of its own.
      return `the request to ${host} failed: ${error.message || (systemCodeOf(error) ?? error.name)}`;
  }
}
