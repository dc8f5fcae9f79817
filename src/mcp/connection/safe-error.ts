/**
 * All that the model, receipts and logs ever hear of a server's failure: our own words, with nothing
 * in them of what the server wrote to standard error, of paths, or of secrets.
 */
export type SafeErrorCode =
  | 'connect-failed'
  | 'connect-timeout'
  | 'needs-auth'
  | 'session-lost'
  | 'crashed'
  | 'call-timeout'
  | 'idle-timeout'
  | 'aborted'
  | 'refused'
  | 'protocol'
  | 'server-error'
  | 'not-supported'
  | 'closed';

export interface SafeError {
  readonly code: SafeErrorCode;
  /** For the model and people: names the server, the reason and what helps. */
  readonly message: string;
  /** The call may have run on the server: it must not be repeated by itself. */
  readonly mayHaveRun: boolean;
  /** For people alone: where they must go, for a sign-in or a question by URL. */
  readonly url?: string;
}
