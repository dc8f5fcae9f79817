import { messageOf } from '../errors.js';
import { isRecord, own } from '../util/own.js';
import { VERSION } from '../version.js';
import type { JsonRpcMessage, JsonRpcTransport } from './mcp-transport.js';
import { checkShape, shapeToJsonSchema } from './schema-shape.js';
import type { McpServerInstance, SdkMcpToolDefinition } from './types/index.js';

/** Newest first; a client that wants another one gets the first. */
const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

export interface ToolServerOptions {
  readonly name: string;
  readonly version?: string | undefined;
  readonly instructions?: string | undefined;
  readonly tools: readonly SdkMcpToolDefinition[];
}

type Request = Readonly<Record<string, unknown>>;
type Answer =
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } };

/**
 * A server of tools that live in this process. It speaks the tool part of MCP itself, so that a session
 * with a few functions loads no library, and may be connected to any number of sessions at once.
 */
export function createToolServer(options: ToolServerOptions): McpServerInstance {
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  const connected = new Set<JsonRpcTransport>();
  const listing = { tools: [...tools.values()].map(describe) };
  return {
    async connect(transport) {
      connected.add(transport);
      const running = new Map<unknown, AbortController>();
      const receive = (message: JsonRpcMessage): void => {
        if (!isRecord(message)) return;
        const { method, id, params } = message;
        if (method === 'notifications/cancelled' && isRecord(params)) {
          running.get(params.requestId)?.abort(new Error('cancelled'));
        }
        if (typeof method !== 'string' || id === undefined) return;
        void answer(message).then((reply) => {
          if (reply !== undefined) void transport.send({ jsonrpc: '2.0', id, ...reply });
        });
      };
      const answer = async (message: Request): Promise<Answer | undefined> => {
        const { method, id, params } = message;
        switch (method) {
          case 'initialize':
            return { result: greeting(options, params) };
          case 'ping':
            return { result: {} };
          case 'tools/list':
            return { result: listing };
          case 'tools/call': {
            const controller = new AbortController();
            running.set(id, controller);
            try {
              const called = await call(tools, params, { signal: controller.signal, id });
              // A withdrawn request gets no answer.
              return controller.signal.aborted ? undefined : called;
            } finally {
              running.delete(id);
            }
          }
          default:
            return { error: { code: -32601, message: `Method not found: ${String(method)}` } };
        }
      };
      transport.onmessage = receive as (message: never) => void;
      await transport.start();
    },
    async close() {
      await Promise.all([...connected].map((transport) => transport.close()));
      connected.clear();
    },
  };
}

function greeting(options: ToolServerOptions, params: unknown): object {
  const wanted = isRecord(params) ? params.protocolVersion : undefined;
  return {
    protocolVersion: PROTOCOL_VERSIONS.find((known) => known === wanted) ?? PROTOCOL_VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: options.name, version: options.version ?? VERSION },
    ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
  };
}

function describe({ name, description, inputSchema, annotations, _meta }: SdkMcpToolDefinition) {
  return {
    name,
    description,
    inputSchema: shapeToJsonSchema(inputSchema),
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

async function call(
  tools: ReadonlyMap<string, SdkMcpToolDefinition>,
  params: unknown,
  { signal, id }: { readonly signal: AbortSignal; readonly id: unknown },
): Promise<Answer> {
  const name = isRecord(params) ? params.name : undefined;
  const tool = typeof name === 'string' ? tools.get(name) : undefined;
  if (tool === undefined || !isRecord(params)) {
    return { error: { code: -32602, message: `Tool ${String(name)} not found` } };
  }
  try {
    const checked = await checkShape(tool.inputSchema, params.arguments ?? {});
    // fail-closed: a handler only ever sees what its schema lets through.
    if (!checked.ok) return failed(`Invalid arguments for tool ${tool.name}: ${checked.error}`);
    const extra = { signal, requestId: id, _meta: own(params, '_meta') };
    const result: unknown = await tool.handler(checked.value as never, extra);
    if (!isRecord(result)) return failed(`The tool ${tool.name} gave no result`);
    return { result };
  } catch (thrown) {
    return failed(messageOf(thrown));
  }
}

/** The model is told, as of any other tool that failed. */
function failed(text: string): Answer {
  return { result: { content: [{ type: 'text', text }], isError: true } };
}
