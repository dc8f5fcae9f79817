import type {
  McpHttpServerConfig,
  McpSdkServerConfig,
  McpSSEServerConfig,
  McpStdioServerConfig,
} from '../../../build/generated/sdk-types.js';

/**
 * One end of a line that carries JSON-RPC messages, in the shape that MCP libraries connect to. Methods,
 * not function fields: libraries type their messages more narrowly than we need to.
 */
export interface JsonRpcTransport {
  start(): Promise<void>;
  send(message: JsonRpcMessage, options?: unknown): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/** A message of JSON-RPC 2.0: a request, a notification or an answer. */
export type JsonRpcMessage = object;

/** A server that lives in this process: ours, or a server object of the official MCP libraries. */
export interface McpServerInstance {
  connect(transport: JsonRpcTransport): Promise<void>;
  close(): Promise<void>;
}

export type McpSdkServerConfigWithInstance = McpSdkServerConfig & { instance: McpServerInstance };

export type McpServerConfig =
  | McpStdioServerConfig
  | McpSSEServerConfig
  | McpHttpServerConfig
  | McpSdkServerConfigWithInstance;

/** What a tool gives back. */
export interface CallToolResult {
  content: ToolResultContent[];
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
  [key: string]: unknown;
}

export type ToolResultContent =
  | { type: 'text'; text: string; [key: string]: unknown }
  | { type: 'image'; data: string; mimeType: string; [key: string]: unknown }
  | { type: 'audio'; data: string; mimeType: string; [key: string]: unknown }
  | { type: 'resource_link'; uri: string; name: string; [key: string]: unknown }
  | {
      type: 'resource';
      resource:
        | { uri: string; text: string; mimeType?: string; [key: string]: unknown }
        | { uri: string; blob: string; mimeType?: string; [key: string]: unknown };
      [key: string]: unknown;
    };

export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/** Fields by name, each a schema of zod 3 or 4. Nothing of zod is loaded: schemas bring their own parser. */
export type AnyZodRawShape = Record<string, SchemaLike>;

/** As much of a schema as is needed to tell the type of what it lets through. */
export type SchemaLike = { readonly _output: unknown } | ZodCoreLike;

/** Schemas of zod 4 that say it in another place. */
export interface ZodCoreLike {
  readonly _zod: { readonly output: unknown };
}

export type InferShape<Shape extends AnyZodRawShape> = {
  [K in keyof Shape as undefined extends OutputOf<Shape[K]> ? never : K]: OutputOf<Shape[K]>;
} & {
  [K in keyof Shape as undefined extends OutputOf<Shape[K]> ? K : never]?: OutputOf<Shape[K]>;
};

export type OutputOf<Schema> = Schema extends { readonly _output: infer Output }
  ? Output
  : Schema extends { readonly _zod: { readonly output: infer Output } }
    ? Output
    : never;

export type SdkMcpToolDefinition<Schema extends AnyZodRawShape = AnyZodRawShape> = {
  name: string;
  description: string;
  inputSchema: Schema;
  annotations?: ToolAnnotations;
  _meta?: Record<string, unknown>;
  handler: (args: InferShape<Schema>, extra: unknown) => Promise<CallToolResult>;
};

export type ElicitationRequest = {
  serverName: string;
  message: string;
  mode?: 'form' | 'url';
  url?: string;
  elicitationId?: string;
  requestedSchema?: Record<string, unknown>;
  title?: string;
  displayName?: string;
  description?: string;
};

export type ElicitationResult = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | number | boolean | string[]>;
  [key: string]: unknown;
};

/** Asked what MCP servers ask people. Null or none: declined. */
export type OnElicitation = (
  request: ElicitationRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<ElicitationResult | null>;

export type UserDialogRequest = {
  dialogKind: string;
  payload: Record<string, unknown>;
  toolUseID?: string;
};

export type UserDialogResult =
  | { behavior: 'completed'; result: unknown }
  | { behavior: 'cancelled' };

export type OnUserDialog = (
  request: UserDialogRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<UserDialogResult | null>;
