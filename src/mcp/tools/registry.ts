import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { GateExtension } from '../../permissions/gate/open.js';
import { NO_RULES } from '../../permissions/rules/rules.js';
import type { McpConnection } from '../server.js';
import { definitionGuard, findingOf, planGuard, serverOfRuleGuard } from './definition-guard.js';
import type { ServerListing } from './listing.js';
import {
  type Offered,
  ServerTools,
  type SharedByServers,
  type ToolBookDeps,
} from './server-tools.js';

export type { Offered, ToolBookDeps } from './server-tools.js';

/** The MCP tools of a session and their approved definitions. */
export interface ToolBook {
  /** Registers a list of tools; `live` when it comes from the server instead of the cache. */
  offer(
    connection: McpConnection,
    listing: ServerListing,
    options: { readonly live: boolean },
  ): Offered;
  /** Checks a definition for calls that bypass the gate because settings chose the tool; the first one approves it. */
  vouch(connection: McpConnection, tool: string): Promise<Result<undefined, string>>;
  /** Stops calls to a server for the given reason until it is offered again. */
  leave(server: string, why: string): void;
  /** Must be part of the gate: calls that it has not judged are refused. */
  readonly extension: GateExtension;
  /** Resolves when the session's approvals are stored. */
  close(): Promise<void>;
}

export function createToolBook(deps: ToolBookDeps): ToolBook {
  const servers = new Map<string, ServerTools>();
  const judged = new Map<string, string>();
  const storing = new Set<Promise<void>>();
  const shared: SharedByServers = {
    ...deps,
    judged,
    keep(what, recording) {
      const stored = recording.catch((thrown) => deps.tell(`${what}: ${messageOf(thrown)}`));
      storing.add(stored);
      void stored.finally(() => storing.delete(stored));
    },
  };
  const toolsOf = (connection: McpConnection): ServerTools => {
    const { name } = connection.declaration;
    const tools = servers.get(name) ?? new ServerTools(connection, shared);
    servers.set(name, tools);
    tools.bind(connection);
    return tools;
  };
  return {
    offer: (connection, listing, options) => toolsOf(connection).offer(listing, options),
    async vouch(connection, name) {
      const tools = toolsOf(connection);
      const entry = await tools.current(name);
      if (!entry.ok) return entry;
      const finding = findingOf(tools, entry.value);
      // fail-closed: no person can answer here, so a question becomes a refusal.
      if (finding.decision !== 'none')
        return err(`The call was not made: ${finding.reasonForModel ?? finding.reason ?? ''}`);
      tools.approve(entry.value);
      return ok(undefined);
    },
    leave(server, why) {
      const tools = servers.get(server);
      if (tools === undefined) return;
      tools.away = why;
      tools.live = false;
    },
    extension: {
      guards: [
        definitionGuard({ servers, judged, covers: deps.covers }),
        planGuard,
        serverOfRuleGuard,
      ],
      resolvers: [],
      rules: () => NO_RULES,
      contentOf: (toolUseId) => judged.get(toolUseId),
    },
    async close() {
      await Promise.all(storing);
    },
  };
}
