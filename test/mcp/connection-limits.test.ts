import { describe, expect, it } from 'vitest';
import { httpRig } from './connection-http-rig.js';
import { call, connectTo, remote } from './connection-rig.js';

const timeouts = { listMs: 600 };

describe('one time limit for a whole list', () => {
  it('holds for a server that does not answer, with all attempts', async () => {
    const rig = await httpRig(({ body }) => body.method === 'tools/list');
    const connection = connectTo(remote('http', rig.url), { timeouts });
    await connection.connect();
    const startedAt = performance.now();
    const listed = await connection.listTools();
    expect(listed).toMatchObject({ ok: false, error: { code: 'call-timeout' } });
    // Without it the limit would be half a minute.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(rig.count('tools/list')).toBe(1);
  });

  it('holds for a server that always has one more page', async () => {
    const rig = await httpRig(({ body, before, json }) => {
      if (body.method !== 'tools/list') return false;
      const result = { tools: [], nextCursor: `page ${before}` };
      setTimeout(() => json(200, { jsonrpc: '2.0', id: body.id, result }), 200);
      return true;
    });
    const connection = connectTo(remote('http', rig.url), { timeouts });
    await connection.connect();
    expect((await connection.listTools()).ok).toBe(false);
    expect(rig.count('tools/list')).toBeLessThan(10);
  });
});

describe('a server over HTTP', () => {
  it('is not taken at its word when one message is longer than any', async () => {
    const rig = await httpRig(({ body, response }) => {
      if (body.method !== 'tools/call') return false;
      const text = 'x'.repeat(17 * 1024 * 1024);
      const result = { content: [{ type: 'text', text }] };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, result }));
      return true;
    });
    const connection = connectTo(remote('http', rig.url));
    const result = await call(connection, 'any');
    expect(result).toMatchObject({ ok: false, error: { code: 'protocol', mayHaveRun: true } });
    expect(result.ok ? '' : result.error.message).toContain('longer than 16 MiB');
  });

  it('does not have its stream opened in a loop', async () => {
    let streams = 0;
    const rig = await httpRig(({ request, response, body, json }) => {
      if (body.method === 'tools/call') {
        const result = { content: [] };
        setTimeout(() => json(200, { jsonrpc: '2.0', id: body.id, result }), 1_500);
        return true;
      }
      if (request.method !== 'GET') return false;
      streams += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`retry: 0\nid: ${streams}\ndata: \n\n`);
      return true;
    });
    const connection = connectTo(remote('http', rig.url));
    expect((await call(connection, 't')).ok).toBe(true);
    expect(streams).toBeGreaterThan(0);
    expect(streams).toBeLessThan(20);
  });

  it('does not fill the memory with one event', async () => {
    let sent = 0;
    const rig = await httpRig(({ response, body }) => {
      if (body.method !== 'tools/call') return false;
      const line = `data: ${'x'.repeat(1_000_000)}\n`;
      const more = (): void => {
        while (!response.destroyed && sent < 200) {
          sent += 1;
          if (!response.write(line)) return void response.once('drain', more);
        }
      };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('error', () => undefined);
      more();
      return true;
    });
    const answer = await call(connectTo(remote('http', rig.url)), 't');
    expect(answer).toMatchObject({ ok: false });
    expect(sent).toBeLessThan(100);
  });
});
