import { Duplex, PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Multiplexer } from './mux.js';

function pair(serve: (stream: Duplex) => void) {
  const there = new PassThrough();
  const back = new PassThrough();
  const host = new Multiplexer(Duplex, { readable: there, writable: back }, serve);
  // Built from its source text, as inside the sandbox.
  const Inside: typeof Multiplexer = new Function(`return (${Multiplexer.toString()})`)();
  const inside = new Inside(Duplex, { readable: back, writable: there });
  return { host, inside, there, back };
}

async function all(stream: Duplex): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

describe('Multiplexer', () => {
  it('carries many streams, large and small, both ways', async () => {
    const { inside } = pair((stream) => stream.pipe(stream));
    const sizes = [0, 1, 16_384, 1_000_000, 70_000];
    const results = await Promise.all(
      sizes.map((size, at) => {
        const stream = inside.open();
        stream.end(Buffer.alloc(size, at));
        return all(stream);
      }),
    );
    expect(results.map((one) => one.length)).toEqual(sizes);
    expect(results[3]?.every((byte) => byte === 3)).toBe(true);
  });

  it('is not stopped by a stream that nobody reads', async () => {
    let stuck: Duplex | undefined;
    const { inside } = pair((stream) => {
      if (stuck === undefined) stuck = stream;
      else stream.pipe(stream);
    });
    const slow = inside.open();
    slow.write(Buffer.alloc(5_000_000));
    const quick = inside.open();
    quick.end('hello');
    expect(String(await all(quick))).toBe('hello');
    // At most one window is buffered.
    expect(stuck?.readableLength).toBeLessThanOrEqual(262_144);
  });

  it('ends a stream when the other side does, and all when the pipes do', async () => {
    const opened: Duplex[] = [];
    const { inside, there } = pair((stream) => opened.push(stream));
    const one = inside.open();
    const two = inside.open();
    one.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(opened[0]?.destroyed).toBe(true);
    expect(opened[1]?.destroyed).toBe(false);
    there.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(opened[1]?.destroyed).toBe(true);
    two.destroy();
  });

  it.each([
    ['rubbish', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a length beyond all windows', Buffer.from([2, 0, 0, 0, 1, 255, 255, 255, 255])],
    ['an unknown kind', Buffer.from([9, 0, 0, 0, 1, 0, 0, 0, 0])],
  ])('stops listening to %s', async (_name, bytes) => {
    let count = 0;
    const { inside, there } = pair(() => {
      count += 1;
    });
    inside.open();
    await new Promise((resolve) => setImmediate(resolve));
    there.write(bytes);
    inside.open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(count).toBe(1);
  });

  it('ends a stream that sends more than it may', async () => {
    const opened: Duplex[] = [];
    const { there } = pair((stream) => opened.push(stream));
    const frame = (kind: number, data: Buffer): Buffer => {
      const head = Buffer.alloc(9);
      head.writeUInt8(kind, 0);
      head.writeUInt32BE(7, 1);
      head.writeUInt32BE(data.length, 5);
      return Buffer.concat([head, data]);
    };
    there.write(frame(1, Buffer.alloc(0)));
    for (let at = 0; at < 3; at++) there.write(frame(2, Buffer.alloc(200_000)));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(opened[0]?.destroyed).toBe(true);
  });
});
