import { query, type SDKMessage } from 'the-sdk';

export async function delegate(prompt: string): Promise<Map<string, number>> {
  const calls = new Map<string, number>();
  const note = (message: SDKMessage): void => {
    if (message.type !== 'assistant' || message.parent_tool_use_id === null) return;
    const count = calls.get(message.parent_tool_use_id) ?? 0;
    calls.set(message.parent_tool_use_id, count + message.message.content.length);
  };
  const running = query({
    prompt,
    options: {
      agents: { scout: { description: 'looks', prompt: 'Look.', tools: ['Read'] } },
      allowedTools: ['Agent'],
    },
  });
  for await (const message of running) {
    note(message);
    if (message.type === 'system' && message.subtype === 'task_notification') {
      calls.set(message.task_id, message.usage?.tool_uses ?? 0);
    }
  }
  return calls;
}
