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
