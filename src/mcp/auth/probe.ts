import type { FetchLike } from '@modelcontextprotocol/client';
import { VERSION } from '../../version.js';
import type { McpLibrary } from '../connection/library.js';
import type { Challenge, RemoteDeclaration } from './types.js';

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
