import type { AuthorizationServerMetadata, OAuthTokens } from '@modelcontextprotocol/client';
import { own } from '../../lib/own.js';
import type { StoredAuth, StoredClient, StoredTokens } from './token-store.js';
import type { Discovered } from './types.js';

/** A token that ends sooner than this is as good as ended: the request has to travel too. */
export const EXPIRY_MARGIN_MS = 30_000;

/** What an authorization server granted, as we keep it. Undefined for a kind of token that we cannot send. */
export function tokensFrom(
  granted: OAuthTokens,
  context: {
    readonly now: number;
    readonly requestedScope?: string | undefined;
    /** For a refresh: what is not said anew still holds. */
    readonly before?: StoredTokens | undefined;
  },
): StoredTokens | undefined {
  // fail-closed: sending another kind as a bearer token would give it away.
  if (granted.token_type.toLowerCase() !== 'bearer') return undefined;
  const { before, now } = context;
  const refreshToken = granted.refresh_token ?? before?.refreshToken;
  const scope = granted.scope ?? before?.scope;
  const requestedScope = context.requestedScope ?? before?.requestedScope;
  const seconds = granted.expires_in;
  return {
    accessToken: granted.access_token,
    refreshToken,
    scope,
    requestedScope,
    expiresAt: seconds === undefined ? undefined : now + seconds * 1000,
  };
}

export function isExpired(tokens: StoredTokens, now: number): boolean {
  return tokens.expiresAt !== undefined && tokens.expiresAt - EXPIRY_MARGIN_MS <= now;
}

/** Everything a later refresh needs, so that it goes nowhere but where the tokens came from. */
export function authRecord(
  name: string,
  found: Discovered,
  parts: { readonly client: StoredClient; readonly tokens?: StoredTokens },
): StoredAuth {
  const methods = found.metadata?.token_endpoint_auth_methods_supported;
  const revocationEndpoint: unknown = own(found.metadata ?? {}, 'revocation_endpoint');
  return {
    name,
    issuer: found.issuer,
    authorizationServer: found.authorizationServer,
    tokenEndpoint:
      found.metadata?.token_endpoint ?? new URL('/token', found.authorizationServer).href,
    ...(typeof revocationEndpoint === 'string' ? { revocationEndpoint } : {}),
    ...(methods === undefined ? {} : { authMethods: methods }),
    resource: found.resource,
    ...parts,
  };
}

/** As much metadata as a refresh reads. */
export function refreshMetadata(stored: StoredAuth): AuthorizationServerMetadata {
  return {
    issuer: stored.issuer,
    authorization_endpoint: stored.tokenEndpoint,
    token_endpoint: stored.tokenEndpoint,
    response_types_supported: ['code'],
    token_endpoint_auth_methods_supported:
      stored.authMethods === undefined ? undefined : [...stored.authMethods],
  };
}
