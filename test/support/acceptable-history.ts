import { expect } from 'vitest';
import type { Message } from '../../src/protocol/content.js';

/** What a provider insists on: turns alternate, and every call is answered at once, results first. */
export function expectAcceptable(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    expect(message.role).toBe(index % 2 === 0 ? 'user' : 'assistant');
    expect(message.content.length).toBeGreaterThan(0);
    if (message.role === 'assistant') {
      open = message.content.flatMap((block) => (block.type === 'tool_use' ? block.id : []));
      continue;
    }
    const results = message.content.filter((block) => block.type === 'tool_result');
    expect(results.map((block) => block.tool_use_id).sort()).toEqual([...open].sort());
    expect(message.content.slice(0, results.length)).toEqual(results);
    open = [];
  }
  expect(open).toEqual([]);
}
