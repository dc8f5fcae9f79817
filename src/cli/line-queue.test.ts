import { describe, expect, it } from 'vitest';
import { LineQueue } from './line-queue.js';

describe('LineQueue', () => {
  it('gives lines in order, typed ahead or not', async () => {
    const lines = new LineQueue();
    lines.push('one');
    lines.push('two');
    expect([await lines.next(), await lines.next()]).toEqual(['one', 'two']);
    const third = lines.next();
    lines.push('three');
    expect(await third).toBe('three');
  });

  it('keeps what was typed ahead out of an answer', async () => {
    const lines = new LineQueue();
    lines.push('y');
    const answer = lines.fresh();
    lines.push('n');
    expect(await answer).toBe('n');
    expect(await lines.next()).toBe('y');
  });

  it('leaves the next line to others when a wait is given up', async () => {
    const lines = new LineQueue();
    const controller = new AbortController();
    const answer = lines.fresh(controller.signal);
    controller.abort();
    expect(await answer).toBeUndefined();
    lines.push('prompt');
    expect(await lines.next()).toBe('prompt');
    expect(await lines.fresh(controller.signal)).toBeUndefined();
  });

  it('gives the next line to the question that was asked last', async () => {
    const lines = new LineQueue();
    const prompt = lines.next();
    const answer = lines.fresh();
    lines.push('y');
    lines.push('go on');
    expect([await answer, await prompt]).toEqual(['y', 'go on']);
  });

  it('ends for everybody who waits and everybody who comes', async () => {
    const lines = new LineQueue();
    const waiting = lines.next();
    lines.end();
    expect(await waiting).toBeUndefined();
    expect(await lines.next()).toBeUndefined();
  });
});
