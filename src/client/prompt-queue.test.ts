import { describe, expect, it } from 'vitest';
import type { QueuedPrompt } from './events.js';
import { PromptQueue } from './prompt-queue.js';

function prompt(uuid: string, more: Partial<QueuedPrompt> = {}): QueuedPrompt {
  return { message: { uuid, content: [] }, named: true, priority: 'next', ...more };
}

function queueOf(...prompts: QueuedPrompt[]) {
  const queue = new PromptQueue();
  for (const one of prompts) queue.push(one);
  return queue;
}

const idsOf = (prompts: readonly QueuedPrompt[]) => prompts.map(({ message }) => message.uuid);

describe('the queue of prompts', () => {
  it('gives a turn all that waits before the next order, and an order alone', () => {
    const queue = queueOf(
      prompt('a'),
      prompt('b'),
      prompt('c', { command: '/clear' }),
      prompt('d'),
    );
    expect(queue.startsAlone).toBe(false);
    expect(idsOf(queue.takeTurn())).toEqual(['a', 'b']);
    expect(queue.startsAlone).toBe(true);
    expect(idsOf(queue.takeTurn())).toEqual(['c']);
    expect(idsOf(queue.takeTurn())).toEqual(['d']);
    expect(queue.size).toBe(0);
  });

  it('lets what may wait wait, and what stands behind an order, while a turn runs', () => {
    const queue = queueOf(
      prompt('a', { priority: 'later' }),
      prompt('b'),
      prompt('c', { command: '/cost' }),
      prompt('d'),
    );
    expect(idsOf(queue.takeForRunning())).toEqual(['b']);
    expect(idsOf(queue.all)).toEqual(['a', 'c', 'd']);
    expect(queue.takeForRunning()).toEqual([]);
  });

  it('puts what is urgent first, and takes one back by its id', () => {
    const queue = queueOf(prompt('a'), prompt('b'), prompt('c', { priority: 'now' }));
    expect(idsOf(queue.all)).toEqual(['c', 'a', 'b']);
    expect([queue.cancel('a'), queue.cancel('a')]).toEqual([true, false]);
    expect(idsOf(queue.takeTurn())).toEqual(['c', 'b']);
    expect([queue.size, queue.takeTurn(), queue.takeForRunning()]).toEqual([0, [], []]);
  });
});
