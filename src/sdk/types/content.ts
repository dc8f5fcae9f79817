/** The content of messages, as the Messages API writes it. Open where providers add kinds of their own. */

/** A UUID in its usual form. */
export type UUID = `${string}-${string}-${string}-${string}-${string}`;

export interface CacheControl {
  type: 'ephemeral';
  ttl?: '5m' | '1h';
}

/** Marks a text as quoted from a source. */
export type Citation = Record<string, unknown>;

export interface TextContent {
  type: 'text';
  text: string;
  citations: Citation[] | null;
}

export interface ThinkingContent {
  type: 'thinking';
  thinking: string;
  signature: string;
}

export interface RedactedThinkingContent {
  type: 'redacted_thinking';
  data: string;
}

export interface ToolUseContent {
  type: 'tool_use';
  id: string;
  name: string;
  input: unknown;
}

/** A tool that the provider runs itself. */
export interface ServerToolUseContent {
  type: 'server_tool_use';
  id: string;
  name: string;
  input: unknown;
}

export interface WebSearchResultContent {
  type: 'web_search_tool_result';
  tool_use_id: string;
  content: unknown;
}

/** One block of an answer. */
export type ContentBlock =
  | TextContent
  | ThinkingContent
  | RedactedThinkingContent
  | ToolUseContent
  | ServerToolUseContent
  | WebSearchResultContent;

/** Tokens of one model call. */
export interface MessageUsage {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number | null;
  cache_read_input_tokens: number | null;
  cache_creation?: {
    ephemeral_5m_input_tokens: number;
    ephemeral_1h_input_tokens: number;
  } | null;
  server_tool_use?: { web_search_requests: number; web_fetch_requests?: number } | null;
  service_tier?: string | null;
}

/** The same, summed up: nothing in it is null. */
export interface NonNullableUsage {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation?: {
    ephemeral_5m_input_tokens: number;
    ephemeral_1h_input_tokens: number;
  };
  server_tool_use?: { web_search_requests: number; web_fetch_requests?: number };
  service_tier?: string;
}

/** An answer of a model. One `assistant` message carries one finished block of it. */
export interface AssistantMessageContent {
  id: string;
  type: 'message';
  role: 'assistant';
  model: string;
  content: ContentBlock[];
  stop_reason: string | null;
  stop_sequence: string | null;
  usage: MessageUsage;
}

export interface TextParam {
  type: 'text';
  text: string;
  cache_control?: CacheControl | null;
  citations?: unknown[] | null;
}

export interface ImageParam {
  type: 'image';
  source:
    | {
        type: 'base64';
        media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
        data: string;
      }
    | { type: 'url'; url: string };
  cache_control?: CacheControl | null;
}

export interface DocumentParam {
  type: 'document';
  source:
    | { type: 'base64'; media_type: 'application/pdf'; data: string }
    | { type: 'text'; media_type: 'text/plain'; data: string }
    | { type: 'url'; url: string }
    | { type: 'content'; content: string | (TextParam | ImageParam)[] };
  title?: string | null;
  context?: string | null;
  citations?: { enabled?: boolean } | null;
  cache_control?: CacheControl | null;
}

export interface ToolResultParam {
  type: 'tool_result';
  tool_use_id: string;
  content?: string | (TextParam | ImageParam | DocumentParam)[];
  is_error?: boolean;
  cache_control?: CacheControl | null;
}

export interface ToolUseParam {
  type: 'tool_use';
  id: string;
  name: string;
  input: unknown;
  cache_control?: CacheControl | null;
}

export interface ThinkingParam {
  type: 'thinking';
  thinking: string;
  signature: string;
}

/** One block of a message that goes to a model. */
export type ContentBlockParam =
  | TextParam
  | ImageParam
  | DocumentParam
  | ToolResultParam
  | ToolUseParam
  | ThinkingParam;

/** A message that goes to a model. */
export interface MessageParam {
  role: 'user' | 'assistant';
  content: string | ContentBlockParam[];
}

/** An event of the model's own stream, passed through. */
export type StreamEvent =
  | { type: 'message_start'; message: AssistantMessageContent }
  | { type: 'content_block_start'; index: number; content_block: ContentBlock }
  | { type: 'content_block_delta'; index: number; delta: StreamDelta }
  | { type: 'content_block_stop'; index: number }
  | {
      type: 'message_delta';
      delta: { stop_reason: string | null; stop_sequence: string | null };
      usage: Partial<MessageUsage>;
    }
  | { type: 'message_stop' };

export type StreamDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'input_json_delta'; partial_json: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'citations_delta'; citation: Citation };
