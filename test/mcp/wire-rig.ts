import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { run } from '../e2e/worlds.js';
import {
  type HostEnd,
  type HostLog,
  type Message,
  type WireHost,
  wireHost,
} from '../support/wire-host.js';

export const VERSION = '2025-11-25';

/** What a server in the host's process offers; a tool that gives undefined never answers. */
export interface HostServer {
  readonly tools: Readonly<Record<string, (args: Message, host: HostEnd) => unknown>>;
  readonly descriptions?: Readonly<Record<string, string>>;
}

export const words = (text: string) => ({ content: [{ type: 'text', text }] });

export const listed = (server: HostServer): Message => ({
  tools: Object.keys(server.tools).map((name) => ({
    name,
    description: server.descriptions?.[name] ?? name,
    inputSchema: { type: 'object', properties: {} },
  })),
});

export const greeting = (name: string): Message => ({
  protocolVersion: VERSION,
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name, version: '1.2.3' },
});

/** The answer of a server to `mcp_message`, as the official clients give it. */
export async function answerMessage(
  server: HostServer,
  request: Message,
  host: HostEnd,
): Promise<unknown> {
  const message = request.message as Message;
  const { id, method, params } = message as { id?: unknown; method?: string; params?: Message };
  const reply = (result: unknown) => ({ mcp_response: { jsonrpc: '2.0', id: id ?? 0, result } });
  if (method === 'initialize') return reply(greeting(String(request.server_name)));
  if (method === 'tools/list') return reply(listed(server));
  if (method !== 'tools/call') return reply({});
  const result = await server.tools[String(params?.name)]?.(
    (params?.arguments ?? {}) as Message,
    host,
  );
  return result === undefined ? undefined : reply(result);
}

/** Plays a scenario with a host that has servers of its own. */
export async function playHost(
  servers: Readonly<Record<string, HostServer>>,
  scenario: Scenario & { readonly host?: WireHost },
): Promise<{ done: ScenarioRun; log: HostLog; messages: readonly string[] }> {
  const { host = {}, ...rest } = scenario;
  const { log, scenario: wire } = wireHost({
    ...host,
    initialize: { sdkMcpServers: Object.keys(servers), ...host.initialize },
    canUseTool: (request, end) => {
      const server = servers[String(request.server_name)];
      if (request.subtype === 'mcp_message' && server !== undefined)
        return answerMessage(server, request, end);
      if (host.canUseTool === undefined) throw new Error(`nobody answers ${request.subtype}`);
      return host.canUseTool(request, end);
    },
  });
  const done = await run({ ...rest, ...wire });
  const messages = log.asked.flatMap((request) => {
    const { method } = (request.message ?? {}) as { method?: string };
    return request.subtype === 'mcp_message' ? [String(method)] : [];
  });
  return { done, log, messages };
}

export const callOf = (name: string, input: Message = {}) => ({ tool: name, input });
