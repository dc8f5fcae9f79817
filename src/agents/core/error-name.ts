import type { FailureKind, ModelFailure } from '../../model/client.js';

/** The names of failed model calls that StopFailure hooks match on. */
const NAMES = {
  authentication: 'authentication_failed',
  billing: 'billing_error',
  rate_limit: 'rate_limit',
  overloaded: 'overloaded',
  server: 'server_error',
  invalid_request: 'invalid_request',
  prompt_too_long: 'invalid_request',
  model_not_found: 'model_not_found',
  connection: 'server_error',
  timeout: 'server_error',
  bad_response: 'unknown',
  aborted: 'unknown',
} as const satisfies Record<FailureKind, string>;

export function errorName({ kind }: Pick<ModelFailure, 'kind'>): (typeof NAMES)[FailureKind] {
  return NAMES[kind];
}
