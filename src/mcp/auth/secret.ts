import { parseUrl } from '../../lib/parse-url.js';
import type { StoredAuth } from './token-store.js';
import type { Discovered, RemoteDeclaration } from './types.js';

/**
 * Why the configured secret of a client must not be sent to the authorization server that was found;
 * undefined when it may. It is the MCP server that names the authorization server, and the secret was
 * not entrusted to whomever it names: what the entry names counts, then where the secret went before.
 */
export function secretRefusal(
  { name, entry }: RemoteDeclaration,
  found: Pick<Discovered, 'issuer' | 'authorizationServer'>,
  context: { readonly stored: StoredAuth | undefined; readonly byPerson: boolean },
): string | undefined {
  if (entry.oauth?.authServerMetadataUrl !== undefined) return undefined;
  const { stored, byPerson } = context;
  if (stored !== undefined) {
    // fail-closed: the server has begun to name somebody else.
    return stored.issuer === found.issuer
      ? undefined
      : `the server names another authorization server than before, which is not given the client secret; set oauth.authServerMetadataUrl, or begin anew with: portcullis mcp logout ${name}`;
  }
  // A person sees the page of whoever asks; and a secret of the host is the host's to send.
  if (byPerson || entry.oauth?.clientSecret === undefined) return undefined;
  if (isAt(found.authorizationServer, entry.url) && isAt(found.issuer, entry.url)) return undefined;
  // fail-closed: nobody looks on, and nobody has said that this is the right one.
  return 'the server names an authorization server elsewhere, which is not given the client secret; set oauth.authServerMetadataUrl in the entry';
}

function isAt(url: string, serverUrl: string): boolean {
  return parseUrl(url)?.origin === new URL(serverUrl).origin;
}
