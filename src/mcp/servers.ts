import type { ClientConnection } from './connection/deps.js';
import type { ListKind, ServerDeclaration, ServerStatus } from './server.js';

/** Connections opened at once; processes cost more than sockets. */
const LOCAL_AT_ONCE = 3;
const REMOTE_AT_ONCE = 20;

export interface ServersDeps {
  readonly declarations: readonly ServerDeclaration[];
  /** Creates the connection object of a usable server without connecting. */
  open(declaration: ServerDeclaration): ClientConnection;
  onChange?(connection: ClientConnection, change: ListKind | 'state'): void;
}

export interface Replaced {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** All servers of a session; a failing one does not delay the others. */
export interface McpServers {
  /** Includes servers that may not be used. */
  statuses(): readonly ServerStatus[];
  /** Whether no server is declared. */
  isEmpty(): boolean;
  /** The usable servers. */
  connections(): readonly ClientConnection[];
  find(name: string): ClientConnection | undefined;
  /** Connects the unconnected servers and resolves when each has answered or failed. Never rejects. */
  connect(which?: readonly ClientConnection[]): Promise<void>;
  /** Enables or disables a server for this session; false when there is no usable server of that name. */
  toggle(name: string, enabled: boolean): Promise<boolean>;
  /** Replaces the servers of a scope; unchanged ones stay connected. */
  replace(
    scope: ServerDeclaration['scope'],
    declarations: readonly ServerDeclaration[],
  ): Promise<Replaced>;
  rootsChanged(): void;
  close(): Promise<void>;
}

export function openServers({ declarations, open, onChange }: ServersDeps): McpServers {
  let declared = [...declarations];
  const live = new Map<string, ClientConnection>();
  const off = new Set<string>();
  const slots = { local: createSlots(LOCAL_AT_ONCE), remote: createSlots(REMOTE_AT_ONCE) };

  const start = (declaration: ServerDeclaration): void => {
    if (declaration.standing.kind !== 'ready') return;
    const connection = open(declaration);
    connection.onChange((change) => onChange?.(connection, change));
    live.set(declaration.name, connection);
  };
  const stop = async (name: string): Promise<void> => {
    const connection = live.get(name);
    live.delete(name);
    await connection?.close();
  };
  const connectOne = async (connection: ClientConnection): Promise<void> => {
    const isLocal = connection.declaration.entry?.type === 'stdio';
    await (isLocal ? slots.local : slots.remote)(() => connection.connect());
  };
  for (const declaration of declared) start(declaration);

  return {
    statuses: () =>
      declared.map((one) => live.get(one.name)?.status() ?? idle(one, off.has(one.name))),
    isEmpty: () => declared.length === 0,
    connections: () => [...live.values()],
    find: (name) => live.get(name),
    async connect(which = [...live.values()]) {
      await Promise.all(which.map(connectOne));
    },
    async toggle(name, enabled) {
      const declaration = declared.find((one) => one.name === name);
      // fail-closed: enabling cannot make an unusable server usable.
      if (declaration?.standing.kind !== 'ready') return false;
      if (!enabled) {
        off.add(name);
        await stop(name);
      } else if (off.delete(name)) start(declaration);
      return true;
    },
    async replace(scope, wanted) {
      const before = declared.filter((one) => one.scope === scope);
      const kept = before.filter((one) => wanted.some((other) => isSame(one, other)));
      const gone = before.filter((one) => !kept.includes(one));
      const fresh = wanted.filter((one) => !kept.some((other) => isSame(one, other)));
      await Promise.all(gone.map(({ name }) => stop(name)));
      declared = [...declared.filter((one) => !gone.includes(one)), ...fresh];
      for (const declaration of fresh) {
        off.delete(declaration.name);
        if (!live.has(declaration.name)) start(declaration);
      }
      return { added: fresh.map(({ name }) => name), removed: gone.map(({ name }) => name) };
    },
    rootsChanged() {
      for (const connection of live.values()) void connection.rootsChanged();
    },
    async close() {
      await Promise.all([...live.keys()].map(stop));
    },
  };
}

function isSame(a: ServerDeclaration, b: ServerDeclaration): boolean {
  return (
    a.name === b.name && a.contentHash === b.contentHash && a.standing.kind === b.standing.kind
  );
}

/** The status of a server without a connection. */
function idle({ name, scope, entry, standing }: ServerDeclaration, isOff: boolean): ServerStatus {
  const state =
    standing.kind === 'invalid'
      ? 'failed'
      : standing.kind === 'pending-approval'
        ? 'pending'
        : 'disabled';
  const error = standing.kind === 'ready' ? undefined : standing.reason;
  return {
    name,
    scope,
    transport: entry?.type ?? 'unknown',
    state: isOff ? 'disabled' : state,
    error,
  };
}

/** Limits concurrency; waiting work runs in order. */
function createSlots(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The slot passes directly to the next waiter, so new work cannot take it.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
