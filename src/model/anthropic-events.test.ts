import { describe, expect, it } from 'vitest';
import { AnthropicEvents } from './anthropic-events.js';

const reader = () =>
  new AnthropicEvents({
    context: { baseUrl: 'http://m', baseUrlVariable: 'URL', keyVariables: [], hasKey: true },
    model: 'm',
    requestId: undefined,
  });
const sse = (data: string): string => `data: ${data}\n\n`;
const STOP = '{"type":"message_stop"}';

describe('ends of blocks and of answers', () => {
  it('are the same events however often they come, each with its own place', () => {
    const text = [0, 1, 0].map((index) => sse(`{"type":"content_block_stop","index":${index}}`));
    const expected = [0, 1, 0].map((index) => ({ type: 'content_block_stop', index }));
    for (let time = 0; time < 2; time++) {
      const events = reader().push(text.join('') + sse(STOP));
      expect(events).toEqual([...expected, { type: 'message_stop' }]);
      expect(events.every(Object.isFrozen)).toBe(true);
    }
  });

  it('that are not as they should be are faults each time', () => {
    for (let time = 0; time < 2; time++) {
      const [event] = reader().push(sse('{"type":"content_block_stop","index":"none"}'));
      expect(event?.type).toBe('failure');
    }
  });

  it('are not remembered where others could fill the memory with them', () => {
    for (let index = 1_000; index < 1_200; index++) {
      const [event] = reader().push(sse(`{"type":"content_block_stop","index":${index}}`));
      expect(event).toEqual({ type: 'content_block_stop', index });
    }
    const long = `{"type":"message_stop","more":"${'x'.repeat(200)}"}`;
    const [first] = reader().push(sse(long));
    const [second] = reader().push(sse(long));
    expect(first).not.toBe(second);
  });
});
