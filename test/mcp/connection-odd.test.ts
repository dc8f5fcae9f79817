import { describe, expect, it } from 'vitest';
import { httpRig } from './connection-http-rig.js';
import { call, connectTo, nodeEntry, remote, text } from './connection-rig.js';

const NOTE = '{"jsonrpc":"2.0","method":"notifications/message"}';
const EURO = '\u20ac\u{1f600}'.repeat(50);

describe('a server over HTTP', () => {
  it.each([
    ['application/json', (list: string) => list],
    ['text/event-stream', (list: string) => `data: ${list}\n\n`],
  ])('that answers with a list of very many messages is not read on: %s', async (type, body) => {
    const rig = await httpRig((exchange) => {
      if (exchange.body.method !== 'tools/call') return false;
      const notes = Array.from({ length: 300_000 }, () => NOTE);
      const answer = `{"jsonrpc":"2.0","id":${exchange.body.id},"result":{"content":[]}}`;
      exchange.response.writeHead(200, { 'content-type': type });
      exchange.response.end(body(`[${[...notes, answer].join(',')}]`));
      return true;
    });
    const connection = connectTo(remote('http', rig.url));
    const result = await call(connection, 'any');
    expect(result).toMatchObject({ ok: false, error: { code: 'protocol', mayHaveRun: true } });
    expect(JSON.stringify(result)).toContain('sent a list of 300001 messages, more than 1000');
    expect(connection.status().state).toBe('connected');
  });

  it('may answer with a list that is not long', async () => {
    const rig = await httpRig(({ body, response }) => {
      if (body.method !== 'tools/call') return false;
      const answer = `{"jsonrpc":"2.0","id":${body.id},"result":{"content":[]}}`;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`[${[...Array.from({ length: 900 }, () => NOTE), answer].join(',')}]`);
      return true;
    });
    expect((await call(connectTo(remote('http', rig.url)), 'any')).ok).toBe(true);
  });
});

it('a program that writes bytes that are no text, ids of every kind and its answer in pieces is understood', async () => {
  const script = `
    const write = (o) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...o }) + '\\n');
    const tricks = (id) => {
      process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a, 0xc3, 0x28, 0x0a, 0x00, 0x0a]));
      for (const odd of [[1], { a: 1 }, null, 1.5, true, '__proto__', '', 'NaN', 1e21]) {
        write({ id: odd, result: {} });
        write({ id: odd, method: 'ping' });
      }
      process.stdout.write('[[{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[]}}]]\\n[]\\n{}\\n');
      const content = [{ type: 'text', text: ${JSON.stringify(EURO)} }];
      const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: { content } }) + '\\n');
      let at = 0;
      const timer = setInterval(() => {
        if (at >= bytes.length) return clearInterval(timer);
        const size = 1 + (at % 3);
        process.stdout.write(bytes.subarray(at, at + size));
        at += size;
      }, 0);
    };
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const serverInfo = { name: 'odd', version: '1' };
      if (method === 'initialize') write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
      else if (method === 'tools/call') tricks(id);
      else if (id !== undefined && method) write({ id, error: { code: -32601, message: 'no' } });
    });`;
  const notes: string[] = [];
  const connection = connectTo(nodeEntry(['-e', script]), { onNote: (note) => notes.push(note) });
  expect(text(await call(connection, 'any'))).toBe(EURO);
  expect(notes).toEqual([]);
});
