import { type Query, query, type SDKUserMessage } from 'the-sdk';

async function* prompts(): AsyncGenerator<SDKUserMessage> {
  yield {
    type: 'user',
    message: { role: 'user', content: 'first' },
    parent_tool_use_id: null,
    session_id: '',
  };
  yield {
    type: 'user',
    message: {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      ],
    },
    parent_tool_use_id: null,
    session_id: '',
  };
}

export async function converse(): Promise<void> {
  const running: Query = query({ prompt: prompts(), options: { includePartialMessages: true } });
  for await (const message of running) {
    if (message.type === 'result') await running.interrupt();
  }
}
