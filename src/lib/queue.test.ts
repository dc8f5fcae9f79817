import { describe, expect, it } from 'vitest';
import { KeyedQueue, Queue } from './queue.js';

describe('a queue', () => {
  it('runs work in the order of asking, and goes on after a failure', async () => {
    const queue = new Queue();
    const order: number[] = [];
    const failing = queue.add(() => Promise.reject(new Error('no')));
    const others = [1, 2, 3].map((n) => queue.add(async () => void order.push(n)));
    await expect(failing).rejects.toThrow('no');
    await queue.idle();
    await Promise.all(others);
    expect(order).toEqual([1, 2, 3]);
  });

  it('keeps only work with the same key waiting', async () => {
    const queue = new KeyedQueue();
    const order: string[] = [];
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = queue.add('a', () => gate.then(() => order.push('a1')));
    const second = queue.add('a', () => order.push('a2'));
    await queue.add('b', () => order.push('b1'));
    release();
    await Promise.all([first, second]);
    expect(order).toEqual(['b1', 'a1', 'a2']);
  });
});
