import { describe, expect, it } from 'vitest';
import { createPipe } from './pipe.js';

describe('a pipe', () => {
  it('hands over in order, whoever is first', async () => {
    const pipe = createPipe<number>();
    const early = pipe.next();
    for (let i = 0; i < 300; i++) pipe.push(i);
    pipe.end();
    expect(await early).toEqual({ done: false, value: 0 });
    const rest: number[] = [];
    for await (const item of pipe) rest.push(item);
    expect(rest).toEqual(Array.from({ length: 299 }, (_, i) => i + 1));
  });

  it('tells an error after what came before it, once', async () => {
    const pipe = createPipe<string>();
    pipe.push('a');
    pipe.fail(new Error('broken'));
    pipe.push('too late');
    expect(await pipe.next()).toEqual({ done: false, value: 'a' });
    await expect(pipe.next()).rejects.toThrow('broken');
    expect(await pipe.next()).toEqual({ done: true, value: undefined });
  });

  it('knows how much waits', async () => {
    const pipe = createPipe<number>();
    let taken = 0;
    pipe.onTaken = () => void taken++;
    pipe.push(1);
    pipe.push(2);
    expect(pipe.size).toBe(2);
    await pipe.next();
    expect([pipe.size, taken]).toEqual([1, 1]);
  });

  it('tells of every item that is read, also of one that somebody waits for', async () => {
    const pipe = createPipe<string>();
    const taken: string[] = [];
    pipe.onTaken = (item) => void taken.push(item);
    const waiting = pipe.next();
    pipe.push('a');
    pipe.push('b');
    expect(taken).toEqual(['a']);
    await waiting;
    await pipe.next();
    expect(taken).toEqual(['a', 'b']);
  });

  it('keeps the order over many items, whenever they are read', async () => {
    const pipe = createPipe<number>();
    const read: unknown[] = [];
    for (let i = 0; i < 300; i++) {
      pipe.push(i);
      if (i % 3 === 2) read.push((await pipe.next()).value, (await pipe.next()).value);
    }
    pipe.end();
    for await (const item of pipe) read.push(item);
    expect(read).toEqual(Array.from({ length: 300 }, (_, i) => i));
  });
});
