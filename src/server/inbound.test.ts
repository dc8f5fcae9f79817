import { describe, expect, it } from 'vitest';
import { type Inbound, type Message, readInbound } from './inbound.js';

async function* pieces(...given: (string | Message)[]): AsyncGenerator<string | Message> {
  yield* given;
}

/** An input that says one thing and then stands still, and knows whether it was let go. */
function standing(first: Message): Inbound & { readonly returned: boolean } {
  let returned = false;
  let said = false;
  return {
    get returned() {
      return returned;
    },
    [Symbol.asyncIterator]: () => ({
      next() {
        if (said) return new Promise(() => undefined);
        said = true;
        return Promise.resolve({ done: false as const, value: first });
      },
      async return() {
        returned = true;
        return { done: true as const, value: undefined };
      },
    }),
  };
}

describe('readInbound', () => {
  it('hands on lines that are cut anywhere, and messages that are parsed already, in order', async () => {
    const seen: Message[] = [];
    const input = pieces('{"a":', '1}\n{"a":2}\n', { a: 3 }, '{"a":4}');
    await readInbound(input, (message) => seen.push(message)).done;
    expect(seen).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }]);
  });

  it('rejects on what is no message, after what came before it', async () => {
    const seen: Message[] = [];
    const reading = readInbound(pieces('{"a":1}\nnonsense\n{"a":2}\n'), (one) => seen.push(one));
    await expect(reading.done).rejects.toThrow('not a JSON object: nonsense');
    expect(seen).toEqual([{ a: 1 }]);
  });

  it('is done at once when nobody listens any more, also while the input stands still', async () => {
    const input = standing({ a: 1 });
    const seen: Message[] = [];
    let heard: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const reading = readInbound(input, (message) => {
      seen.push(message);
      heard();
    });
    await first;
    reading.stop();
    await reading.done;
    expect(seen).toEqual([{ a: 1 }]);
    expect(input.returned).toBe(true);
  });

  it('hands nothing on that comes after the stop', async () => {
    const seen: Message[] = [];
    const reading = readInbound(pieces({ a: 1 }, { a: 2 }), (one) => seen.push(one));
    reading.stop();
    await reading.done;
    expect(seen).toEqual([]);
  });
});
