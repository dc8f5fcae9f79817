import { shellWord } from '../../lib/text/shell-word.js';
import { visible } from '../../lib/text/visible.js';
import { RefusedAddress } from './guarded-fetch.js';
import { type AuthFailure, ServerAuthError } from './types.js';

export function needsAuth(name: string, reason: string): AuthFailure {
  return {
    kind: 'needs-auth',
    message: `MCP server "${visible(name)}" needs you to sign in: ${reason}. Run: portcullis mcp auth ${visible(shellWord(name))}`,
  };
}

export function authFailed(name: string, reason: string): AuthFailure {
  return {
    kind: 'failed',
    message: `MCP server "${visible(name)}" could not be authorized: ${reason}.`,
  };
}

/** Finds the `ServerAuthError` in the chain of causes that the library wraps around it. */
export function failureInside(thrown: unknown): AuthFailure | undefined {
  let current = thrown;
  for (let depth = 0; depth < 8 && current instanceof Error; depth++) {
    if (current instanceof ServerAuthError) return current.failure;
    current = current.cause;
  }
  return undefined;
}

/**
 * Describes a failure of the authorization server in one line of our own words and short codes: error texts
 * may quote tokens.
 */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof RefusedAddress) return thrown.message;
  if (!(thrown instanceof Error)) return 'unknown reason';
  if (thrown.name === 'IssuerMismatchError') {
    return 'the authorization server calls itself by another name than expected (issuer mismatch)';
  }
  if (thrown.name === 'InsecureTokenEndpointError') return 'its token endpoint is not https';
  if (thrown.name === 'RegistrationRejectedError') {
    return 'the authorization server does not register clients like us; set oauth.clientId in the entry';
  }
  if (/does not support dynamic client registration/i.test(thrown.message)) {
    return 'the authorization server does not register clients by itself; set oauth.clientId in the entry';
  }
  if (/^Incompatible auth server/.test(thrown.message)) {
    return 'the authorization server does not support what is needed (code with PKCE S256)';
  }
  const code = oauthCodeOf(thrown);
  if (code !== undefined) return `the authorization server answered "${code}"`;
  if (thrown.name === 'TimeoutError') return 'the authorization server did not answer in time';
  if (thrown.name === 'AbortError') return 'it was given up';
  if (isUnreachable(thrown)) return 'the authorization server cannot be reached';
  return 'the authorization server gave an answer that makes no sense';
}

/** Our client reports a missing answer as `HttpError`, the built-in fetch as `TypeError`. */
export function isUnreachable(thrown: unknown): boolean {
  return thrown instanceof TypeError || (thrown instanceof Error && thrown.name === 'HttpError');
}

/** Returns only well-formed OAuth codes such as `invalid_grant`. */
export function oauthCodeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || thrown.name !== 'OAuthError' || !('code' in thrown)) {
    return undefined;
  }
  const { code } = thrown;
  return typeof code === 'string' && /^[a-z_]{3,40}$/.test(code) ? code : undefined;
}
