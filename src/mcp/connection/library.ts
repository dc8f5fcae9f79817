/** The client library, which costs a tenth of a second to load: only when a server is really connected. */
export type McpLibrary = typeof import('@modelcontextprotocol/client');

let loading: Promise<McpLibrary> | undefined;

export function loadLibrary(): Promise<McpLibrary> {
  loading ??= import('@modelcontextprotocol/client');
  return loading;
}
