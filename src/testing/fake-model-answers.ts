import { isRecord } from '../lib/own.js';
import type { Reply } from '../model/scripted/format.js';
import {
  blocksOf,
  eventsOf,
  inputTextOf,
  stopReasonOf,
  toolIdOf,
} from '../model/scripted/player.js';

export type Flavour = 'anthropic' | 'chat';

export interface AnswerRequest {
  readonly flavour: Flavour;
  readonly reply: Exclude<Reply, string>;
  readonly serial: number;
  readonly model: string;
}

/** The pieces of a streamed answer, one for each event. */
export function streamedAnswer(request: AnswerRequest): string[] {
  if (request.flavour === 'chat') return chatChunks(request);
  return eventsOf(request.reply, request).map((event) => {
    const data =
      event.type === 'message_start' ? { ...event, message: fullMessage(event.message) } : event;
    return `event: ${event.type}\ndata: ${JSON.stringify(data)}\n\n`;
  });
}

/** The whole answer as one JSON object. */
export function unstreamedAnswer(request: AnswerRequest): string {
  const { reply, serial, model } = request;
  const blocks = blocksOf(reply);
  if (request.flavour === 'chat') {
    return JSON.stringify({
      id: `chatcmpl-${serial}`,
      object: 'chat.completion',
      model,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', ...chatParts(request) },
          finish_reason: finishReason(reply),
        },
      ],
      usage: chatUsage(reply),
    });
  }
  return JSON.stringify({
    ...fullMessage({
      id: `msg_script_${serial}`,
      model,
      usage: { input_tokens: 10, output_tokens: 5 },
    }),
    content: blocks.map((block, index) => {
      if ('tool' in block) {
        const id = toolIdOf(block, serial, index);
        return { type: 'tool_use', id, name: block.tool, input: block.input ?? {} };
      }
      if ('thinking' in block)
        return { type: 'thinking', thinking: block.thinking, signature: 's' };
      return { type: 'text', text: block.text };
    }),
    stop_reason: stopReasonOf(reply),
  });
}

/** An error's body in the flavour's own shape. */
export function errorAnswer(flavour: Flavour, error: { type: string; message: string }): string {
  return JSON.stringify(flavour === 'chat' ? { error } : { type: 'error', error });
}

function fullMessage(message: { id: string; model: string; usage: unknown }): object {
  return {
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...message,
  };
}

function chatChunks(request: AnswerRequest): string[] {
  const { reply, serial, model } = request;
  const head = { id: `chatcmpl-${serial}`, object: 'chat.completion.chunk', created: 1, model };
  const delta = (fields: object): object => ({
    ...head,
    choices: [{ index: 0, delta: fields, finish_reason: null }],
  });
  const chunks: object[] = [delta({ role: 'assistant', content: '' })];
  let call = 0;
  for (const [index, block] of blocksOf(reply).entries()) {
    if ('tool' in block) {
      const id = toolIdOf(block, serial, index);
      const text = inputTextOf(block);
      const first = {
        index: call,
        id,
        type: 'function',
        function: { name: block.tool, arguments: '' },
      };
      chunks.push(delta({ tool_calls: [first] }));
      chunks.push(delta({ tool_calls: [{ index: call, function: { arguments: text } }] }));
      call++;
    } else if ('thinking' in block) chunks.push(delta({ reasoning_content: block.thinking }));
    else chunks.push(delta({ content: block.text }));
  }
  chunks.push({ ...head, choices: [{ index: 0, delta: {}, finish_reason: finishReason(reply) }] });
  chunks.push({ ...head, choices: [], usage: chatUsage(reply) });
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
}

function chatParts(request: AnswerRequest): object {
  const blocks = blocksOf(request.reply);
  const calls = blocks.flatMap((block, index) =>
    'tool' in block
      ? [
          {
            id: toolIdOf(block, request.serial, index),
            type: 'function',
            function: { name: block.tool, arguments: inputTextOf(block) },
          },
        ]
      : [],
  );
  const texts = blocks.flatMap((block) => ('text' in block ? [block.text] : []));
  const thoughts = blocks.flatMap((block) => ('thinking' in block ? [block.thinking] : []));
  return {
    content: texts.length === 0 ? null : texts.join(''),
    ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join('') }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function finishReason(reply: Exclude<Reply, string>): string {
  const reason = stopReasonOf(reply);
  const names: Record<string, string> = {
    max_tokens: 'length',
    tool_use: 'tool_calls',
    refusal: 'content_filter',
    end_turn: 'stop',
  };
  return names[reason] ?? reason;
}

function chatUsage(reply: Exclude<Reply, string>): object {
  const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, ...reply.usage };
  const cached = usage.cache_read_input_tokens;
  return {
    prompt_tokens: usage.input_tokens + cached,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.input_tokens + cached + usage.output_tokens,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** What a script sees of a request body, of either flavour. */
export function factsOfBody(body: unknown) {
  const record = isRecord(body) ? body : {};
  const messages = listOf(record.messages);
  const chatSystem = messages.filter((message) => message.role === 'system').map(contentText);
  const users = userTexts(messages);
  return {
    model: typeof record.model === 'string' ? record.model : '',
    system: [contentText({ content: record.system }), ...chatSystem].join('\n'),
    firstUser: users[0] ?? '',
    lastUser: users.at(-1) ?? '',
    anyUser: users.join('\n'),
    tools: listOf(record.tools).map((tool) => {
      const named = isRecord(tool.function) ? tool.function.name : tool.name;
      return typeof named === 'string' ? named : '';
    }),
  };
}

/** Chat messages of the roles tool and user that follow one another are one turn of ours. */
function userTexts(messages: readonly Record<string, unknown>[]): string[] {
  const texts: string[] = [];
  let open = false;
  for (const message of messages) {
    const mine = message.role === 'user' || message.role === 'tool';
    if (mine && open) texts.push(`${texts.pop() ?? ''}\n${contentText(message)}`);
    else if (mine) texts.push(contentText(message));
    open = mine;
  }
  return texts;
}

function contentText(holder: { readonly content?: unknown }): string {
  const { content } = holder;
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((block) => (typeof block.text === 'string' ? block.text : contentText(block)))
    .join('\n');
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
