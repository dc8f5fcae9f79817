import { createToolServer } from './mcp-server.js';
import type {
  AnyZodRawShape,
  CallToolResult,
  InferShape,
  McpSdkServerConfigWithInstance,
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
  extras: ToolExtras = {},
): SdkMcpToolDefinition<Schema> {
  const meta = {
    ...(extras.searchHint === undefined ? {} : { 'anthropic/searchHint': extras.searchHint }),
    ...(extras.alwaysLoad === true ? { 'anthropic/alwaysLoad': true } : {}),
  };
  return {
    name,
    description,
    inputSchema,
    handler,
    ...(extras.annotations === undefined ? {} : { annotations: extras.annotations }),
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
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

/** A tool of whatever schema. */
export type AnyToolDefinition = Omit<SdkMcpToolDefinition, 'handler'> & {
  handler(args: never, extra: unknown): Promise<CallToolResult>;
};

/** A server of such tools, for the option `mcpServers`. */
export function createSdkMcpServer(
  options: CreateSdkMcpServerOptions,
): McpSdkServerConfigWithInstance {
  const { name, version, instructions, tools = [], alwaysLoad, timeout } = options;
  const shown = alwaysLoad === true ? tools.map(alwaysShown) : tools;
  return {
    type: 'sdk',
    name,
    ...(timeout === undefined ? {} : { timeout }),
    instance: createToolServer({
      name,
      version,
      instructions,
      tools: shown as readonly SdkMcpToolDefinition[],
    }),
  };
}

function alwaysShown(definition: AnyToolDefinition): AnyToolDefinition {
  return { ...definition, _meta: { ...definition._meta, 'anthropic/alwaysLoad': true } };
}
