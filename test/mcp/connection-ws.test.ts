import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { until } from '../process/helpers.js';
import { call, connectTo, remote, text } from './connection-rig.js';

interface SocketRig {
  readonly url: string;
  readonly headers: Record<string, unknown>[];
  readonly server: WebSocketServer;
}

async function socketRig(
  options: { subprotocol?: boolean; key?: string } = {},
): Promise<SocketRig> {
  const headers: Record<string, unknown>[] = [];
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    handleProtocols: (offered) =>
      options.subprotocol === false ? false : ([...offered][0] ?? false),
    verifyClient: ({ req }, done) => {
      headers.push(req.headers);
      if (options.key !== undefined && req.headers['x-key'] !== options.key) done(false, 401);
      else done(true);
    },
  });
  server.on('connection', (socket) => {
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const { id, method, params } = JSON.parse(data.toString());
      const reply = (result: unknown): void =>
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (method === 'initialize') {
        reply({
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'socket', version: '1' },
        });
      } else if (params?.name === 'crash') socket.terminate();
      else if (params?.name === 'huge')
        reply({ content: [{ type: 'text', text: 'x'.repeat(17 * 1024 * 1024) }] });
      else if (method === 'tools/call')
        reply({ content: [{ type: 'text', text: JSON.stringify(params.arguments) }] });
    });
  });
  await new Promise<void>((resolve) => server.on('listening', resolve));
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `ws://127.0.0.1:${port}/`, headers, server };
}

describe('a server over a WebSocket', () => {
  it.each([true, false])(
    'works, whether it knows the subprotocol (%s) or not',
    async (subprotocol) => {
      const rig = await socketRig({ subprotocol });
      const connection = connectTo(remote('ws', rig.url, { 'x-key': 'mine' }));
      expect(text(await call(connection, 'echo', { a: 1 }))).toBe('{"a":1}');
      expect(rig.headers[0]?.['x-key']).toBe('mine');
      expect(connection.status().protocolVersion).toBe('2025-11-25');
    },
  );

  it('that calls without end and reads nothing is let go of', async () => {
    const rig = await socketRig();
    const connection = connectTo(remote('ws', rig.url), { timeouts: { backoffMs: 60_000 } });
    await connection.connect();
    const [socket] = rig.server.clients;
    if (socket === undefined) throw new Error('nobody is connected');
    expect(text(await call(connection, 'echo'))).toBe('{}');
    const answered = new Promise((resolve) => socket.once('pong', resolve));
    socket.ping('hello');
    expect(String(await answered)).toBe('hello');
    let isOver = false;
    socket.once('close', () => {
      isOver = true;
    });
    socket.pause();
    const words = 'x'.repeat(125);
    const more = (): void => {
      for (let i = 0; i < 2_000 && socket.readyState === socket.OPEN; i++) socket.ping(words);
      if (connection.status().state === 'connected' && !isOver) setImmediate(more);
    };
    more();
    expect(await until(() => connection.status().state !== 'connected', 30_000)).toBe(true);
  });

  it('that sends too large a message loses the connection, and is called back', async () => {
    const rig = await socketRig();
    const connection = connectTo(remote('ws', rig.url), { timeouts: { backoffMs: 50 } });
    const result = await call(connection, 'huge');
    expect(result).toMatchObject({ ok: false, error: { code: 'crashed', mayHaveRun: true } });
    expect(await until(() => connection.status().state === 'connected')).toBe(true);
  });

  it('that is gone in a call may have run it', async () => {
    const rig = await socketRig();
    const connection = connectTo(remote('ws', rig.url));
    const result = await call(connection, 'crash');
    expect(result).toMatchObject({ ok: false, error: { code: 'crashed', mayHaveRun: true } });
    expect((await call(connection, 'echo')).ok).toBe(true);
  });

  it('that wants a sign-in says so', async () => {
    const rig = await socketRig({ key: 'other' });
    const connection = connectTo(remote('ws', rig.url, { 'x-key': 'mine' }));
    expect(await connection.connect()).toMatchObject({ ok: false, error: { code: 'needs-auth' } });
  });

  it('that is not there is a failure', async () => {
    const rig = await socketRig();
    await new Promise((resolve) => rig.server.close(resolve));
    const connection = connectTo(remote('ws', rig.url));
    expect(await connection.connect()).toMatchObject({
      ok: false,
      error: { code: 'connect-failed' },
    });
  });
});
