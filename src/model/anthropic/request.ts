import type { AssistantBlock, Message, ResultBlock, UserBlock } from '../../protocol/content.js';
import { acceptedEffort, acceptedThinking, acceptsForcedTool } from '../catalog/models.js';
import type { ModelRequest } from '../client.js';
import { jsonText, serializedOnce, toolText } from '../request-json.js';

export interface AnthropicRequestOptions {
  /** Prompt-cache marks; on unless switched off. */
  readonly promptCaching?: boolean | undefined;
  /** Fields of the user's own that go into every request. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
}

const MARK = ',"cache_control":{"type":"ephemeral"}';

/**
 * Writes the body of a Messages API request. The text of one request, cache marks left out, is a prefix of
 * the next one's.
 */
export function anthropicRequest(
  request: ModelRequest,
  options: AnthropicRequestOptions = {},
): string {
  const isMarked = options.promptCaching !== false;
  const messages = request.messages.map(serializeMessage).filter((message) => message.text !== '');
  const marks = isMarked ? markedMessages(messages) : [];
  const texts = messages.map((message, index) =>
    marks.includes(index) ? withMark(message) : message.text,
  );
  const system = request.system.filter((block) => block.text.trim() !== '').map(jsonText);
  const tools = request.tools.map(toolText);
  const fields = [
    `"model":${jsonText(request.model)}`,
    `"max_tokens":${request.maxTokens}`,
    '"stream":true',
    ...listField('system', system, isMarked),
    ...listField('tools', tools, isMarked),
    ...settingsFields(request, options),
    `"messages":[${texts.join(',')}]`,
  ];
  return `{${fields.join(',')}}`;
}

function listField(name: string, objects: readonly string[], isMarked: boolean): string[] {
  if (objects.length === 0) return [];
  const text = objects.join(',');
  return [`"${name}":[${isMarked ? `${text.slice(0, -1)}${MARK}}` : text}]`];
}

function settingsFields(request: ModelRequest, options: AnthropicRequestOptions): string[] {
  const { model, thinking, maxTokens, toolChoice } = request;
  const effort = acceptedEffort(model, request.effort);
  const fields: Record<string, unknown> = {
    thinking: acceptedThinking(model, thinking, maxTokens),
    output_config: effort === undefined ? undefined : { effort },
    tool_choice: acceptsForcedTool(model) ? toolChoice : undefined,
    ...options.extraBody,
  };
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${jsonText(name)}:${jsonText(value)}`);
}

interface SerializedMessage {
  readonly role: Message['role'];
  /** Empty: nothing of the message may be sent. */
  readonly text: string;
  /** Where a cache mark goes; -1: no block may carry one. */
  readonly markAt: number;
}

/**
 * The last message, and the last user message before it, which carried the mark of the request before: the
 * provider looks back only a limited number of blocks, and a turn with many tool results would miss the cache.
 */
function markedMessages(messages: readonly SerializedMessage[]): readonly number[] {
  const last = messages.findLastIndex(({ markAt }) => markAt !== -1);
  const previous = messages
    .slice(0, Math.max(last, 0))
    .findLastIndex(({ role, markAt }) => role === 'user' && markAt !== -1);
  return [last, previous];
}

function withMark({ text, markAt }: SerializedMessage): string {
  return `${text.slice(0, markAt)}${MARK}${text.slice(markAt)}`;
}

const serializeMessage = serializedOnce((message): SerializedMessage => {
  const { role } = message;
  let text = `{"role":"${role}","content":[`;
  const { length } = text;
  let markAt = -1;
  for (const block of message.content) {
    const sendable = sendableBlock(block);
    if (sendable === undefined) continue;
    text += `${text.length === length ? '' : ','}${jsonText(sendable)}`;
    if (block.type !== 'thinking' && block.type !== 'redacted_thinking') markAt = text.length - 1;
  }
  return text.length === length
    ? { role, text: '', markAt: -1 }
    : { role, text: `${text}]}`, markAt };
});

/** The API refuses empty text, thinking that it did not sign and ids of a foreign shape. */
function sendableBlock(block: UserBlock | AssistantBlock): unknown {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? undefined : block;
    case 'thinking':
      return block.signature === '' ? undefined : block;
    case 'tool_use':
      return { ...block, id: plainId(block.id) };
    case 'tool_result':
      return {
        ...block,
        tool_use_id: plainId(block.tool_use_id),
        content: sendableResult(block.content),
      };
    default:
      return block;
  }
}

function plainId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_') || '_';
}

function sendableResult(content: string | readonly ResultBlock[]): string | readonly ResultBlock[] {
  if (typeof content === 'string') return content;
  const kept = content.filter((block) => block.type !== 'text' || block.text !== '');
  return kept.length === 0 && content.length > 0 ? '' : kept;
}
