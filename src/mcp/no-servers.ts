import { PortcullisError } from '../errors.js';
import { visible } from '../lib/text/visible.js';
import type { McpServersSet, SessionServers } from '../protocol/mcp-status.js';

/** A session without servers. */
export const NO_SERVERS: SessionServers = {
  status: () => [],
  answered: async () => undefined,
  async set(table) {
    return nothingSet(Object.keys(table), 'this session takes no servers');
  },
  reconnect: (name) => Promise.reject(notFound(name)),
  toggle: (name) => Promise.reject(notFound(name)),
};

export function nothingSet(names: readonly string[], why: string): McpServersSet {
  return {
    added: [],
    removed: [],
    errors: Object.fromEntries(names.map((name) => [name, why])),
  };
}

export function notFound(name: string): PortcullisError {
  return new PortcullisError('usage', `Server not found: ${visible(name)}`);
}
