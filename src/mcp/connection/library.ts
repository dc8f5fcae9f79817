/** The client library takes 0.1 s to load, so it is loaded at the first connection. */
export type McpLibrary = typeof import('@modelcontextprotocol/client');

export function loadLibrary(): Promise<McpLibrary> {
  return import('@modelcontextprotocol/client');
}
