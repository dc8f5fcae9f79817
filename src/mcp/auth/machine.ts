import type { FetchLike } from '@modelcontextprotocol/client';
import { err, ok, type Result } from '../../lib/result.js';
import type { McpLibrary } from '../connection/library.js';
import { discover } from './discovery.js';
import { reasonOf } from './failure.js';
import { scopesToAsk } from './scopes.js';
import { secretRefusal } from './secret.js';
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
