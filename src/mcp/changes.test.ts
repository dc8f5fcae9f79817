import { describe, expect, it } from 'vitest';
import { oneAtATime, problemTeller } from './changes.js';

const turns = async (count: number): Promise<void> => {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('work that a server brings about', () => {
  it('is done once for a flood, and once more for what came meanwhile', async () => {
    const done: string[] = [];
    const key = {};
    const change = oneAtATime<object>(async () => {
      await turns(1);
      done.push('asked');
    }, 1);
    for (let at = 0; at < 2_000; at++) change(key);
    await turns(20);
    expect(done).toHaveLength(2);
    change(key);
    await turns(20);
    expect(done).toHaveLength(3);
  });

  it('does not keep one server waiting for another', async () => {
    const done: object[] = [];
    const [one, two] = [{}, {}];
    const change = oneAtATime<object>(async (key) => void done.push(key), 60_000);
    change(one);
    change(two);
    change(one);
    await turns(1);
    expect(done).toEqual([one, two]);
  });
});

describe('problems of a server', () => {
  it('are told once, and no more of them than are read', () => {
    const told: string[] = [];
    const teller = problemTeller((text) => void told.push(text));
    teller('a', ['x', 'y', 'x']);
    teller('a', ['y', 'z']);
    teller('b', ['x']);
    expect(told).toEqual(['x', 'y', 'z', 'x']);
    teller(
      'a',
      Array.from({ length: 9_000 }, (_, at) => `p${at}`),
    );
    expect(told.length).toBeLessThan(30);
  });
});
