import type { FetchLike } from '@modelcontextprotocol/client';
import { err, ok, type Result } from '../../lib/result.js';
import type { McpLibrary } from '../connection/library.js';
import { clientInformation } from './client.js';
import { reasonOf } from './failure.js';
import { addressRefusal } from './guarded-fetch.js';
import type { StoredAuth } from './token-store.js';

/** Whoever signs out waits for it. */
const PATIENCE_MS = 10_000;

/**
 * Has the authorization server forget the tokens (RFC 7009), where it offers that. Undefined: it does
 * not, or there are none. The error is one line.
 */
export async function revokeTokens(
  library: McpLibrary,
  stored: StoredAuth,
  context: { readonly serverUrl: string; readonly fetch: FetchLike },
): Promise<Result<void, string> | undefined> {
  const { revocationEndpoint: endpoint, tokens } = stored;
  if (endpoint === undefined || tokens === undefined) return undefined;
  // fail-closed: the file may have been changed since the address was judged.
  const refusal = addressRefusal(endpoint, context.serverUrl);
  if (refusal !== undefined) return err(refusal);
  const { accessToken, refreshToken } = tokens;
  // The one that lives longer first: most servers void both with it.
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

/** As the client that got the tokens: nobody else may have them revoked. */
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
