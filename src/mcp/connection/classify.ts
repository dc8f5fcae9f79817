import { isRecord } from '../../lib/own.js';
import { HttpError, type HttpErrorKind, networkErrorKind } from '../../platform/http/http-error.js';
import { SocketRefused } from '../../platform/http/web-socket.js';
import type { LineProcessEnd } from '../../platform/process/process.js';
import { failureInside } from '../auth/failure.js';
import type { AuthFailure } from '../auth/types.js';
import type { McpLibrary } from './library.js';

/** Carries a `Failure` through the library, thrown or as the data of an error response. */
export class Failed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.kind);
    this.failure = failure;
  }
}

/** Creates a protocol violation by the server; `said` must be safe to show. */
export function breach(said?: string): Failed {
  return new Failed({ kind: 'protocol', said });
}

/** What went wrong, derived from everything that transports and the library throw. */
export type Failure =
  /** The server answered with a JSON-RPC error. */
  | {
      readonly kind: 'rpc';
      readonly code: number;
      readonly message: string;
      readonly data: unknown;
    }
  /** The server refused the message with an HTTP status; `isSessionGone` when it no longer knows the session. */
  | { readonly kind: 'http'; readonly status: number; readonly isSessionGone: boolean }
  /** `isOwn`: the configured credentials were refused, so a sign-in would not help. */
  | {
      readonly kind: 'auth';
      readonly isOwn: boolean;
      readonly message?: string | undefined;
      /** The token is valid but lacks a scope, which the server may not name. */
      readonly lacks?: { readonly scope: string | undefined };
    }
  /** Authorization failed and a sign-in would not help. The message is safe to show. */
  | { readonly kind: 'auth-failed'; readonly message: string }
  | { readonly kind: 'network'; readonly network: HttpErrorKind }
  /** The child of a stdio server exited or did not start; `program` is its command. */
  | {
      readonly kind: 'ended';
      readonly end: LineProcessEnd;
      readonly program?: string;
    }
  /** The channel closed before the answer, or the host that relays messages did not answer. */
  | { readonly kind: 'closed' }
  /** The channel rejected the message. */
  | { readonly kind: 'not-sent' }
  | { readonly kind: 'timeout' }
  /** The headers helper failed. The message is safe to show. */
  | { readonly kind: 'headers'; readonly message: string }
  /** The server sent a message over the size limit. */
  | { readonly kind: 'too-long' }
  /** We cancelled the request and told the server; `text` is for people. */
  | {
      readonly kind: 'stopped';
      readonly code: 'aborted' | 'call-timeout' | 'idle-timeout';
      readonly text: string;
    }
  /** The server flooded us and was disconnected. The message is safe to show. */
  | { readonly kind: 'flooded'; readonly message: string }
  /** The server violated the protocol; `said` describes how and is safe to show. */
  | { readonly kind: 'protocol'; readonly said?: string };

export function classify(library: McpLibrary, thrown: unknown): Failure {
  if (thrown instanceof Failed) return thrown.failure;
  const refusal = failureInside(thrown);
  if (refusal !== undefined) return authFailure(refusal);
  if (thrown instanceof HttpError) return { kind: 'network', network: thrown.kind };
  if (thrown instanceof SocketRefused) return httpStatus(thrown.status, undefined);
  if (thrown instanceof library.ProtocolError) return rpcError(thrown);
  if (thrown instanceof library.InsufficientScopeError) {
    return { kind: 'auth', isOwn: false, lacks: { scope: thrown.requiredScope } };
  }
  if (isAuthError(library, thrown)) return { kind: 'auth', isOwn: false };
  if (thrown instanceof library.SdkHttpError) return httpStatus(thrown.status, thrown.data);
  if (thrown instanceof library.SdkError) return sdkError(library, thrown);
  if (thrown instanceof library.SseError) {
    if (typeof thrown.code === 'number') return httpStatus(thrown.code, undefined);
    return { kind: 'network', network: networkOf(thrown) };
  }
  return plainError(thrown);
}

function authFailure({ kind, message }: AuthFailure): Failure {
  return kind === 'failed'
    ? { kind: 'auth-failed', message }
    : { kind: 'auth', isOwn: false, message };
}

function rpcError(error: { code: number; message: string; data?: unknown }): Failure {
  if (error.data instanceof Failed) return error.data.failure;
  // Older libraries report a closed channel with this code and text.
  if (error.code === -32000 && /^(MCP error -32000: )?connection closed/i.test(error.message)) {
    return { kind: 'closed' };
  }
  return { kind: 'rpc', code: error.code, message: error.message, data: error.data };
}

function isAuthError(library: McpLibrary, thrown: unknown): boolean {
  return (
    thrown instanceof library.UnauthorizedError ||
    thrown instanceof library.OAuthError ||
    thrown instanceof library.OAuthClientFlowError
  );
}

function httpStatus(status: number, data: unknown): Failure {
  if (status === 401) return { kind: 'auth', isOwn: false };
  const text = isRecord(data) && typeof data.text === 'string' ? data.text.slice(0, 4096) : '';
  // Many servers answer 400 where the protocol wants 404; neither has run anything yet.
  const isSessionGone = status === 404 || (status === 400 && /session/i.test(text));
  return { kind: 'http', status, isSessionGone };
}

function sdkError(library: McpLibrary, error: { code: string; data?: unknown }): Failure {
  const { SdkErrorCode } = library;
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return { kind: 'timeout' };
    case SdkErrorCode.ConnectionClosed:
      return { kind: 'closed' };
    case SdkErrorCode.NotConnected:
      return { kind: 'not-sent' };
    case SdkErrorCode.EraNegotiationFailed: {
      const cause = isRecord(error.data) ? error.data.cause : undefined;
      return cause === undefined ? { kind: 'closed' } : classify(library, cause);
    }
    default:
      return { kind: 'protocol' };
  }
}

/** The library's SSE client throws plain errors with the status in their text. */
function plainError(thrown: unknown): Failure {
  if (!(thrown instanceof Error)) return { kind: 'protocol' };
  const posted = /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(thrown.message);
  if (posted?.[1] !== undefined) return httpStatus(Number(posted[1]), { text: thrown.message });
  if (thrown.message === 'Not connected') return { kind: 'not-sent' };
  if (thrown.cause instanceof HttpError) return { kind: 'network', network: thrown.cause.kind };
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  const network = networkErrorKind(code);
  return network === undefined ? { kind: 'protocol' } : { kind: 'network', network };
}

/** An event source keeps only the message of a fetch error, which contains the system's error code. */
function networkOf(error: Error): HttpErrorKind {
  const codes = error.message.match(/\bE[A-Z_]+\b/g) ?? [];
  return codes.map(networkErrorKind).find((kind) => kind !== undefined) ?? 'other';
}
