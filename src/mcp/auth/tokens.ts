import type { FetchLike, OAuthTokens } from '@modelcontextprotocol/client';
import { own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import { join } from '../../platform/fs/paths.js';
import type { McpLibrary } from '../connection/library.js';
import { oauthCodeOf, reasonOf } from './failure.js';
import { addressRefusal } from './guarded-fetch.js';
import {
  clientInformation,
  type StoredAuth,
  type StoredClient,
  type StoredTokens,
  type TokenStore,
} from './token-store.js';
import type { DiscoveryResult } from './types.js';

/** Tokens that expire sooner count as expired, because the request takes time too. */
const EXPIRY_MARGIN_MS = 30_000;

/** Converts granted tokens for the store; undefined for an unsupported token type. */
export function tokensFrom(
  granted: OAuthTokens,
  context: {
    readonly now: number;
    readonly requestedScope?: string | undefined;
    /** The previous tokens of a refresh, whose missing fields stay valid. */
    readonly before?: StoredTokens | undefined;
  },
): StoredTokens | undefined {
  // fail-closed: sending another token type as a bearer token would leak it.
  if (granted.token_type.toLowerCase() !== 'bearer') return undefined;
  const { before, now } = context;
  const seconds = granted.expires_in;
  return {
    accessToken: granted.access_token,
    refreshToken: granted.refresh_token ?? before?.refreshToken,
    scope: granted.scope ?? before?.scope,
    requestedScope: context.requestedScope ?? before?.requestedScope,
    expiresAt: seconds === undefined ? undefined : now + seconds * 1000,
  };
}

export function isExpired(tokens: StoredTokens, now: number): boolean {
  return tokens.expiresAt !== undefined && tokens.expiresAt - EXPIRY_MARGIN_MS <= now;
}

/** Stores everything that a refresh needs, so that it contacts only the issuing server. */
export function authRecord(
  name: string,
  found: DiscoveryResult,
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
    revocationEndpoint: typeof revocationEndpoint === 'string' ? revocationEndpoint : undefined,
    authMethods: methods,
    resource: found.resource,
    ...parts,
  };
}

export interface RefreshContext {
  readonly library: () => Promise<McpLibrary>;
  readonly store: TokenStore;
  readonly key: string;
  readonly serverUrl: string;
  readonly stateDirectory: string;
  readonly fetch: FetchLike;
  readonly now: () => number;
}

/** `void`: only a person can help. `unreachable`: a retry may work. */
export interface RefreshFailure {
  readonly kind: 'void' | 'unreachable';
  readonly reason: string;
}

/** Longer than a token request may take. */
const LOCK = { staleMs: 60_000, waitMs: 45_000 };

/**
 * Replaces the tokens that include the access token `used`. Refresh tokens are often single-use, so one
 * program refreshes under a lock and the others read its result.
 */
export async function refreshShared(
  context: RefreshContext,
  used: string | undefined,
): Promise<Result<string, RefreshFailure>> {
  const lock = join(context.stateDirectory, `mcp-refresh-${context.key}.lock`);
  try {
    const done = await withFileLock(lock, LOCK, () => refreshUnlessDone(context, used));
    return done?.value ?? later('another program is renewing its token');
  } catch {
    // fail-closed: without the lock two programs could use the same refresh token.
    return later('the state directory cannot be written');
  }
}

function later(reason: string): Result<never, RefreshFailure> {
  return err({ kind: 'unreachable', reason });
}

function gone(reason: string): Result<never, RefreshFailure> {
  return err({ kind: 'void', reason });
}

async function refreshUnlessDone(
  context: RefreshContext,
  used: string | undefined,
): Promise<Result<string, RefreshFailure>> {
  const read = await context.store.read(context.key);
  if (!read.ok) return gone(read.error);
  const stored = read.value;
  const { tokens } = stored ?? {};
  if (tokens !== undefined && tokens.accessToken !== used) return ok(tokens.accessToken);
  if (stored === undefined || tokens?.refreshToken === undefined) {
    return gone('there is no token that could be renewed');
  }
  return await requestRefresh(context, stored, tokens.refreshToken);
}

async function requestRefresh(
  context: RefreshContext,
  stored: StoredAuth,
  refreshToken: string,
): Promise<Result<string, RefreshFailure>> {
  const { store, key } = context;
  // fail-closed: the file may have changed since the address was checked.
  const refusal = addressRefusal(stored.tokenEndpoint, context.serverUrl);
  if (refusal !== undefined) return gone(refusal);
  const library = await context.library();
  try {
    const granted = await library.refreshAuthorization(stored.authorizationServer, {
      // Only the fields that a refresh reads.
      metadata: {
        issuer: stored.issuer,
        authorization_endpoint: stored.tokenEndpoint,
        token_endpoint: stored.tokenEndpoint,
        response_types_supported: ['code'],
        token_endpoint_auth_methods_supported: stored.authMethods && [...stored.authMethods],
      },
      clientInformation: clientInformation(stored.client),
      refreshToken,
      resource: stored.resource,
      fetchFn: context.fetch,
    });
    const tokens = tokensFrom(granted, { now: context.now(), before: stored.tokens });
    if (tokens === undefined)
      return gone('the authorization server gave a token of an unknown kind');
    const written = await store.write(key, { ...stored, tokens });
    return written.ok ? ok(tokens.accessToken) : gone(written.error);
  } catch (thrown) {
    const code = oauthCodeOf(thrown);
    if (code === undefined || code === 'server_error' || code === 'temporarily_unavailable') {
      return later(reasonOf(thrown));
    }
    // The refresh token is invalid, so all tokens are deleted.
    const { tokens: _void, ...rest } = stored;
    await store.write(key, rest);
    return gone(code === 'invalid_grant' ? 'the earlier sign-in is over' : reasonOf(thrown));
  }
}

/** The person waits for the sign-out. */
const PATIENCE_MS = 10_000;

/**
 * Revokes the tokens (RFC 7009); undefined when the server does not support it or there are none. The error
 * is one line.
 */
export async function revokeTokens(
  library: McpLibrary,
  stored: StoredAuth,
  context: { readonly serverUrl: string; readonly fetch: FetchLike },
): Promise<Result<void, string> | undefined> {
  const { revocationEndpoint: endpoint, tokens } = stored;
  if (endpoint === undefined || tokens === undefined) return undefined;
  // fail-closed: the file may have changed since the address was checked.
  const refusal = addressRefusal(endpoint, context.serverUrl);
  if (refusal !== undefined) return err(refusal);
  const { accessToken, refreshToken } = tokens;
  // The refresh token first: most servers revoke both with it.
  const all = [
    ...(refreshToken === undefined ? [] : [{ token: refreshToken, kind: 'refresh_token' }]),
    { token: accessToken, kind: 'access_token' },
  ];
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    for (const { token, kind } of all) {
      const { headers, body } = requestFor(library, stored, { token, token_type_hint: kind });
      const response = await context.fetch(endpoint, { method: 'POST', headers, body, signal });
      if (!response.ok) return err(`the authorization server answered HTTP ${response.status}`);
    }
    return ok(undefined);
  } catch (thrown) {
    return err(reasonOf(thrown));
  }
}

/** Authenticates as the client that obtained the tokens, which alone may revoke them. */
function requestFor(
  library: McpLibrary,
  { client, authMethods = [] }: StoredAuth,
  parts: Readonly<Record<string, string>>,
): { readonly headers: Headers; readonly body: URLSearchParams } {
  const { clientId, clientSecret } = client;
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const body = new URLSearchParams(parts);
  const method = library.selectClientAuthMethod(clientInformation(client), [...authMethods]);
  if (method === 'client_secret_basic' && clientSecret !== undefined) {
    headers.set('authorization', `Basic ${btoa(`${clientId}:${clientSecret}`)}`);
    return { headers, body };
  }
  body.set('client_id', clientId);
  if (method === 'client_secret_post' && clientSecret !== undefined) {
    body.set('client_secret', clientSecret);
  }
  return { headers, body };
}
