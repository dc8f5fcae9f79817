import type {
  Server,
  CallToolResult as ServerResult,
  Tool,
  Transport,
} from '@modelcontextprotocol/server';
import { messageOf } from '../errors.js';
import { VERSION } from '../version.js';
import { checkShape, shapeToJsonSchema } from './schema-shape.js';
import type {
  AnyZodRawShape,
  CallToolResult,
  InferShape,
  McpSdkServerConfigWithInstance,
  McpServerInstance,
  SdkMcpToolDefinition,
  ToolAnnotations,
} from './types/index.js';

export interface ToolExtras {
  annotations?: ToolAnnotations;
  /** Words by which the tool is found when tools are loaded on demand. */
  searchHint?: string;
  /** The tool is always shown to the model. */
  alwaysLoad?: boolean;
}

/** Describes a function of this process as a tool. The schemas check what the model sends. */
export function tool<Schema extends AnyZodRawShape>(
  name: string,
  description: string,
  inputSchema: Schema,
  handler: (args: InferShape<Schema>, extra: unknown) => Promise<CallToolResult>,
  { annotations, searchHint, alwaysLoad }: ToolExtras = {},
): SdkMcpToolDefinition<Schema> {
  const meta = {
    ...(searchHint !== undefined && { 'anthropic/searchHint': searchHint }),
    ...(alwaysLoad === true && { 'anthropic/alwaysLoad': true }),
  };
  return {
    name,
    description,
    inputSchema,
    handler,
    ...(annotations && { annotations }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

export interface CreateSdkMcpServerOptions {
  name: string;
  version?: string;
  instructions?: string;
  /** Any tools: each keeps the types of its own schema. */
  tools?: readonly AnyToolDefinition[];
  /** Its tools are always shown to the model. */
  alwaysLoad?: boolean;
  /** Milliseconds that a call may take. */
  timeout?: number;
}

/** A tool of any schema. */
export type AnyToolDefinition = Omit<SdkMcpToolDefinition, 'handler'> & {
  handler(args: never, extra: unknown): Promise<CallToolResult>;
};

/** A server of such tools, for the option `mcpServers`. Any number of sessions may use it at once. */
export function createSdkMcpServer(
  options: CreateSdkMcpServerOptions,
): McpSdkServerConfigWithInstance {
  const { name, timeout } = options;
  return {
    type: 'sdk',
    name,
    ...(timeout !== undefined && { timeout }),
    instance: createInstance(options),
  };
}

function createInstance(options: CreateSdkMcpServerOptions): McpServerInstance {
  const { name, version = VERSION, instructions, tools = [], alwaysLoad } = options;
  const open = new Set<Server>();
  return {
    async connect(transport) {
      const library = await import('@modelcontextprotocol/server');
      const server = new library.Server(
        { name, version },
        { capabilities: { tools: {} }, ...(instructions !== undefined && { instructions }) },
      );
      server.setRequestHandler('tools/list', async () => ({
        tools: await Promise.all(tools.map((one) => describeTool(one, alwaysLoad === true))),
      }));
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        const called = tools.find((one) => one.name === params.name);
        if (called === undefined) throw new Error(`Tool ${params.name} not found`);
        const extra = { signal: mcpReq.signal, requestId: mcpReq.id, _meta: params._meta };
        return (await callTool(called, params.arguments ?? {}, extra)) as ServerResult;
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

async function describeTool(definition: AnyToolDefinition, alwaysLoad: boolean): Promise<Tool> {
  const { name, description, inputSchema: shape, annotations } = definition;
  const inputSchema = await shapeToJsonSchema(shape);
  const _meta = alwaysLoad
    ? { ...definition._meta, 'anthropic/alwaysLoad': true }
    : definition._meta;
  return { name, description, inputSchema, annotations, _meta } as Tool;
}

async function callTool(
  definition: AnyToolDefinition,
  given: unknown,
  extra: unknown,
): Promise<CallToolResult> {
  try {
    const checked = await checkShape(definition.inputSchema, given);
    // fail-closed: a handler only ever sees what its schema lets through.
    if (!checked.ok) {
      return failed(`Invalid arguments for tool ${definition.name}: ${checked.error}`);
    }
    return await definition.handler(checked.value as never, extra);
  } catch (thrown) {
    return failed(messageOf(thrown));
  }
}

/** The model sees the failure, as of any other tool. */
function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
