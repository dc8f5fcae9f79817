import type { FetchLike } from '@modelcontextprotocol/client';
import { err, ok, type Result } from '../../lib/result.js';
import { randomBytes } from '../../platform/random.js';
import type { McpLibrary } from '../connection/library.js';
import { clientFor, clientInformation } from './client.js';
import { discover } from './discovery.js';
import { reasonOf } from './failure.js';
import { addressRefusal } from './guarded-fetch.js';
import { scopesToAsk } from './scopes.js';
import { secretRefusal } from './secret.js';
import type { StoredAuth, StoredClient } from './token-store.js';
import { authRecord, tokensFrom } from './tokens.js';
import type {
  Challenge,
  Discovered,
  RemoteDeclaration,
  SignInAgent,
  SignInVisit,
} from './types.js';

export interface SignInContext {
  readonly library: McpLibrary;
  readonly declaration: RemoteDeclaration;
  readonly challenge: Challenge;
  /** What is kept from before: its registration is used again. */
  readonly stored: StoredAuth | undefined;
  /** The scopes asked for before are asked for again, with those of the challenge. */
  readonly keepScopes: boolean;
  readonly agent: SignInAgent;
  readonly clientMetadataUrl?: string | undefined;
  readonly fetch: FetchLike;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** The whole way from a refusal to tokens, with a person in the middle. The error is one line. */
export async function signInWithPerson(
  context: SignInContext,
): Promise<Result<StoredAuth, string>> {
  const { library, declaration, agent } = context;
  let visit: SignInVisit | undefined;
  try {
    const found = await discover(library, declaration, context);
    const { stored } = context;
    const refusal =
      declaration.entry.oauth?.clientSecret === undefined
        ? undefined
        : secretRefusal(declaration, found, { stored, byPerson: true });
    if (refusal !== undefined) return err(refusal);
    const scope = scopesToAsk({
      pinned: declaration.entry.oauth?.scopes,
      challenged: context.challenge.scope,
      earlier: context.keepScopes ? earlierScopes(context.stored, found) : undefined,
      resource: found.resourceScopes,
      offered: found.metadata?.scopes_supported,
    });
    const begun = await agent.begin();
    if (!begun.ok) return begun;
    visit = begun.value;
    const client = await clientFor(library, declaration, {
      ...context,
      found,
      redirectUrl: visit.redirectUrl,
      scope,
      clientMetadataUrl: context.clientMetadataUrl,
      now: context.now(),
    });
    return await askAndExchange(context, { found, scope, client, visit });
  } catch (thrown) {
    return err(reasonOf(thrown));
  } finally {
    await visit?.close();
  }
}

function earlierScopes(stored: StoredAuth | undefined, found: Discovered): string | undefined {
  if (stored?.issuer !== found.issuer) return undefined;
  return stored.tokens?.requestedScope ?? stored.tokens?.scope;
}

async function askAndExchange(
  context: SignInContext,
  parts: {
    readonly found: Discovered;
    readonly scope: string | undefined;
    readonly client: StoredClient;
    readonly visit: SignInVisit;
  },
): Promise<Result<StoredAuth, string>> {
  const { library, declaration, fetch } = context;
  const { found, scope, client, visit } = parts;
  const state = randomBytes(24).toString('base64url');
  const metadata = found.metadata === undefined ? {} : { metadata: found.metadata };
  const start = await library.startAuthorization(found.authorizationServer, {
    ...metadata,
    clientInformation: clientInformation(client),
    redirectUrl: visit.redirectUrl,
    state,
    resource: found.resource,
    ...(scope === undefined ? {} : { scope }),
  });
  const refusal = addressRefusal(start.authorizationUrl, declaration.entry.url);
  if (refusal !== undefined) return err(refusal);
  const answer = await visit.visit({ url: start.authorizationUrl.href, state }, context.signal);
  if (!answer.ok) return answer;
  const code = codeFrom(library, answer.value, { found, state });
  if (!code.ok) return code;
  const granted = await library.exchangeAuthorization(found.authorizationServer, {
    ...metadata,
    clientInformation: clientInformation(client),
    authorizationCode: code.value,
    codeVerifier: start.codeVerifier,
    redirectUri: visit.redirectUrl,
    resource: found.resource,
    fetchFn: fetch,
    ...(answer.value.get('iss') === null ? {} : { iss: answer.value.get('iss') ?? '' }),
  });
  const tokens = tokensFrom(granted, { now: context.now(), requestedScope: scope });
  if (tokens === undefined) return err('the authorization server gave a token of an unknown kind');
  return ok(authRecord(declaration.name, found, { client, tokens }));
}

/** fail-closed: nothing of an answer counts before its state and its sender have been checked. */
function codeFrom(
  library: McpLibrary,
  answer: URLSearchParams,
  { found, state }: { readonly found: Discovered; readonly state: string },
): Result<string, string> {
  if (answer.get('state') !== state) {
    return err('the answer belongs to another sign-in (its state does not match)');
  }
  // Throws when another authorization server answered than was asked (mix-up).
  library.validateAuthorizationResponseIssuer({
    iss: answer.get('iss') ?? undefined,
    expectedIssuer: found.metadata?.issuer,
    issParameterSupported: found.metadata?.authorization_response_iss_parameter_supported === true,
  });
  const error = answer.get('error');
  if (error !== null) {
    const code = /^[a-z_]{3,40}$/.test(error) ? `"${error}"` : 'an error';
    return err(`the authorization server answered ${code}`);
  }
  const code = answer.get('code');
  return code === null || code === '' ? err('the answer holds no code') : ok(code);
}
