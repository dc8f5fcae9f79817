import { describe, expect, it } from 'vitest';
import { oneByOne } from './bunched.js';
import type { ModelEvent, ReadyEvents } from './client.js';
import { watched } from './watched.js';

const EVENTS: readonly ModelEvent[] = [
  { type: 'ping' },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_stop' },
];

async function* bunches(list: readonly (readonly ModelEvent[])[]) {
  yield* list;
}

function setUp(broken?: Error) {
  const log: string[] = [];
  async function* source(): AsyncGenerator<ModelEvent> {
    try {
      yield* EVENTS;
      if (broken !== undefined) throw broken;
    } finally {
      log.push('closed');
    }
  }
  const events = watched(source(), {
    saw: (event) => log.push(event.type),
    over: () => log.push('over'),
  });
  return { log, events };
}

describe('watched events', () => {
  it('are the same, each seen before its reader has it, and then the end', async () => {
    const { log, events } = setUp();
    for await (const event of events) log.push(`read ${event.type}`);
    expect(log).toEqual([
      ...EVENTS.flatMap(({ type }) => [type, `read ${type}`]),
      'closed',
      'over',
    ]);
    expect(await events.next()).toEqual({ value: undefined, done: true });
    expect(log.filter((line) => line === 'over').length).toBe(1);
  });

  it('are over, and their source closed, when the reader leaves early', async () => {
    const { log, events } = setUp();
    for await (const event of events) if (event.type === 'content_block_stop') break;
    expect(log).toEqual(['ping', 'content_block_stop', 'closed', 'over']);
  });

  it('are seen when they are taken without waiting, too', async () => {
    const log: string[] = [];
    const source = oneByOne(bunches([EVENTS]), new AbortController().signal);
    const events = watched(source, {
      saw: (event) => log.push(event.type),
      over: () => log.push('over'),
    });
    await events.next();
    expect(events.takeReady()).toEqual(EVENTS.slice(1));
    expect(events.takeReady()).toBeUndefined();
    expect(await events.next()).toEqual({ value: undefined, done: true });
    expect(log).toEqual([...EVENTS.map(({ type }) => type), 'over']);
  });

  it('are over when their source says so without being asked for more', async () => {
    const log: string[] = [];
    const source = Object.assign(bunches([EVENTS]), { isOver: true });
    const events = watched(oneByOne(source, new AbortController().signal), {
      saw: (event) => log.push(event.type),
      over: () => log.push('over'),
    });
    await events.whenReady?.();
    expect(events.takeEnd?.()).toBe(false);
    expect(events.takeReady()).toEqual(EVENTS);
    expect(events.takeEnd?.()).toBe(true);
    expect(events.takeEnd?.()).toBe(true);
    await events.return?.();
    expect(log).toEqual([...EVENTS.map(({ type }) => type), 'over']);
  });

  it('are over when their source cannot even be waited for', () => {
    const log: string[] = [];
    const source: ReadyEvents = {
      next: async () => ({ value: undefined, done: true }),
      takeReady: () => undefined,
      whenReady: () => {
        throw new Error('no');
      },
      [Symbol.asyncIterator]: () => source,
    };
    const events = watched(source, { saw: () => undefined, over: () => log.push('over') });
    expect(() => events.whenReady?.()).toThrow('no');
    expect(log).toEqual(['over']);
  });

  it('have nothing ready where their source does not say', async () => {
    const { events } = setUp();
    await events.next();
    expect(events.takeReady()).toBeUndefined();
    expect((await events.next()).value).toBe(EVENTS[1]);
  });

  it('are over when the source breaks, and the reader is told', async () => {
    const { log, events } = setUp(new Error('broken'));
    const read = async (): Promise<void> => {
      for await (const _ of events) {
        // Only the end matters.
      }
    };
    await expect(read()).rejects.toThrow('broken');
    expect(log.slice(-2)).toEqual(['closed', 'over']);
  });
});
