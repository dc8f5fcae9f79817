import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerParser } from './http-answer.js';

interface Seen {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly ends: number;
  readonly problem: string | undefined;
  readonly keepsAlive: boolean;
}

/** What becomes of an answer that comes in these pieces. */
function read(
  pieces: readonly string[],
  { isBodiless = false, closes = false }: { isBodiless?: boolean; closes?: boolean } = {},
): Seen {
  const parser = new AnswerParser();
  parser.expect({ isBodiless });
  let status: number | undefined;
  let headers: Readonly<Record<string, string>> = {};
  let body = '';
  let ends = 0;
  const reader = {
    head(given: number, all: Readonly<Record<string, string>>) {
      status = given;
      headers = { ...all };
    },
    body(bytes: Buffer, from: number, to: number) {
      body += bytes.toString('latin1', from, to);
    },
    end() {
      ends++;
    },
  };
  // One buffer for all, as sockets have it: what is kept of it without a copy is lost.
  const shared = Buffer.alloc(256 * 1024);
  let problem: string | undefined;
  for (const piece of pieces) {
    if (problem !== undefined) break;
    const length = shared.write(piece, 'latin1');
    problem = parser.push(shared.subarray(0, length), reader);
    shared.fill(0, 0, length);
  }
  if (closes) parser.ended(reader);
  return { status, headers, body, ends, problem, keepsAlive: parser.keepsAlive };
}

const whole = (text: string): Seen => read([text]);

describe('an answer', () => {
  it('with a length', () => {
    const seen = whole('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b \t\r\n\r\nhello');
    expect(seen).toMatchObject({ status: 200, body: 'hello', ends: 1, keepsAlive: true });
    expect(seen.headers).toEqual({ 'content-length': '5', 'x-a': 'b' });
    expect(seen.problem).toBeUndefined();
  });

  it('in pieces, with extensions and lines behind it', () => {
    const text =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n' +
      '5;a="b"\r\nhello\r\n0A \t\r\n, new worl\r\n1\r\nd\r\n000\r\nx-sum: 1\r\nx-b: 2\r\n\r\n';
    expect(whole(text)).toMatchObject({ body: 'hello, new world', ends: 1, problem: undefined });
  });

  it('until the connection ends', () => {
    const text = 'HTTP/1.0 200 Fine\r\n\r\nall of it';
    expect(read([text], { closes: true })).toMatchObject({
      body: 'all of it',
      ends: 1,
      keepsAlive: false,
    });
    expect(whole(text).ends).toBe(0);
  });

  it.each([
    ['a length', 'content-length: 9\r\n\r\nhalf'],
    ['pieces', 'transfer-encoding: chunked\r\n\r\n9\r\nhalf'],
    ['the last piece', 'transfer-encoding: chunked\r\n\r\n0\r\n'],
    ['nothing but a head', 'content-length: 9\r\n'],
  ])('that breaks off is not over: %s', (_, rest) => {
    expect(read([`HTTP/1.1 200 OK\r\n${rest}`], { closes: true }).ends).toBe(0);
  });

  it('without a body, whatever it says of its length', () => {
    const rest = 'content-length: 9\r\n\r\n';
    expect(read([`HTTP/1.1 200 OK\r\n${rest}`], { isBodiless: true }).ends).toBe(1);
    expect(whole(`HTTP/1.1 204 Nothing\r\n${rest}`).ends).toBe(1);
    expect(whole(`HTTP/1.1 304 As it was\r\n${rest}`).ends).toBe(1);
    expect(whole('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n').ends).toBe(1);
  });

  it('stands behind notices, but not behind any number of them', () => {
    const notice = 'HTTP/1.1 103 Early\r\nlink: x\r\n\r\n';
    const answer = 'HTTP/1.1 201\r\ncontent-length: 1\r\n\r\n1';
    expect(whole(notice + notice + answer)).toMatchObject({ status: 201, body: '1', ends: 1 });
    expect(whole(notice.repeat(17) + answer).problem).toMatch(/notices/);
    expect(whole('HTTP/1.1 101 Switch\r\nupgrade: x\r\n\r\n').problem).toMatch(/protocol/);
  });

  it('says whether the connection may be used again', () => {
    const keeps = (head: string) => whole(`${head}\r\ncontent-length: 0\r\n\r\n`).keepsAlive;
    expect(keeps('HTTP/1.1 200 OK')).toBe(true);
    expect(keeps('HTTP/1.1 200 OK\r\nconnection: Close')).toBe(false);
    expect(keeps('HTTP/1.1 200 OK\r\nconnection: x, close')).toBe(false);
    expect(keeps('HTTP/1.0 200 OK')).toBe(false);
    expect(keeps('HTTP/1.0 200 OK\r\nconnection: keep-alive')).toBe(true);
    const parser = new AnswerParser();
    parser.expect({ isBodiless: false });
    const hint = 'HTTP/1.1 200 OK\r\nkeep-alive: max=3, timeout=7\r\ncontent-length: 0\r\n\r\n';
    const nobody = { head() {}, body() {}, end() {} };
    expect(parser.push(Buffer.from(hint), nobody)).toBeUndefined();
    expect(parser.keepAliveMs).toBe(7000);
  });

  it('joins what is repeated, but not what is said once', () => {
    const text =
      'HTTP/1.1 200 OK\r\nset-cookie: a\r\nSet-Cookie: b\r\ncontent-type: x\r\ncontent-type: y\r\n' +
      '__proto__: z\r\ncontent-length: 0\r\n\r\n';
    const { headers } = whole(text);
    expect(headers['set-cookie']).toBe('a, b');
    expect(headers['content-type']).toBe('x');
    expect(Object.keys(headers)).toContain('__proto__');
  });
});

describe('what two readers could take for different answers is a fault', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  it.each([
    ['no answer at all', '220 mail ready\r\n'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a name with a space behind it', `${ok}content-length : 5\r\n\r\nhello`],
    ['a line without a name', `${ok}: 5\r\n\r\n`],
    ['a line without a colon', `${ok}content-length\r\n\r\n`],
    ['a value that goes on in the next line', `${ok}x-a: b\r\n c\r\n\r\n`],
    ['a line that ends without a carriage return', `${ok}x-a: b\nx-c: d\r\n\r\n`],
    ['a carriage return within a line', `${ok}x-a: b\rx-c: d\r\n\r\n`],
    ['a control character', `${ok}x-a: b\0\r\n\r\n`],
    ['two lengths', `${ok}content-length: 5\r\ncontent-length: 5\r\n\r\nhello`],
    ['a list of lengths', `${ok}content-length: 5, 5\r\n\r\nhello`],
    ['a negative length', `${ok}content-length: -5\r\n\r\nhello`],
    ['a length with a sign', `${ok}content-length: +5\r\n\r\nhello`],
    ['a length in digits of sixteen', `${ok}content-length: 0x5\r\n\r\nhello`],
    ['no length where one is named', `${ok}content-length:\r\n\r\nhello`],
    ['a blank that is none', `${ok}transfer-encoding: \xa0chunked\r\n\r\n0\r\n\r\n`],
    [
      'a length for a body in pieces',
      `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['another coding', `${ok}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    [
      'a coding twice',
      `${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a piece without a size', `${ok}transfer-encoding: chunked\r\n\r\n\r\nhello`],
    ['a size that is no number', `${ok}transfer-encoding: chunked\r\n\r\n5g\r\nhello`],
    ['a size with a sign', `${ok}transfer-encoding: chunked\r\n\r\n-5\r\nhello`],
    ['a size that is too long', `${ok}transfer-encoding: chunked\r\n\r\n${'0'.repeat(12)}5\r\n`],
    ['a size that ends with a line feed', `${ok}transfer-encoding: chunked\r\n\r\n5\nhello`],
    ['a size with a stray carriage return', `${ok}transfer-encoding: chunked\r\n\r\n5\rxhello`],
    ['an extension with a line feed', `${ok}transfer-encoding: chunked\r\n\r\n5;a\nhello`],
    ['a piece that is longer', `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n`],
    ['a line feed in what follows', `${ok}transfer-encoding: chunked\r\n\r\n0\r\nx: y\n\r\n`],
    ['more than an answer', `${ok}content-length: 5\r\n\r\nhello!`],
    ['a second answer', `${ok}content-length: 0\r\n\r\n${ok}content-length: 0\r\n\r\n`],
    ['a head without an end', `${ok}x-a: ${'b'.repeat(70_000)}`],
    ['an extension without an end', `${ok}transfer-encoding: chunked\r\n\r\n5;${'b'.repeat(5000)}`],
    [
      'lines without an end behind the body',
      `${ok}transfer-encoding: chunked\r\n\r\n0\r\n${'x: y\r\n'.repeat(12_000)}`,
    ],
  ])('%s', (_, text) => {
    expect(whole(text).problem).toEqual(expect.any(String));
    expect(read([...text]).problem).toEqual(expect.any(String));
  });
});

describe('pieces', () => {
  const answers = fc.record({
    notices: fc.nat(2),
    headers: fc.array(
      fc.tuple(fc.stringMatching(/^x-[a-z]{1,8}$/), fc.stringMatching(/^[!-~]{1,12}$/)),
      { maxLength: 4 },
    ),
    pieces: fc.array(fc.stringMatching(/^[\r\n0-9a-f;: -~]{1,40}$/), { maxLength: 5 }),
    hasLength: fc.boolean(),
    trailer: fc.boolean(),
  });

  it('mean the same however an answer is cut', () => {
    fc.assert(
      fc.property(answers, fc.array(fc.nat(600), { maxLength: 12 }), (answer, cuts) => {
        const body = answer.pieces.join('');
        const head = answer.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
        const inPieces = answer.pieces
          .map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`)
          .join('');
        const text = [
          'HTTP/1.1 100 Continue\r\n\r\n'.repeat(answer.notices),
          `HTTP/1.1 200 OK\r\n${head}`,
          answer.hasLength
            ? `content-length: ${body.length}\r\n\r\n${body}`
            : `transfer-encoding: chunked\r\n\r\n${inPieces}0\r\n${answer.trailer ? 'x: y\r\n' : ''}\r\n`,
        ].join('');
        const at = [...new Set(cuts.filter((cut) => cut < text.length))].sort((a, b) => a - b);
        const cut = [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
        const seen = read(cut);
        expect(seen).toMatchObject({ status: 200, body, ends: 1, problem: undefined });
        expect(seen).toEqual(whole(text));
      }),
      { numRuns: 300 },
    );
  });

  it('of any bytes are taken without an exception', () => {
    const bytes = fc.array(
      fc.oneof(
        fc.constantFrom('HTTP/1.1 200 OK\r\n', '\r\n', 'content-length: 3\r\n', '0\r\n\r\n', '5'),
        fc.constantFrom('transfer-encoding: chunked\r\n', '\r', '\n', '\0', 'ff\r\n', ':', ' '),
        fc.string({ maxLength: 8 }),
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(bytes, (pieces) => {
        expect(read(pieces, { closes: true }).ends).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });
});
