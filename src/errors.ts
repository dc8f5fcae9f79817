/** The closed list of error codes. A new failure mode gets a new code, never a reused one. */
export type ErrorCode =
  | 'usage'
  | 'config'
  /** Nothing says which model to use. */
  | 'no_model'
  | 'io'
  | 'model'
  | 'session'
  | 'tool'
  | 'process'
  | 'network'
  | 'aborted'
  /** A hook or a policy said no. */
  | 'denied'
  | 'internal';

/**
 * An expected failure that reached a place where it must be told to a person.
 * `remedy` says what to do about it; both texts are safe to show.
 */
export class PortcullisError extends Error {
  readonly code: ErrorCode;
  readonly remedy: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { remedy?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PortcullisError';
    this.code = code;
    this.remedy = options.remedy;
  }
}

/** Text of anything that was thrown, without a stack. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === 'string' ? thrown : String(thrown);
}

/** `ENOENT` and friends, or undefined when the thrown thing carries no code. */
export function systemCodeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
