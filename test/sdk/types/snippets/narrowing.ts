import type { SDKAssistantMessage, SDKMessage, SDKUserMessage } from 'the-sdk';

export function describe(message: SDKMessage): string {
  switch (message.type) {
    case 'assistant':
      return assistant(message);
    case 'user':
      return user(message);
    case 'result':
      return message.subtype === 'success' ? message.result : message.errors.join('\n');
    case 'stream_event':
      if (message.event.type === 'content_block_delta' && message.event.delta.type === 'text_delta')
        return message.event.delta.text;
      return message.event.type;
    case 'system':
      if (message.subtype === 'init') return `${message.model} ${message.tools.join()}`;
      if (message.subtype === 'compact_boundary') return message.compact_metadata.trigger;
      if (message.subtype === 'task_started') return message.description;
      if (message.subtype === 'permission_denied') return message.tool_name;
      if (message.subtype === 'hook_response') return message.outcome;
      if (message.subtype === 'status') return String(message.permissionMode);
      return message.subtype;
    default:
      return message.type;
  }
}

function assistant(message: SDKAssistantMessage): string {
  const parts = message.message.content.map((block) => {
    if (block.type === 'text') return block.text;
    if (block.type === 'tool_use')
      return `${block.name} ${JSON.stringify(block.input)} ${block.id}`;
    if (block.type === 'thinking') return block.thinking;
    return '';
  });
  const { input_tokens: tokens } = message.message.usage;
  return `${parts.join('')} ${tokens} ${message.parent_tool_use_id ?? 'main'} ${message.uuid}`;
}

function user(message: SDKUserMessage): string {
  const { content } = message.message;
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'tool_result' ? block.tool_use_id : '')).join();
}
