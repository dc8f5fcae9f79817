/** The content of messages, as the Messages API writes it. Open where providers add kinds of their own. */
import { z } from 'zod';
import { type Declaration, declare, flag, open, text, words } from './declare.schema.js';

/** In the order in which they are printed. */
export const CONTENT_TYPES: Declaration[] = [];

const typed = <K extends string, F extends z.ZodRawShape>(kind: K, fields: F) =>
  z.object({ type: z.literal(kind), ...fields });
const block = <K extends string, F extends z.ZodRawShape>(
  name: string,
  kind: K,
  about: string,
  fields: F,
) => declare(CONTENT_TYPES, name, about, typed(kind, fields));
const union = <T extends readonly z.ZodType[]>(name: string, about: string, options: T) =>
  declare(CONTENT_TYPES, name, about, z.union(options));

const cacheControl = declare(
  CONTENT_TYPES,
  'CacheControl',
  'Where a provider may cut its cache.',
  typed('ephemeral', { ttl: words('5m 1h').optional() }),
);
const cached = { cache_control: cacheControl.nullable().optional() };
const citation = declare(CONTENT_TYPES, 'Citation', 'Marks a text as quoted from a source.', open);

const contentBlock = union('ContentBlock', 'One block of an answer.', [
  block('TextContent', 'text', 'What the model says.', {
    text,
    citations: z.array(citation).nullable().optional(),
  }),
  block('ThinkingContent', 'thinking', 'What the model thinks aloud.', {
    thinking: text,
    signature: text,
  }),
  block('RedactedThinkingContent', 'redacted_thinking', 'Thoughts that the provider encrypted.', {
    data: text,
  }),
  block('ToolUseContent', 'tool_use', 'A call of a tool.', {
    id: text,
    name: text,
    input: z.unknown(),
  }),
  block(
    'ServerToolUseContent',
    'server_tool_use',
    'A call of a tool that the provider runs itself.',
    {
      id: text,
      name: text,
      input: z.unknown(),
    },
  ),
  block('WebSearchResultContent', 'web_search_tool_result', "The provider's own search results.", {
    tool_use_id: text,
    content: z.unknown(),
  }),
]);

const cacheCreation = z.object({
  ephemeral_5m_input_tokens: z.number(),
  ephemeral_1h_input_tokens: z.number(),
});
const serverToolUse = z.object({
  web_search_requests: z.number(),
  web_fetch_requests: z.number().optional(),
});

const messageUsage = declare(
  CONTENT_TYPES,
  'MessageUsage',
  'Tokens of one model call.',
  z.object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    cache_creation_input_tokens: z.number().nullable().optional(),
    cache_read_input_tokens: z.number().nullable().optional(),
    cache_creation: cacheCreation.nullable().optional(),
    server_tool_use: serverToolUse.nullable().optional(),
    service_tier: text.nullable().optional(),
  }),
);

export const summedUsage = declare(
  CONTENT_TYPES,
  'NonNullableUsage',
  'Tokens of several model calls, summed up: nothing in it is null.',
  z.object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    cache_creation_input_tokens: z.number(),
    cache_read_input_tokens: z.number(),
    cache_creation: cacheCreation.optional(),
    server_tool_use: serverToolUse.optional(),
    service_tier: text.optional(),
  }),
);

export const assistantContent = declare(
  CONTENT_TYPES,
  'AssistantMessageContent',
  'An answer of a model. One `assistant` message carries one finished block of it.',
  z.object({
    id: text,
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: text,
    content: z.array(contentBlock),
    stop_reason: text.nullable(),
    stop_sequence: text.nullable(),
    usage: messageUsage,
  }),
);

const textParam = block('TextParam', 'text', 'Text for a model.', {
  text,
  ...cached,
  citations: z.array(z.unknown()).nullable().optional(),
});
const imageParam = block('ImageParam', 'image', 'An image for a model.', {
  source: z.union([
    typed('base64', {
      media_type: words('image/jpeg image/png image/gif image/webp'),
      data: text,
    }),
    typed('url', { url: text }),
  ]),
  ...cached,
});
const documentParam = block('DocumentParam', 'document', 'A document for a model.', {
  source: z.union([
    typed('base64', { media_type: z.literal('application/pdf'), data: text }),
    typed('text', { media_type: z.literal('text/plain'), data: text }),
    typed('url', { url: text }),
    typed('content', {
      content: z.union([text, z.array(z.union([textParam, imageParam]))]),
    }),
  ]),
  title: text.nullable().optional(),
  context: text.nullable().optional(),
  citations: z.object({ enabled: flag.optional() }).nullable().optional(),
  ...cached,
});

export const messageParam = declare(
  CONTENT_TYPES,
  'MessageParam',
  'A message that goes to a model.',
  z.object({
    role: words('user assistant'),
    content: z.union([
      text,
      z.array(
        union('ContentBlockParam', 'One block of a message that goes to a model.', [
          textParam,
          imageParam,
          documentParam,
          block('ToolResultParam', 'tool_result', 'What a tool gave back.', {
            tool_use_id: text,
            content: z
              .union([text, z.array(z.union([textParam, imageParam, documentParam]))])
              .optional(),
            is_error: flag.optional(),
            ...cached,
          }),
          block('ToolUseParam', 'tool_use', 'An earlier call of a tool.', {
            id: text,
            name: text,
            input: z.unknown(),
            ...cached,
          }),
          block('ThinkingParam', 'thinking', 'Earlier thoughts.', {
            thinking: text,
            signature: text,
          }),
        ]),
      ),
    ]),
  }),
);

const delta = union('StreamDelta', 'What a block grows by.', [
  typed('text_delta', { text }),
  typed('input_json_delta', { partial_json: text }),
  typed('thinking_delta', { thinking: text }),
  typed('signature_delta', { signature: text }),
  typed('citations_delta', { citation }),
]);

export const streamEvent = union(
  'StreamEvent',
  "An event of the model's own stream, passed through.",
  [
    typed('message_start', { message: assistantContent }),
    typed('content_block_start', {
      index: z.number(),
      content_block: contentBlock,
    }),
    typed('content_block_delta', { index: z.number(), delta }),
    typed('content_block_stop', { index: z.number() }),
    typed('message_delta', {
      delta: z.object({ stop_reason: text.nullable(), stop_sequence: text.nullable() }),
      usage: messageUsage.partial(),
    }),
    typed('message_stop', {}),
  ],
);
