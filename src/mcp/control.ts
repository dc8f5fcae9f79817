import { PortcullisError } from '../errors.js';
import { visible } from '../lib/text/visible.js';
import type { SessionServers } from '../protocol/mcp-status.js';
import type { McpConfiguration } from './config/types.js';
import type { ClientConnection } from './connection/deps.js';
import { notFound, nothingSet } from './no-servers.js';
import type { McpServers } from './servers.js';
import { statusRow } from './status-row.js';
import type { ServerListing } from './tools/listing.js';
import type { ToolBook } from './tools/registry.js';

export interface ServerControlParts {
  readonly servers: McpServers;
  readonly book: Pick<ToolBook, 'leave'>;
  readonly listings: Map<string, ServerListing>;
  readonly configuration: McpConfiguration;
  /** Reads the configuration with these servers of the host. */
  reload(table: Readonly<Record<string, unknown>>): Promise<McpConfiguration>;
  answered(): Promise<void>;
  /** Connects the servers and registers their tools. Never rejects. */
  bringUp(connections: readonly ClientConnection[]): Promise<void>;
}

/** The operations on a session's servers for hosts and people. */
export function createServerControl(parts: ServerControlParts): SessionServers {
  const { servers, book, listings } = parts;
  const configurations = [parts.configuration];
  const written = (name: string): unknown => {
    for (const configuration of [...configurations].reverse()) {
      const found = configuration.servers.find((one) => one.name === name);
      if (found !== undefined) return configuration.written(found);
    }
    return undefined;
  };
  const usable = (name: string): ClientConnection => {
    const connection = servers.find(name);
    if (connection !== undefined) return connection;
    throw refusal(servers, name);
  };
  return {
    status: () =>
      servers
        .statuses()
        .map((status) => statusRow(status, listings.get(status.name), written(status.name))),
    answered: parts.answered,
    async set(table) {
      const next = await parts.reload(table);
      const fatal = next.problems.find(({ severity }) => severity === 'fatal');
      // fail-closed: when servers cannot be added, the previous ones stay.
      if (fatal !== undefined) return nothingSet(Object.keys(table), fatal.message);
      configurations.push(next);
      const taken = namesOfOthers(servers);
      const wanted = next.servers.filter(
        ({ scope, name }) => scope === 'dynamic' && !taken.has(name),
      );
      const { added, removed } = await servers.replace('dynamic', wanted);
      for (const name of removed) {
        listings.delete(name);
        await book.leave(name, `the MCP server "${visible(name)}" was taken out of this session`);
      }
      const fresh = added.flatMap((name) => servers.find(name) ?? []);
      const isOfHost = ({ declaration }: ClientConnection): boolean =>
        declaration.entry?.type === 'sdk';
      // Not awaited: a host may serve its own servers only after it has our answer.
      void parts.bringUp(fresh.filter(isOfHost));
      await parts.bringUp(fresh.filter((one) => !isOfHost(one)));
      const clashes = Object.keys(table).filter((name) => taken.has(name));
      return { added, removed, errors: { ...errorsOf(servers, added), ...clashErrors(clashes) } };
    },
    async reconnect(name) {
      const connection = usable(name);
      const connected = await connection.reconnect();
      if (!connected.ok) throw new PortcullisError('io', connected.error.message);
      await parts.bringUp([connection]);
    },
    async toggle(name, enabled) {
      const known = servers.statuses().some((one) => one.name === name);
      if (!known || !(await servers.toggle(name, enabled))) throw refusal(servers, name);
      if (enabled) {
        const connection = usable(name);
        await parts.bringUp([connection]);
        const { state, error } = connection.status();
        if (state !== 'connected')
          await book.leave(name, error ?? `"${visible(name)}" is ${state}`);
        return;
      }
      await book.leave(name, `the MCP server "${visible(name)}" is turned off in this session`);
    },
  };
}

/** Names from configuration files, which a host's server may not silently replace. */
function namesOfOthers(servers: McpServers): ReadonlySet<string> {
  const others = servers.statuses().filter(({ scope }) => scope !== 'dynamic');
  return new Set(others.map(({ name }) => name));
}

function clashErrors(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => [name, 'a server of that name is configured already']),
  );
}

function errorsOf(servers: McpServers, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    servers
      .statuses()
      .filter(({ name, state }) => names.includes(name) && OUT_OF_USE.has(state))
      .map(({ name, error, state }) => [name, error ?? `it cannot be used: ${state}`]),
  );
}

const OUT_OF_USE: ReadonlySet<string> = new Set(['failed', 'disabled', 'needs-auth']);

function refusal(servers: McpServers, name: string): PortcullisError {
  const status = servers.statuses().find((one) => one.name === name);
  if (status === undefined) return notFound(name);
  const why = status.error ?? `it is ${status.state}`;
  return new PortcullisError('denied', `Server "${visible(name)}" may not be used: ${why}`);
}
