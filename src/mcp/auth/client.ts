import type {
  FetchLike,
  OAuthClientInformationMixed,
  OAuthClientMetadata,
} from '@modelcontextprotocol/client';
import { VERSION } from '../../version.js';
import type { McpLibrary } from '../connection/library.js';
import type { StoredAuth, StoredClient } from './token-store.js';
import type { Discovered, RemoteDeclaration } from './types.js';

/**
 * As whom we sign in: the client that the entry names, the one that was registered before, our own
 * description where the authorization server takes such addresses, and else a new registration.
 */
export async function clientFor(
  library: McpLibrary,
  { entry }: RemoteDeclaration,
  context: {
    readonly found: Discovered;
    readonly stored: StoredAuth | undefined;
    readonly redirectUrl: string;
    readonly scope: string | undefined;
    readonly clientMetadataUrl: string | undefined;
    readonly fetch: FetchLike;
    readonly now: number;
  },
): Promise<StoredClient> {
  const { found, stored, redirectUrl, clientMetadataUrl } = context;
  const { clientId, clientSecret } = entry.oauth ?? {};
  if (clientId !== undefined) {
    return { clientId, clientSecret };
  }
  if (stored !== undefined && canServe(stored, context)) return stored.client;
  if (
    clientMetadataUrl !== undefined &&
    found.metadata?.client_id_metadata_document_supported === true
  ) {
    return { clientId: clientMetadataUrl };
  }
  const made = await library.registerClient(found.authorizationServer, {
    metadata: found.metadata,
    clientMetadata: describeUs(redirectUrl, found),
    scope: context.scope,
    fetchFn: context.fetch,
  });
  const { client_secret, client_secret_expires_at, token_endpoint_auth_method } = made;
  return {
    clientId: made.client_id,
    redirectUrl,
    clientSecret: client_secret,
    authMethod: token_endpoint_auth_method,
    // Zero: never.
    ...(client_secret_expires_at ? { secretExpiresAt: client_secret_expires_at * 1000 } : {}),
  };
}

/** A registration counts where it was made, for the address that was registered, while its secret lives. */
function canServe(
  stored: StoredAuth,
  {
    found,
    redirectUrl,
    now,
  }: { readonly found: Discovered; readonly redirectUrl: string; readonly now: number },
): boolean {
  const { client, issuer } = stored;
  return (
    issuer === found.issuer &&
    client.redirectUrl === redirectUrl &&
    (client.secretExpiresAt === undefined || client.secretExpiresAt > now)
  );
}

function describeUs(redirectUrl: string, { metadata }: Discovered): OAuthClientMetadata {
  const methods = metadata?.token_endpoint_auth_methods_supported ?? [];
  // We run on people's machines and cannot keep a secret, but some insist on giving us one.
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

/** As the library wants it. */
export function clientInformation(client: StoredClient): OAuthClientInformationMixed {
  return {
    client_id: client.clientId,
    client_secret: client.clientSecret,
    token_endpoint_auth_method: client.authMethod,
  };
}
