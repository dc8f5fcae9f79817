import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventsWith } from './event-lines.js';

async function through(
  pieces: readonly string[],
  judge: (data: string) => readonly string[],
): Promise<string> {
  const source = new ReadableStream<string>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  let text = '';
  for await (const piece of source.pipeThrough(eventsWith(judge))) text += piece;
  return text;
}

const louder = (data: string): string[] => [data.toUpperCase()];

describe('the events of a stream', () => {
  it('get other data, and keep all else', async () => {
    const text = ': hi\nid: 4\nretry: 10\ndata: one\n\nevent: message\ndata:two\n\n';
    expect(await through([text], louder)).toBe(
      ': hi\nid: 4\nretry: 10\ndata: ONE\n\nevent: message\ndata: TWO\n\n',
    );
  });

  it('lose lines that mean nothing', async () => {
    const text = 'a\nfoo: bar\nretry: soon\nretry: 5\n: hi\ndatax: 1\ndata: one\n\n';
    expect(await through([text], louder)).toBe('retry: 5\n: hi\ndata: ONE\n\n');
  });

  it('with another name are not judged', async () => {
    const text = 'event: endpoint\ndata: /message?s=1\n\n';
    expect(await through([text], louder)).toBe(text);
  });

  it('are judged as a whole when their data has several lines', async () => {
    const seen: string[] = [];
    const text = await through(['data: a\ndata:\ndata:  b\n\n'], (data) => {
      seen.push(data);
      return [data];
    });
    expect(seen).toEqual(['a\n\n b']);
    expect(text).toBe('data: a\ndata: \ndata:  b\n\n');
  });

  it('are left out where the judge gives nothing, and the next one is not', async () => {
    const judge = (data: string): string[] => (data === 'no' ? [] : [data]);
    expect(await through(['data: no\n\ndata: yes\n\n'], judge)).toBe('\ndata: yes\n\n');
  });

  it('keep characters that end a line elsewhere', async () => {
    const text = 'data: a\u2028b\u2029c\u0085d\ve\n\n';
    expect(await through([text], (data) => [data])).toBe(text);
  });

  it('may become several', async () => {
    expect(await through(['id: 1\ndata: ab\n\n: c\n\n'], (data) => [...data])).toBe(
      'id: 1\ndata: a\n\ndata: b\n\n: c\n\n',
    );
  });

  it('come at once, whatever ends their lines', async () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const writer = eventsWith(louder);
      const reader = writer.readable.getReader();
      const sent = writer.writable.getWriter().write(`data: x${end}${end}`);
      expect((await reader.read()).value).toBe('data: X\n\n');
      await sent;
    }
  });

  it('do not depend on where the text is cut', async () => {
    const text = 'event: a\r\ndata: {"t":"ä🙂"}\r\n\r\n: c\rdata: 2\rdata: 3\r\rdata: 4\n\n';
    const whole = await through([text], louder);
    const cuts = fc.array(fc.nat(text.length), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, async (given) => {
        const at = [0, ...given.sort((a, b) => a - b), text.length];
        const pieces = at.slice(1).map((end, i) => text.slice(at[i], end));
        expect(await through(pieces, louder)).toBe(whole);
      }),
    );
  });
});
