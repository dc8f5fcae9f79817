import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseParser } from './sse.js';

function parse(...pieces: string[]): string[] {
  const parser = new SseParser();
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

describe('SseParser', () => {
  it('reads events with and without a name', () => {
    expect(parse('event: a\ndata: 1\n\ndata: 2\n\n')).toEqual(['1', '2']);
  });

  it('takes CRLF, also when a chunk ends between CR and LF', () => {
    expect(parse('event: a\r', '\ndata: 1\r\n\r', '\n')).toEqual(['1']);
  });

  it('joins data of several lines, ignores comments, ids and retries, keeps inner spaces', () => {
    expect(parse(': hi\nid: 4\nretry: 10\ndata:  x\ndata:y\ndata:\n\n')).toEqual([' x\ny\n']);
  });

  it('drops a byte order mark and events without data', () => {
    expect(parse('\ufeffdata: 1\n\nevent: nothing\n\n')).toEqual(['1']);
  });

  it('gives the last message although its blank line is missing', () => {
    expect(parse('data: 1\n\ndata: 2')).toEqual(['1', '2']);
  });

  it('remembers the beginning of what is no event stream', () => {
    const parser = new SseParser();
    parser.push(`Service unavailable\n${'x'.repeat(500)}\n`);
    expect(parser.unknown.startsWith('Service unavailable\nxxx')).toBe(true);
    expect(parser.unknown.length).toBe(200);
  });

  it('does not depend on where the text is cut', () => {
    const text = 'event: a\r\ndata: {"t":"ä🙂"}\r\n\r\n: c\ndata: 2\ndata: 3\n\n';
    const whole = parse(text);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length];
        expect(parse(...at.slice(1).map((end, i) => text.slice(at[i], end)))).toEqual(whole);
      }),
    );
  });

  it('takes a message that is there as a whole as it takes one that comes letter by letter', () => {
    const parts = [
      'event: a\n',
      'data: 1\n',
      'data:\r\n',
      'data',
      '\n',
      '\r\n',
      ': c\n',
      'x\n',
      '\r',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 12 }), (picked) => {
        const text = picked.join('');
        expect(parse(text)).toEqual(parse(...text));
      }),
      { numRuns: 500 },
    );
  });

  it('takes a long line in many pieces and gives up on a message without end', () => {
    const piece = 'x'.repeat(64 * 1024);
    const long = new SseParser();
    long.push('data: ');
    for (let sent = 0; sent < 30 * 1024 * 1024; sent += piece.length) long.push(piece);
    expect(long.push('\n\n')[0]?.length).toBe(30 * 1024 * 1024);

    const flood = (parser: SseParser, text: string) => () => {
      for (let sent = 0; sent < 300 * 1024 * 1024; sent += text.length) parser.push(text);
    };
    expect(flood(new SseParser(), piece)).toThrow('a message without end');
    expect(flood(new SseParser(), `data: ${piece}\n`)).toThrow('a message without end');
    expect(flood(new SseParser(), `data: ${piece}\n\n`)).toThrow('an answer without end');
    expect(flood(new SseParser(), `: ${piece}\n\n`)).toThrow('an answer without end');
  });
});
