import type {
  AuthorizationServerMetadata,
  FetchLike,
  OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/client';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { parseUrl } from '../../lib/parse-url.js';
import { VERSION } from '../../version.js';
import type { McpLibrary } from '../connection/library.js';
import { isUnreachable } from './failure.js';
import { addressRefusal, RefusedAddress } from './guarded-fetch.js';
import type { Challenge, DiscoveryResult, RemoteDeclaration, SignInContext } from './types.js';

/**
 * Finds the authorization server: the MCP server's metadata (RFC 9728) names it, and its own metadata (RFC
 * 8414) names the endpoints. Throws errors that `reasonOf` formats.
 */
export async function discover({
  library,
  declaration: { entry },
  challenge,
  fetch,
}: SignInContext): Promise<DiscoveryResult> {
  const resource = await resourceMetadata(library, entry.url, { challenge, fetch });
  const own = library.resourceUrlFromServerUrl(entry.url);
  if (resource !== undefined) {
    const asked = { requestedResource: own, configuredResource: resource.resource };
    // fail-closed: a server must not obtain tokens made for another resource.
    if (!library.checkResourceAllowed(asked)) {
      throw new RefusedAddress('its metadata describes another server (resource mismatch)');
    }
  }
  const configured = entry.oauth?.authServerMetadataUrl;
  const metadata = configured === undefined ? undefined : await metadataAt(configured, fetch);
  const authorizationServer =
    metadata?.issuer ?? resource?.authorization_servers?.[0] ?? new URL('/', entry.url).href;
  const isNamed = resource?.authorization_servers?.[0] !== undefined;
  const found =
    metadata ?? (await serverMetadata(library, authorizationServer, { fetch, isNamed }));
  if (found !== undefined) refuseBadEndpoints(found, entry.url);
  return {
    authorizationServer,
    issuer: found?.issuer ?? authorizationServer,
    metadata: found,
    resource: resource?.resource ?? own.href,
    resourceScopes: resource?.scopes_supported,
  };
}

/** Undefined for older servers without such metadata; a refused or unreachable address throws. */
async function resourceMetadata(
  library: McpLibrary,
  url: string,
  { challenge, fetch }: { readonly challenge: Challenge; readonly fetch: FetchLike },
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const { resourceMetadataUrl } = challenge;
  // Tries the location from the challenge, then the well-known one.
  for (const options of resourceMetadataUrl === undefined ? [{}] : [{ resourceMetadataUrl }, {}]) {
    try {
      return await library.discoverOAuthProtectedResourceMetadata(url, options, fetch);
    } catch (thrown) {
      if (thrown instanceof RefusedAddress || isUnreachable(thrown)) throw thrown;
    }
  }
  return undefined;
}

/** fail-closed: metadata with an unexpected issuer is refused. */
async function serverMetadata(
  library: McpLibrary,
  authorizationServer: string,
  { fetch, isNamed }: { readonly fetch: FetchLike; readonly isNamed: boolean },
): Promise<AuthorizationServerMetadata | undefined> {
  const found = await library.discoverAuthorizationServerMetadata(authorizationServer, {
    fetchFn: fetch,
    // Older servers name no issuer; only the origin can be checked.
    skipIssuerValidation: !isNamed,
  });
  if (found === undefined || isNamed) return found;
  const { issuer } = found;
  if (parseUrl(issuer)?.origin === new URL(authorizationServer).origin) {
    return found;
  }
  throw new library.IssuerMismatchError('metadata', authorizationServer, issuer);
}

/** Metadata from the location that the entry configures. */
async function metadataAt(url: string, fetch: FetchLike): Promise<AuthorizationServerMetadata> {
  const response = await fetch(url, { headers: { accept: 'application/json' } });
  const parsed = response.ok ? parseJson(await response.text()) : undefined;
  const value = parsed?.ok === true ? parsed.value : undefined;
  if (!isRecord(value) || !REQUIRED.every((name) => typeof value[name] === 'string')) {
    throw new RefusedAddress(
      'oauth.authServerMetadataUrl of the entry leads to no usable metadata',
    );
  }
  const types = value.response_types_supported;
  return {
    ...value,
    response_types_supported: Array.isArray(types) ? types : ['code'],
  } as unknown as AuthorizationServerMetadata;
}

const REQUIRED = ['issuer', 'authorization_endpoint', 'token_endpoint'];

/** Checks the endpoints now, because the browser opens the page without our guarded fetch. */
function refuseBadEndpoints(metadata: AuthorizationServerMetadata, serverUrl: string): void {
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  for (const endpoint of [authorization_endpoint, token_endpoint, registration_endpoint]) {
    const refusal = endpoint === undefined ? undefined : addressRefusal(endpoint, serverUrl);
    if (refusal !== undefined) throw new RefusedAddress(refusal);
  }
}

const TIMEOUT_MS = 15_000;

/**
 * Asks the server without a token to get its challenge, which names scopes and the metadata location; without
 * a 401 the challenge is empty.
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
        ...(isStream
          ? { accept: 'text/event-stream' }
          : { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }),
      },
      body: isStream ? undefined : JSON.stringify(first),
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
