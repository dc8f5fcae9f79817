import type { FetchLike } from '@modelcontextprotocol/client';
import { err, ok, type Result } from '../../lib/result.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import { join } from '../../platform/fs/paths.js';
import type { McpLibrary } from '../connection/library.js';
import { clientInformation } from './client.js';
import { oauthCodeOf, reasonOf } from './failure.js';
import { addressRefusal } from './guarded-fetch.js';
import type { StoredAuth, TokenStore } from './token-store.js';
import { refreshMetadata, tokensFrom } from './tokens.js';

export interface RefreshContext {
  readonly library: () => Promise<McpLibrary>;
  readonly store: TokenStore;
  readonly key: string;
  readonly serverUrl: string;
  readonly stateDirectory: string;
  readonly fetch: FetchLike;
  readonly now: () => number;
}

/** `void`: only a person can help. `unreachable`: it may work later. */
export interface RefreshFailure {
  readonly kind: 'void' | 'unreachable';
  readonly reason: string;
}

/** Longer than a request for a token may take. */
const LOCK = { staleMs: 60_000, waitMs: 45_000 };

/**
 * Gets new tokens in place of those with the access token `used`. Many programs may want that at once, and
 * a refresh token is often good for one use: one of them asks, the others find its result in the file.
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
    // fail-closed: without the lock two programs could use up one refresh token.
    return later('the state directory cannot be written');
  }
}

function later(reason: string): { readonly ok: false; readonly error: RefreshFailure } {
  return err({ kind: 'unreachable', reason });
}

async function refreshUnlessDone(
  context: RefreshContext,
  used: string | undefined,
): Promise<Result<string, RefreshFailure>> {
  const read = await context.store.read(context.key);
  if (!read.ok) return err({ kind: 'void', reason: read.error } as const);
  const stored = read.value;
  const { tokens } = stored ?? {};
  if (tokens !== undefined && tokens.accessToken !== used) return ok(tokens.accessToken);
  if (stored === undefined || tokens?.refreshToken === undefined) {
    return err({ kind: 'void', reason: 'there is no token that could be renewed' } as const);
  }
  return await refreshNow(context, stored, tokens.refreshToken);
}

async function refreshNow(
  context: RefreshContext,
  stored: StoredAuth,
  refreshToken: string,
): Promise<Result<string, RefreshFailure>> {
  const { store, key } = context;
  // fail-closed: the file may have been changed since the address was judged.
  const refusal = addressRefusal(stored.tokenEndpoint, context.serverUrl);
  if (refusal !== undefined) return err({ kind: 'void', reason: refusal });
  const library = await context.library();
  try {
    const granted = await library.refreshAuthorization(stored.authorizationServer, {
      metadata: refreshMetadata(stored),
      clientInformation: clientInformation(stored.client),
      refreshToken,
      resource: stored.resource,
      fetchFn: context.fetch,
    });
    const tokens = tokensFrom(granted, { now: context.now(), before: stored.tokens });
    if (tokens === undefined) {
      return err({
        kind: 'void',
        reason: 'the authorization server gave a token of an unknown kind',
      });
    }
    const written = await store.write(key, { ...stored, tokens });
    return written.ok ? ok(tokens.accessToken) : err({ kind: 'void', reason: written.error });
  } catch (thrown) {
    const code = oauthCodeOf(thrown);
    if (code === undefined || code === 'server_error' || code === 'temporarily_unavailable') {
      return later(reasonOf(thrown));
    }
    // Void for good: neither this refresh token nor what came with it is ever sent again.
    const { tokens: _void, ...rest } = stored;
    await store.write(key, rest);
    const reason = code === 'invalid_grant' ? 'the earlier sign-in is over' : reasonOf(thrown);
    return err({ kind: 'void', reason });
  }
}
