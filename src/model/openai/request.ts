import {
  type AssistantMessage,
  type DocumentBlock,
  type ImageBlock,
  type ResultBlock,
  type ToolResultBlock,
  textOf,
  type UserMessage,
} from '../../protocol/content.js';
import type { ModelRequest } from '../client.js';
import { jsonText, serializedOnce } from '../request-json.js';

/** Writes the body of a chat completion request. */
export function chatRequest(request: ModelRequest, options: { readonly baseUrl: string }): string {
  // OpenAI itself refuses the old name for newer models; most other servers know only the old one.
  const limit = /^https:\/\/api\.openai\.com\//.test(`${options.baseUrl}/`)
    ? 'max_completion_tokens'
    : 'max_tokens';
  const { toolChoice } = request;
  const settings = jsonText({
    model: request.model,
    [limit]: request.maxTokens,
    stream: true,
    stream_options: { include_usage: true },
    reasoning_effort: request.effort,
    tool_choice: toolChoice && { type: 'function', function: { name: toolChoice.name } },
  });
  const tools = request.tools.map(({ name, description, input_schema: parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
  const system = request.system.map((block) => block.text).filter((text) => text.trim() !== '');
  const messages = [
    system.length === 0 ? '' : jsonText({ role: 'system', content: system.join('\n\n') }),
    ...request.messages.map(serializeMessage),
  ].filter((text) => text !== '');
  const fields = [
    settings.slice(1, -1),
    ...(tools.length === 0 ? [] : [`"tools":${jsonText(tools)}`]),
    `"messages":[${messages.join(',')}]`,
  ];
  return `{${fields.join(',')}}`;
}

/** One message as the chat messages that it becomes, comma-separated. */
const serializeMessage = serializedOnce((message) => {
  const parts = message.role === 'assistant' ? assistantParts(message) : userParts(message);
  return parts.map(jsonText).join(',');
});

function assistantParts(message: AssistantMessage): unknown[] {
  const text = textOf(message.content);
  const calls = message.content.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            id: block.id,
            type: 'function',
            function: { name: block.name, arguments: jsonText(block.input) },
          },
        ]
      : [],
  );
  if (calls.length > 0) {
    return [{ role: 'assistant', content: text === '' ? null : text, tool_calls: calls }];
  }
  return text.trim() === '' ? [] : [{ role: 'assistant', content: text }];
}

type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** Tool messages come first, as the protocol wants them right behind the calls. */
function userParts(message: UserMessage): unknown[] {
  const tools: unknown[] = [];
  const parts: ContentPart[] = [];
  for (const block of message.content) {
    if (block.type === 'tool_result') {
      const { text, images } = resultParts(block);
      tools.push({ role: 'tool', tool_call_id: block.tool_use_id, content: text });
      if (images.length > 0) {
        parts.push({ type: 'text', text: `Images of the tool result ${block.tool_use_id}:` });
        parts.push(...images.map(imagePart));
      }
    } else if (block.type === 'text') {
      if (block.text !== '') parts.push({ type: 'text', text: block.text });
    } else if (block.type === 'image') parts.push(imagePart(block));
    else parts.push({ type: 'text', text: documentText(block) });
  }
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (parts.length === 0) return tools;
  const content = texts.length === parts.length ? texts.join('\n\n') : parts;
  return [...tools, { role: 'user', content }];
}

function resultParts(block: ToolResultBlock): { text: string; images: ImageBlock[] } {
  if (typeof block.content === 'string') return { text: block.content, images: [] };
  const images = block.content.filter((part) => part.type === 'image');
  const texts = block.content.map(resultText).filter((text) => text !== '');
  if (images.length > 0) texts.push(`[${images.length} image(s) follow in the next message]`);
  return { text: texts.join('\n'), images };
}

function resultText(block: ResultBlock): string {
  if (block.type === 'text') return block.text;
  return block.type === 'document' ? documentText(block) : '';
}

function imagePart(block: ImageBlock): ContentPart {
  const { source } = block;
  const url =
    source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
  return { type: 'image_url', image_url: { url } };
}

function documentText(block: DocumentBlock): string {
  const { source, title } = block;
  const name = title === undefined ? 'document' : `document "${title}"`;
  if (source.type === 'text') return `[${name}]\n${source.data}`;
  if (source.type === 'url') return `[${name} at ${source.url}]`;
  return `[${name} (${source.media_type}) left out: this model takes text and images only]`;
}
