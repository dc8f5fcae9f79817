/**
 * The conversation as every layer sees it: the shapes of the Anthropic Messages API, which the
 * other providers are translated to and from. Values are immutable once they are in a history:
 * adapters remember the bytes of a message by its identity.
 */

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

export interface ThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  readonly signature: string;
}

export interface RedactedThinkingBlock {
  readonly type: 'redacted_thinking';
  readonly data: string;
}

export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  /** Always an object in a history; `MalformedInput` has text that could not be parsed. */
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Base64Source {
  readonly type: 'base64';
  readonly media_type: string;
  readonly data: string;
}

export interface UrlSource {
  readonly type: 'url';
  readonly url: string;
}

export interface ImageBlock {
  readonly type: 'image';
  readonly source: Base64Source | UrlSource;
}

export interface DocumentBlock {
  readonly type: 'document';
  readonly source:
    | Base64Source
    | UrlSource
    | { readonly type: 'text'; readonly media_type: 'text/plain'; readonly data: string };
  readonly title?: string;
}

/** What a tool result may hold. */
export type ResultBlock = TextBlock | ImageBlock | DocumentBlock;

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string | readonly ResultBlock[];
  readonly is_error?: boolean;
}

export type AssistantBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock;
export type UserBlock = TextBlock | ImageBlock | DocumentBlock | ToolResultBlock;

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly UserBlock[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantBlock[];
}

export type Message = UserMessage | AssistantMessage;

/** Token counts of one model call, in the API's own field names. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
  readonly server_tool_use?: {
    readonly web_search_requests: number;
    readonly web_fetch_requests?: number;
  };
  readonly service_tier?: string | null;
}

export const ZERO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
  };
}

/** `max_tokens` and `refusal` matter to the loop; anything else a provider says is passed on. */
export type ModelStopReason =
  | 'end_turn'
  | 'tool_use'
  | 'max_tokens'
  | 'stop_sequence'
  | 'refusal'
  | 'pause_turn'
  | (string & {});

export function textOf(
  content: string | readonly { readonly type: string; readonly text?: string }[],
): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('');
}
