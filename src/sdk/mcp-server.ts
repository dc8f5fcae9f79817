import type { CallToolResult, Server, Tool, Transport } from '@modelcontextprotocol/server';
import { messageOf } from '../errors.js';
import { VERSION } from '../version.js';
import { checkShape, shapeToJsonSchema } from './schema-shape.js';
import type { McpServerInstance, SdkMcpToolDefinition } from './types/index.js';

export interface ToolServerOptions {
  readonly name: string;
  readonly version?: string | undefined;
  readonly instructions?: string | undefined;
  readonly tools: readonly SdkMcpToolDefinition[];
}

/** A server of tools that live in this process. Any number of sessions may connect to it at once. */
export function createToolServer(options: ToolServerOptions): McpServerInstance {
  const { name, version = VERSION, instructions, tools } = options;
  const open = new Set<Server>();
  return {
    async connect(transport) {
      const library = await import('@modelcontextprotocol/server');
      const server = new library.Server(
        { name, version },
        { capabilities: { tools: {} }, ...(instructions !== undefined && { instructions }) },
      );
      server.setRequestHandler('tools/list', async () => ({
        tools: await Promise.all(tools.map(describeTool)),
      }));
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        const tool = tools.find((one) => one.name === params.name);
        if (tool === undefined) throw new Error(`Tool ${params.name} not found`);
        const extra = { signal: mcpReq.signal, requestId: mcpReq.id, _meta: params._meta };
        return await callTool(tool, params.arguments ?? {}, extra);
      });
      open.add(server);
      server.onclose = () => open.delete(server);
      await server.connect(transport as Transport);
    },
    async close() {
      await Promise.all([...open].map((server) => server.close()));
    },
  };
}

async function describeTool(tool: SdkMcpToolDefinition): Promise<Tool> {
  const { name, description, inputSchema: shape, annotations, _meta } = tool;
  const inputSchema = await shapeToJsonSchema(shape);
  return { name, description, inputSchema, annotations, _meta } as Tool;
}

async function callTool(
  tool: SdkMcpToolDefinition,
  given: unknown,
  extra: unknown,
): Promise<CallToolResult> {
  try {
    const checked = await checkShape(tool.inputSchema, given);
    // fail-closed: a handler only ever sees what its schema lets through.
    if (!checked.ok) return failed(`Invalid arguments for tool ${tool.name}: ${checked.error}`);
    return (await tool.handler(checked.value as never, extra)) as CallToolResult;
  } catch (thrown) {
    return failed(messageOf(thrown));
  }
}

/** The model sees the failure, as of any other tool. */
function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
