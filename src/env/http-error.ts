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

/** Why no answer, or no whole answer, came. The message names the host and is safe to show. */
export class HttpError extends Error {
  readonly kind: HttpErrorKind;
  readonly code: string | undefined;
  /** The connection was an old one that the server had already given up: nobody saw the request. */
  readonly staleSocket: boolean;
  /** How long no answer began; undefined for every other failure. */
  readonly waitedMs: number | undefined;

  constructor(
    kind: HttpErrorKind,
    message: string,
    options: { code?: string; cause?: unknown; staleSocket?: boolean; waitedMs?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HttpError';
    this.kind = kind;
    this.code = options.code;
    this.staleSocket = options.staleSocket ?? false;
    this.waitedMs = options.waitedMs;
  }
}
