import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { createMcpHandler, InMemoryTransport, type McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SdkBridge } from '../../src/mcp/connection/connection.js';
import { listingOf } from '../../src/mcp/tools/listing.js';
import { until } from '../process/helpers.js';
import { modernServer } from './connection-modern.fixture.mjs';
import { call, connectTo, nodeEntry, recorder, remote, text } from './connection-rig.js';

const FIXTURE = path.join(import.meta.dirname, 'connection-modern.fixture.mjs');

let server: Server;
let url: string;
const seen: { method: string; region: string | undefined }[] = [];

const handler = createMcpHandler(
  () => modernServer({ onGrow: () => handler.notify.toolsChanged() }) as McpServer,
  {
    legacy: 'reject',
  },
);

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { region } = { region: request.headers['mcp-param-region'] };
  seen.push({
    method: String(request.headers['mcp-method']),
    region: region === undefined ? undefined : String(region),
  });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const stop = new AbortController();
  response.on('close', () => stop.abort());
  const answer = await handler.fetch(
    new Request(`http://127.0.0.1${request.url}`, {
      method: request.method ?? 'GET',
      headers: request.headers as Record<string, string>,
      signal: stop.signal,
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) response.end();
  else
    Readable.fromWeb(answer.body as never)
      .on('error', () => {})
      .pipe(response);
}

beforeAll(async () => {
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`;
});
afterAll(async () => {
  await handler.close();
  server.closeAllConnections();
  server.close();
});

describe.each(['stdio', 'http'] as const)('a server of the new protocol over %s', (kind) => {
  const entry = () =>
    kind === 'stdio' ? nodeEntry([FIXTURE, 'stdio', 'reject']) : remote('http', url);

  it('is spoken to in it', async () => {
    const connection = connectTo(entry());
    expect(await connection.connect()).toMatchObject({
      ok: true,
      value: { state: 'connected', protocolVersion: '2026-07-28', instructions: 'be modern' },
    });
    const tools = await connection.listTools();
    expect(tools.ok ? tools.value.map((tool) => tool.name) : []).toContain('echo');
    expect(text(await call(connection, 'echo', { a: 1 }))).toBe('{"a":1}');
  });

  it('gets answers of a person in a further round', async () => {
    const { asked, elicit } = recorder();
    const connection = connectTo(entry(), { elicit });
    expect(text(await call(connection, 'ask'))).toBe('hello Ada');
    expect(asked).toMatchObject([{ mode: 'form', message: 'your name?' }]);
    expect(text(await call(connectTo(entry()), 'ask'))).toBe('nobody there');
  });

  it('tells when its list changes', async () => {
    const connection = connectTo(entry());
    const changes: string[] = [];
    connection.onChange((change) => changes.push(change));
    await connection.connect();
    const grown = async (): Promise<boolean> => {
      await call(connection, 'grow');
      return until(() => changes.includes('tools'), 300);
    };
    // The subscription stands a moment after the connection does.
    let isTold = false;
    for (let attempt = 0; attempt < 20 && !isTold; attempt++) isTold = await grown();
    expect(isTold).toBe(true);
  });

  it('is told to stop', async () => {
    const connection = connectTo(entry(), { timeouts: { totalMs: 300 } });
    await connection.connect();
    const result = await call(connection, 'slow', { ms: 20_000 });
    expect(result).toMatchObject({ ok: false, error: { code: 'call-timeout' } });
    expect((await call(connection, 'echo')).ok).toBe(true);
  });
});

describe('the new protocol over HTTP', () => {
  it('puts marked parameters into headers', async () => {
    const connection = connectTo(remote('http', url));
    await connection.listTools();
    expect(text(await call(connection, 'routed', { region: 'eu' }))).toBe('{"region":"eu"}');
    expect(seen.some(({ method, region }) => method === 'tools/call' && region === 'eu')).toBe(
      true,
    );
  });

  it('tells of a tool that is not offered, as a header of its cannot be one', async () => {
    const connection = connectTo(remote('http', url));
    const tools = await connection.listTools();
    const { declaration } = connection;
    const listing = listingOf({
      declaration,
      tools: tools.ok ? tools.value : [],
    });
    expect(listing.tools.map(({ name }) => name)).not.toContain('misrouted');
    expect(listing.problems).toEqual([
      expect.stringMatching(
        /^the tool "misrouted" of the MCP server "srv" is not offered: .*x-mcp-header/,
      ),
    ]);
  });

  it('finds out about marked parameters when the server insists', async () => {
    const connection = connectTo(remote('http', url));
    expect(text(await call(connection, 'routed', { region: 'us' }))).toBe('{"region":"us"}');
  });
});

describe('a server in the host', () => {
  it('is spoken to through the bridge', async () => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const host = modernServer() as McpServer;
    await host.connect(theirs);
    const waiting = new Map<unknown, (message: unknown) => void>();
    const sent: string[] = [];
    const bridge: SdkBridge = {
      send: (message) =>
        new Promise((resolve) => {
          sent.push(String(message.method));
          if (message.id === undefined) resolve({ jsonrpc: '2.0', id: 0, result: {} });
          else waiting.set(message.id, resolve);
          void ours.send(message as never);
        }),
    };
    ours.onmessage = (message) => {
      const answer = 'id' in message ? waiting.get(message.id) : undefined;
      if (answer === undefined) bridge.onmessage?.(message);
      else answer(message);
    };
    await ours.start();
    const connection = connectTo({ type: 'sdk' }, { sdkTransport: bridge });
    expect(await connection.connect()).toMatchObject({
      ok: true,
      value: { transport: 'sdk', protocolVersion: '2025-11-25' },
    });
    expect(sent.slice(0, 2)).toEqual(['initialize', 'notifications/initialized']);
    const changes: string[] = [];
    connection.onChange((change) => changes.push(change));
    expect(text(await call(connection, 'echo', { a: 1 }))).toBe('{"a":1}');
    await call(connection, 'grow');
    expect(await until(() => changes.includes('tools'))).toBe(true);
  });

  it.each<[string, (id: unknown) => Record<string, unknown>, unknown]>([
    ['without an id is the answer', () => ({ id: null }), { ok: true }],
    ['with its id as text is the answer', (id) => ({ id: String(id) }), { ok: true }],
    ['with another id is none', () => ({ id: 99 }), { error: { code: 'protocol' } }],
    ['that is a request is none', () => ({ method: 'ping' }), { error: { code: 'protocol' } }],
  ])('%s', async (_name, members, expected) => {
    const bridge: SdkBridge = {
      send: async ({ id, method, params }) => {
        const { protocolVersion } = (params ?? {}) as { protocolVersion?: string };
        const serverInfo = { name: 'host', version: '1' };
        const first = { protocolVersion, capabilities: { tools: {} }, serverInfo };
        if (method === 'initialize') return { jsonrpc: '2.0', id, result: first };
        const result = { content: [] };
        return { jsonrpc: '2.0', id, result, ...(method === 'tools/call' ? members(id) : {}) };
      },
    };
    const connection = connectTo({ type: 'sdk' }, { sdkTransport: bridge });
    expect(await call(connection, 'x')).toMatchObject(expected as Record<string, unknown>);
  });

  it('that does not answer is a failure, not a hang', async () => {
    const bridge: SdkBridge = { send: () => Promise.reject(new Error('gone')) };
    const result = await connectTo({ type: 'sdk' }, { sdkTransport: bridge }).connect();
    expect(result).toMatchObject({ ok: false, error: { code: 'connect-failed' } });
    expect((await connectTo({ type: 'sdk' }).connect()).ok).toBe(false);
  });
});
