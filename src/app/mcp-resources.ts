import type { ClientConnection } from '../mcp/connection/deps.js';
import { offersResources, resourceTools } from '../mcp/resources/resources.js';
import type { FileSystem } from '../platform/fs/fs.js';
import type { AnyTool } from '../tools/tool.js';

export interface ResourcesDeps {
  /** The servers that may be used at this moment. */
  connections(): readonly ClientConnection[];
  readonly fs: FileSystem;
}

/** Which servers of a session have resources, and the two tools for them, offered with the first one. */
export function resourcesOfServers(deps: ResourcesDeps) {
  const known = new Map<string, boolean>();
  const has = (server: string): boolean => known.get(server) === true;
  let isOffered = false;
  return {
    has,
    isAsked: (server: string): boolean => known.has(server),
    /** It had some when it was last asked. */
    note: (server: string): void => void known.set(server, true),
    /** Asks a server; what it once had it may have again. */
    async ask(connection: ClientConnection): Promise<void> {
      const { name } = connection.declaration;
      known.set(name, (await offersResources([connection])) || has(name));
    },
    /** The two tools, where one of these servers has resources and they are not offered yet. */
    tools(connections: readonly ClientConnection[]): readonly AnyTool[] {
      if (isOffered || !connections.some(({ declaration }) => has(declaration.name))) return [];
      isOffered = true;
      const { list, read } = resourceTools(deps);
      return [list, read];
    },
  };
}
