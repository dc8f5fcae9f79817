import type { OAuthClientMetadata, OAuthTokens } from '@modelcontextprotocol/client';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { randomBytes } from '../../platform/random.js';
import { VERSION } from '../../version.js';
import type { McpLibrary } from '../connection/library.js';
import { discover } from './discovery.js';
import { reasonOf } from './failure.js';
import { addressRefusal } from './guarded-fetch.js';
import { clientInformation, type StoredAuth, type StoredClient } from './token-store.js';
import { authRecord, tokensFrom } from './tokens.js';
import type {
  DiscoveryResult,
  MachineGrant,
  RemoteDeclaration,
  SignInAgent,
  SignInContext,
  SignInVisit,
} from './types.js';

export interface PersonSignIn {
  readonly agent: SignInAgent;
  /** Keeps the scopes of the earlier sign-in when the challenge asks for more. */
  readonly keepScopes: boolean;
  readonly clientMetadataUrl?: string | undefined;
  readonly signal: AbortSignal;
}

/** Runs the authorization code flow with a person; the error is one line. */
export async function signInWithPerson(
  context: SignInContext,
  how: PersonSignIn,
): Promise<Result<StoredAuth, string>> {
  const { declaration, stored } = context;
  const { oauth } = declaration.entry;
  let visit: SignInVisit | undefined;
  try {
    const found = await discover(context);
    const refusal =
      oauth?.clientSecret === undefined
        ? undefined
        : secretRefusal(declaration, found, { stored, byPerson: true });
    if (refusal !== undefined) return err(refusal);
    const scope = scopesToAsk({
      pinned: oauth?.scopes,
      challenged: context.challenge.scope,
      earlier: how.keepScopes ? earlierScopes(stored, found) : undefined,
      resource: found.resourceScopes,
      offered: found.metadata?.scopes_supported,
    });
    const begun = await how.agent.begin();
    if (!begun.ok) return begun;
    visit = begun.value;
    return await askAndExchange(context, { found, scope, visit, ...how });
  } catch (thrown) {
    return err(reasonOf(thrown));
  } finally {
    await visit?.close();
  }
}

/** Signs in with client credentials: a secret or a signing key. */
export async function signInAsMachine(
  context: SignInContext,
  grant: MachineGrant,
): Promise<Result<StoredAuth, string>> {
  const { library, declaration, stored } = context;
  try {
    const found = await discover(context);
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
    const options = { ...grant, expectedIssuer: found.issuer };
    const provider =
      options.kind === 'client-secret'
        ? new library.ClientCredentialsProvider(options)
        : new library.PrivateKeyJwtProvider(options);
    const granted = await library.fetchToken(provider, found.authorizationServer, {
      metadata: found.metadata,
      resource: found.resource,
      scope,
      fetchFn: context.fetch,
    });
    return grantedRecord(context, granted, { found, scope, client: { clientId: grant.clientId } });
  } catch (thrown) {
    return err(reasonOf(thrown));
  }
}

function grantedRecord(
  { declaration, now }: SignInContext,
  granted: OAuthTokens,
  { found, scope, client }: Asked,
): Result<StoredAuth, string> {
  const tokens = tokensFrom(granted, { now: now(), requestedScope: scope });
  return tokens === undefined
    ? err('the authorization server gave a token of an unknown kind')
    : ok(authRecord(declaration.name, found, { client, tokens }));
}

interface Asked {
  readonly found: DiscoveryResult;
  readonly scope: string | undefined;
  readonly client: StoredClient;
}

function earlierScopes(stored: StoredAuth | undefined, found: DiscoveryResult): string | undefined {
  if (stored?.issuer !== found.issuer) return undefined;
  return stored.tokens?.requestedScope ?? stored.tokens?.scope;
}

async function askAndExchange(
  context: SignInContext,
  parts: Omit<Asked, 'client'> & PersonSignIn & { readonly visit: SignInVisit },
): Promise<Result<StoredAuth, string>> {
  const { library, declaration } = context;
  const { found, scope, visit } = parts;
  const { redirectUrl } = visit;
  const client = await clientFor(context, { ...parts, redirectUrl });
  const state = randomBytes(24).toString('base64url');
  const common = {
    metadata: found.metadata,
    clientInformation: clientInformation(client),
    resource: found.resource,
  };
  const start = await library.startAuthorization(found.authorizationServer, {
    ...common,
    redirectUrl,
    state,
    scope,
  });
  const refusal = addressRefusal(start.authorizationUrl, declaration.entry.url);
  if (refusal !== undefined) return err(refusal);
  const answer = await visit.visit({ url: start.authorizationUrl.href, state }, parts.signal);
  if (!answer.ok) return answer;
  const code = codeFrom(library, answer.value, { found, state });
  if (!code.ok) return code;
  const granted = await library.exchangeAuthorization(found.authorizationServer, {
    ...common,
    authorizationCode: code.value,
    codeVerifier: start.codeVerifier,
    redirectUri: redirectUrl,
    fetchFn: context.fetch,
    iss: answer.value.get('iss') ?? undefined,
  });
  return grantedRecord(context, granted, { found, scope, client });
}

/** fail-closed: the answer is used only after its state and issuer are checked. */
function codeFrom(
  library: McpLibrary,
  answer: URLSearchParams,
  { found, state }: { readonly found: DiscoveryResult; readonly state: string },
): Result<string, string> {
  if (answer.get('state') !== state) {
    return err('the answer belongs to another sign-in (its state does not match)');
  }
  // Throws when a different authorization server answered (mix-up attack).
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

/** The places that may name scopes, in the order of `scopesToAsk`. */
export interface ScopeSources {
  /** `oauth.scopes` of the entry; overrides everything the server asks for. */
  readonly pinned?: string | undefined;
  /** From the server's challenge. */
  readonly challenged?: string | undefined;
  /** Requested at the earlier sign-in. */
  readonly earlier?: string | undefined;
  /** All scopes in the MCP server's metadata. */
  readonly resource?: readonly string[] | undefined;
  /** All scopes of the authorization server. */
  readonly offered?: readonly string[] | undefined;
}

/** The first source with scopes wins; `offline_access` is added where offered, because refresh tokens need it. */
export function scopesToAsk(sources: ScopeSources): string | undefined {
  const { pinned, challenged, earlier, resource, offered } = sources;
  const chosen =
    wordsOf(pinned).length > 0
      ? wordsOf(pinned)
      : wordsOf(challenged).length > 0
        ? [...wordsOf(earlier), ...wordsOf(challenged)]
        : wordsOf(earlier).length > 0
          ? wordsOf(earlier)
          : (resource ?? []);
  if (chosen.length === 0) return undefined;
  const all = new Set(chosen);
  if (offered?.includes('offline_access')) all.add('offline_access');
  return [...all].join(' ');
}

function wordsOf(scope: string | undefined): readonly string[] {
  return (scope ?? '').split(/\s+/).filter((word) => word !== '');
}

/**
 * Picks the client id: the entry's, the earlier registration, our client metadata URL where supported, or a
 * new registration.
 */
async function clientFor(
  { library, declaration, stored, fetch, now }: SignInContext,
  {
    found,
    redirectUrl,
    scope,
    clientMetadataUrl,
  }: Omit<Asked, 'client'> & {
    readonly redirectUrl: string;
    readonly clientMetadataUrl?: string | undefined;
  },
): Promise<StoredClient> {
  const { clientId, clientSecret } = declaration.entry.oauth ?? {};
  if (clientId !== undefined) return { clientId, clientSecret };
  // A registration is reused only for the same issuer and redirect address while its secret is valid.
  if (
    stored?.issuer === found.issuer &&
    stored.client.redirectUrl === redirectUrl &&
    (stored.client.secretExpiresAt ?? Number.POSITIVE_INFINITY) > now()
  )
    return stored.client;
  const takesAddress = found.metadata?.client_id_metadata_document_supported === true;
  if (clientMetadataUrl !== undefined && takesAddress) return { clientId: clientMetadataUrl };
  const made = await library.registerClient(found.authorizationServer, {
    metadata: found.metadata,
    clientMetadata: describeUs(redirectUrl, found),
    scope,
    fetchFn: fetch,
  });
  const { client_secret_expires_at: expires } = made;
  return {
    clientId: made.client_id,
    redirectUrl,
    clientSecret: made.client_secret,
    authMethod: made.token_endpoint_auth_method,
    // Zero means that the secret never expires.
    secretExpiresAt: expires ? expires * 1000 : undefined,
  };
}

function describeUs(redirectUrl: string, { metadata }: DiscoveryResult): OAuthClientMetadata {
  const methods = metadata?.token_endpoint_auth_methods_supported ?? [];
  // A local program cannot keep a secret, but some authorization servers require one.
  const method =
    methods.length === 0 || methods.includes('none')
      ? 'none'
      : methods.find((one) => one === 'client_secret_basic' || one === 'client_secret_post');
  return {
    client_name: 'Portcullis',
    software_id: 'portcullis',
    software_version: VERSION,
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method ?? 'none',
    application_type: 'native',
  };
}

/**
 * Why a configured client secret must not go to the discovered authorization server; undefined when it may.
 * The MCP server chooses that server, so the secret goes only where the entry says or where it went before.
 */
export function secretRefusal(
  { name, entry }: RemoteDeclaration,
  found: Pick<DiscoveryResult, 'issuer' | 'authorizationServer'>,
  context: { readonly stored: StoredAuth | undefined; readonly byPerson: boolean },
): string | undefined {
  if (entry.oauth?.authServerMetadataUrl !== undefined) return undefined;
  const { stored, byPerson } = context;
  if (stored !== undefined) {
    // fail-closed: the MCP server now names another authorization server.
    return stored.issuer === found.issuer
      ? undefined
      : `the server names another authorization server than before, which is not given the client secret; set oauth.authServerMetadataUrl, or begin anew with: portcullis mcp logout ${name}`;
  }
  // A person sees the sign-in page, and a secret passed by the host is the host's responsibility.
  if (byPerson || entry.oauth?.clientSecret === undefined) return undefined;
  if (isAt(found.authorizationServer, entry.url) && isAt(found.issuer, entry.url)) return undefined;
  // fail-closed: no person watches, and the entry does not confirm this authorization server.
  return 'the server names an authorization server elsewhere, which is not given the client secret; set oauth.authServerMetadataUrl in the entry';
}

function isAt(url: string, serverUrl: string): boolean {
  return parseUrl(url)?.origin === new URL(serverUrl).origin;
}
