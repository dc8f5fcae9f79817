import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../process/helpers.js';
import { call, connectTo, remote, text } from './connection-rig.js';

interface SseRig {
  readonly url: string;
  /** Ends all streams, as a proxy or a restart does. */
  cut(): void;
  streams(): number;
  forget: boolean;
  endpoint: string | undefined;
}

async function sseRig(): Promise<SseRig> {
  const open = new Map<string, ServerResponse>();
  let count = 0;
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      const id = String(++count);
      open.set(id, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: ${rig.endpoint ?? `/message?s=${id}`}\n\n`);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    const stream = open.get(new URL(request.url ?? '/', 'http://x').searchParams.get('s') ?? '');
    if (rig.forget && method === 'tools/call') {
      rig.forget = false;
      response.writeHead(404).end('no such session');
      return;
    }
    response.writeHead(202).end();
    const reply = (result: unknown): void => {
      stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    };
    if (method === 'initialize') {
      const serverInfo = { name: 'sse', version: '1' };
      reply({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
    } else if (params?.name === 'crash') stream?.destroy();
    else if (method === 'tools/call') {
      reply({ content: [{ type: 'text', text: JSON.stringify(params.arguments) }] });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const rig: SseRig = {
    url: `http://127.0.0.1:${port}/sse`,
    cut: () => {
      for (const stream of open.values()) stream.destroy();
    },
    streams: () => count,
    forget: false,
    endpoint: undefined,
  };
  return rig;
}

describe('a server over SSE', () => {
  it('whose stream breaks in a call may have run it; the next one connects anew', async () => {
    const rig = await sseRig();
    const connection = connectTo(remote('sse', rig.url));
    const result = await call(connection, 'crash');
    expect(result).toMatchObject({ ok: false, error: { code: 'crashed', mayHaveRun: true } });
    expect(text(await call(connection, 'echo', { a: 1 }))).toBe('{"a":1}');
    expect(rig.streams()).toBe(2);
  });

  it('whose stream breaks while nothing runs is called back by itself', async () => {
    const rig = await sseRig();
    const connection = connectTo(remote('sse', rig.url), { timeouts: { backoffMs: 50 } });
    await connection.connect();
    rig.cut();
    const isBack = (): boolean => rig.streams() === 2 && connection.status().state === 'connected';
    expect(await until(isBack)).toBe(true);
  });

  it('that has forgotten the session gets a new one, and the call once more', async () => {
    const rig = await sseRig();
    const connection = connectTo(remote('sse', rig.url));
    await connection.connect();
    rig.forget = true;
    expect(text(await call(connection, 'echo', { a: 1 }))).toBe('{"a":1}');
    expect(rig.streams()).toBe(2);
  });

  it('cannot send us and our headers to another host', async () => {
    const rig = await sseRig();
    let isReached = false;
    const other = createServer((_request, response) => {
      isReached = true;
      response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const address = other.address();
    rig.endpoint = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/x`;
    const result = await connectTo(remote('sse', rig.url, { 'x-key': 'mine' })).connect();
    expect(result.ok).toBe(false);
    expect(isReached).toBe(false);
  });

  it('that is not there is a failure', async () => {
    const result = await connectTo(remote('sse', 'http://127.0.0.1:1/sse')).connect();
    expect(result).toMatchObject({ ok: false, error: { code: 'connect-failed' } });
  });
});
