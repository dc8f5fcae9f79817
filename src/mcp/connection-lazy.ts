import type { ClientConnection } from './connection-deps.js';
import type { ListKind, ServerDeclaration } from './server.js';

/**
 * A connection that is made when somebody first wants something of the server. Most sessions begin with
 * servers that they never speak to, and what speaks to them takes its time to load.
 */
export function lazyConnection(
  declaration: ServerDeclaration,
  make: () => Promise<ClientConnection>,
): ClientConnection {
  const listeners: ((change: ListKind | 'state') => void)[] = [];
  let making: Promise<ClientConnection> | undefined;
  let made: ClientConnection | undefined;
  let closed = false;
  const open = async (): Promise<ClientConnection> => {
    const connection = await make();
    for (const listener of listeners) connection.onChange(listener);
    made = connection;
    // fail-closed: who was closed before it was made is closed for good; what it says then is its own.
    if (closed) await connection.close();
    return connection;
  };
  const real = (): Promise<ClientConnection> => {
    making ??= open();
    return making;
  };
  return {
    declaration,
    status: () =>
      made?.status() ?? {
        name: declaration.name,
        scope: declaration.scope,
        transport: declaration.entry?.type ?? 'unknown',
        state: 'pending',
      },
    connect: async () => (await real()).connect(),
    reconnect: async () => (await real()).reconnect(),
    listTools: async () => (await real()).listTools(),
    listResources: async () => (await real()).listResources(),
    listPrompts: async () => (await real()).listPrompts(),
    call: async (request, signal) => (await real()).call(request, signal),
    readResource: async (uri, signal) => (await real()).readResource(uri, signal),
    getPrompt: async (name, args, signal) => (await real()).getPrompt(name, args, signal),
    onChange(listener) {
      if (made === undefined) listeners.push(listener);
      else made.onChange(listener);
    },
    rootsChanged: async () => made?.rootsChanged(),
    stderr: () => made?.stderr() ?? '',
    async close() {
      closed = true;
      await (await making)?.close();
    },
  };
}
