/** The client library, which costs a tenth of a second to load: only when a server is really connected. */
export type McpLibrary = typeof import('@modelcontextprotocol/client');

export function loadLibrary(): Promise<McpLibrary> {
  return import('@modelcontextprotocol/client');
}
