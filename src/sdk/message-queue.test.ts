import { describe, expect, it } from 'vitest';
import { MessageQueue } from './message-queue.js';

async function readAll<T>(queue: MessageQueue<T>): Promise<readonly T[]> {
  const next = await queue.next();
  return next.done === true ? [] : [next.value, ...(await readAll(queue))];
}

describe('a queue of messages', () => {
  it('hands over in order, whichever side is first', async () => {
    const queue = new MessageQueue<number>();
    const early = queue.next();
    for (let i = 0; i < 300; i++) queue.push(i);
    queue.end();
    expect(await early).toEqual({ done: false, value: 0 });
    expect(await readAll(queue)).toEqual(Array.from({ length: 299 }, (_, i) => i + 1));
  });

  it('gives an error after what came before it, once', async () => {
    const queue = new MessageQueue<string>();
    queue.push('a');
    queue.end(new Error('broken'));
    queue.push('too late');
    expect(await queue.next()).toEqual({ done: false, value: 'a' });
    await expect(queue.next()).rejects.toThrow('broken');
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  it('knows how much waits', async () => {
    const queue = new MessageQueue<number>();
    let taken = 0;
    queue.onTaken = () => void taken++;
    queue.push(1);
    queue.push(2);
    expect(queue.size).toBe(2);
    await queue.next();
    expect([queue.size, taken]).toEqual([1, 1]);
  });

  it('reports every message that is read, also one that a reader waits for', async () => {
    const queue = new MessageQueue<string>();
    const taken: string[] = [];
    queue.onTaken = (item) => void taken.push(item);
    const waiting = queue.next();
    queue.push('a');
    queue.push('b');
    expect(taken).toEqual(['a']);
    await waiting;
    await queue.next();
    expect(taken).toEqual(['a', 'b']);
  });

  it('keeps the order over many items, whenever they are read', async () => {
    const queue = new MessageQueue<number>();
    const read: unknown[] = [];
    for (let i = 0; i < 300; i++) {
      queue.push(i);
      if (i % 3 === 2) read.push((await queue.next()).value, (await queue.next()).value);
    }
    queue.end();
    expect([...read, ...(await readAll(queue))]).toEqual(Array.from({ length: 300 }, (_, i) => i));
  });
});
