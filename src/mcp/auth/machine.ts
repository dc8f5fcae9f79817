import type { FetchLike } from '@modelcontextprotocol/client';
import { err, ok, type Result } from '../../lib/result.js';
import { VERSION } from '../../version.js';
import type { McpLibrary } from '../connection/library.js';
import { discover } from './discovery.js';
import { reasonOf } from './failure.js';
import { scopesToAsk, secretRefusal } from './sign-in.js';
import type { StoredAuth } from './token-store.js';
import { authRecord, tokensFrom } from './tokens.js';
import type { Challenge, MachineGrant, RemoteDeclaration } from './types.js';

/** Signs in as the program itself (client credentials): with a secret, or with a key that signs. */
export async function signInAsMachine(context: {
  readonly library: McpLibrary;
  readonly declaration: RemoteDeclaration;
  readonly challenge: Challenge;
  readonly grant: MachineGrant;
  /** What is kept from before: which authorization server knows the secret. */
  readonly stored: StoredAuth | undefined;
  readonly fetch: FetchLike;
  readonly now: () => number;
}): Promise<Result<StoredAuth, string>> {
  const { library, declaration, grant } = context;
  try {
    const found = await discover(library, declaration, context);
    const { stored } = context;
    const refusal =
      grant.kind === 'client-secret'
        ? secretRefusal(declaration, found, { stored, byPerson: false })
        : undefined;
    if (refusal !== undefined) return err(refusal);
    const scope = scopesToAsk({
      pinned: declaration.entry.oauth?.scopes,
      challenged: context.challenge.scope,
      resource: found.resourceScopes,
    });
    const provider = providerFor(library, grant, found.issuer);
    const granted = await library.fetchToken(provider, found.authorizationServer, {
      metadata: found.metadata,
      resource: found.resource,
      scope,
      fetchFn: context.fetch,
    });
    const tokens = tokensFrom(granted, { now: context.now(), requestedScope: scope });
    if (tokens === undefined)
      return err('the authorization server gave a token of an unknown kind');
    const client = { clientId: grant.clientId };
    return ok(authRecord(declaration.name, found, { client, tokens }));
  } catch (thrown) {
    return err(reasonOf(thrown));
  }
}

function providerFor(library: McpLibrary, grant: MachineGrant, issuer: string) {
  const { clientId } = grant;
  return grant.kind === 'client-secret'
    ? new library.ClientCredentialsProvider({
        clientId,
        clientSecret: grant.clientSecret,
        expectedIssuer: issuer,
      })
    : new library.PrivateKeyJwtProvider({
        clientId,
        privateKey: grant.privateKey,
        algorithm: grant.algorithm,
        expectedIssuer: issuer,
      });
}

const TIMEOUT_MS = 15_000;

/**
 * What a server says about signing in to somebody who has not: the words of its refusal name the scopes
 * and the place of its metadata. A server that does not refuse, or does not answer, says nothing.
 */
export async function probeChallenge(
  library: McpLibrary,
  { entry }: RemoteDeclaration,
  fetch: FetchLike,
): Promise<Challenge> {
  const first = {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'portcullis', version: VERSION },
    },
  };
  const isStream = entry.type === 'sse';
  try {
    const response = await fetch(entry.url, {
      method: isStream ? 'GET' : 'POST',
      headers: {
        ...entry.headers,
        accept: isStream ? 'text/event-stream' : 'application/json, text/event-stream',
        ...(isStream ? {} : { 'content-type': 'application/json' }),
      },
      ...(isStream ? {} : { body: JSON.stringify(first) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (response.status !== 401) return {};
    const { resourceMetadataUrl, scope } = library.extractWWWAuthenticateParams(response);
    return { resourceMetadataUrl, scope };
  } catch {
    return {};
  }
}
