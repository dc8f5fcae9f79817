import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { MOST_OPEN_REQUESTS } from '../../src/mcp/transport/bounded-transport.js';
import { systemClock } from '../../src/platform/clock.js';
import { isGone, until } from '../process/helpers.js';
import { httpRig } from './connection-http-rig.js';
import { call, connectTo, nodeEntry, remote, text } from './connection-rig.js';

const FIXTURE = path.join(import.meta.dirname, 'connection-flood.fixture.mjs');

/** Time stands still, so that the rate at which a busy machine sends makes no difference. */
const clock = { ...systemClock, monotonic: () => 0 };

function flooding(plan: Readonly<Record<string, unknown>> = {}) {
  const notes: string[] = [];
  const entry = nodeEntry([FIXTURE, JSON.stringify(plan)]);
  const connection = connectTo(entry, {
    onNote: (note) => notes.push(note),
    timeouts: { closeMs: 100 },
    clock,
  });
  return { connection, notes };
}

const PING = { ask: 'ping' };
const LOG = { tell: 'notifications/message', params: { level: 'debug', data: 'x'.repeat(200) } };
const CHANGED = { tell: 'notifications/tools/list_changed' };

describe('a server that tells and asks much, but not without end', () => {
  it.each([
    ['50 changes of its list', { ...CHANGED, count: 50 }],
    ['5,000 lines of its log', { ...LOG, count: 5_000 }],
    ['90 pings at one go', { ...PING, count: 90 }],
    ['9,000 lines that are no messages', { noise: 'hello, I am a server\n', count: 9_000 }],
  ])('is taken as it is: %s', async (_what, flood) => {
    const { connection, notes } = flooding();
    const answers = JSON.parse(text(await call(connection, 'flood', flood)));
    const isAsked = 'ask' in flood;
    expect(answers).toEqual({ done: isAsked ? flood.count : 0, refused: 0 });
    expect(notes).toEqual([]);
    expect(connection.status()).toMatchObject({ state: 'connected' });
    expect(connection.status().leftOut).toBeUndefined();
  });

  it('is refused requests while too many are open, and goes on working', async () => {
    const { connection, notes } = flooding();
    const answers = JSON.parse(text(await call(connection, 'flood', { ...PING, count: 2_000 })));
    expect(answers.done).toBeGreaterThan(90);
    expect(answers.refused).toBeGreaterThan(90);
    expect(notes).toEqual([]);
    expect(connection.status()).toMatchObject({ state: 'connected' });
    expect((await call(connection, 'any')).ok).toBe(true);
  });

  it('hears of every kind of change, however often it says so', async () => {
    const { connection, notes } = flooding();
    let changes = 0;
    connection.onChange((change) => {
      if (change === 'tools') changes += 1;
    });
    await call(connection, 'flood', { ...LOG, count: 20_000 });
    expect(notes).toEqual([]);
    await call(connection, 'flood', { ...CHANGED, count: 1 });
    expect(changes).toBe(1);
  });
});

describe('a server that sends without end', () => {
  it.each([
    ['pings', { ...PING, endless: true }],
    ['samplings that nobody answers', { ask: 'sampling/createMessage', endless: true }],
    ['pings, and does not read the answers', { ...PING, endless: true, deaf: true }],
    ['lines of a log', { ...LOG, endless: true }],
    ['changes of its list', { ...CHANGED, endless: true }],
    ['answers that nobody asked for', { answer: true, endless: true }],
    ['long texts', { tell: LOG.tell, params: { data: 'x'.repeat(100_000) }, endless: true }],
    ['noise', { noise: 'garbage\n', endless: true }],
  ])('is disconnected, with the reason: %s', async (_what, flood) => {
    const { connection, notes } = flooding();
    await connection.connect();
    const result = await call(connection, 'flood', flood);
    expect(result).toMatchObject({ ok: false, error: { code: 'protocol', mayHaveRun: true } });
    expect(JSON.stringify(result)).toMatch(/was disconnected while it was being asked: it sent/);
    const { state, error } = connection.status();
    expect(state).toBe('failed');
    expect(error).toMatch(/^MCP server "srv" was disconnected: it sent more than [\d,]+ /);
    expect(error).toContain('/mcp reconnect srv');
    expect(notes).toEqual([error]);
  });

  it('is not connected again by itself, but when somebody wants it', async () => {
    const { connection, notes } = flooding();
    await call(connection, 'flood', { ...PING, endless: true });
    expect((await connection.listPrompts()).ok).toBe(false);
    expect(notes).toHaveLength(1);
    expect(await call(connection, 'any')).toMatchObject({
      ok: false,
      error: { code: 'protocol', message: expect.stringContaining('was disconnected') },
    });
    expect((await connection.reconnect()).ok).toBe(true);
    expect((await call(connection, 'any')).ok).toBe(true);
  });

  it('is let go of while it is being connected', async () => {
    const { connection, notes } = flooding({ atStart: { ...PING, endless: true } });
    const connected = await connection.connect();
    expect(connected).toMatchObject({ ok: false, error: { code: 'protocol' } });
    expect(connection.status().error).toContain('was disconnected: it sent');
    // The error is for whoever connects it, and not told twice.
    expect(notes).toEqual([]);
  });
});

describe('a remote server that sends without end', () => {
  it('is disconnected as a program is: over HTTP', async () => {
    const rig = await httpRig(({ body, response }) => {
      if (body.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('error', () => undefined);
      let id = 0;
      const more = (): void => {
        while (!response.destroyed) {
          const ping = JSON.stringify({ jsonrpc: '2.0', id: `q${id++}`, method: 'ping' });
          if (!response.write(`data: ${ping}\n\n`)) return void response.once('drain', more);
        }
      };
      more();
      return true;
    });
    const connection = connectTo(remote('http', rig.url), { clock });
    expect(await call(connection, 'any')).toMatchObject({ ok: false, error: { code: 'protocol' } });
    expect(connection.status().error).toContain('was disconnected: it sent');
    // Neither answers nor refusals go out without bound.
    expect(rig.seen.length).toBeLessThan(5_000 + 2 * MOST_OPEN_REQUESTS);
  });

  it('holds no more than so many answers when it does not take them: over HTTP', async () => {
    let waiting = 0;
    const rig = await httpRig(({ body, response }) => {
      if (body.method === undefined && body.id !== undefined) {
        waiting += 1;
        return true;
      }
      if (body.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let id = 0; id < 1_000; id++) {
        const ping = JSON.stringify({ jsonrpc: '2.0', id: `q${id}`, method: 'ping' });
        response.write(`data: ${ping}\n\n`);
      }
      const answer = { jsonrpc: '2.0', id: body.id, result: { content: [] } };
      response.end(`data: ${JSON.stringify(answer)}\n\n`);
      return true;
    });
    const connection = connectTo(remote('http', rig.url), { clock });
    expect((await call(connection, 'any')).ok).toBe(true);
    expect(await until(() => waiting === 2 * MOST_OPEN_REQUESTS)).toBe(true);
  });

  it('is disconnected as a program is: over a WebSocket', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.on('message', (data) => {
        const { id, method, params } = JSON.parse(data.toString());
        if (method === 'initialize') {
          const result = {
            protocolVersion: params.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'socket', version: '1' },
          };
          socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
        } else if (method === 'tools/call') {
          const note = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message' });
          for (let i = 0; i < 120_000; i++) socket.send(note);
        }
      });
    });
    await new Promise<void>((resolve) => server.on('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const connection = connectTo(remote('ws', `ws://127.0.0.1:${port}/`), { clock });
    expect(await call(connection, 'any')).toMatchObject({ ok: false, error: { code: 'protocol' } });
    expect(connection.status()).toMatchObject({ state: 'failed' });
    expect(connection.status().error).toContain('was disconnected: it sent');
  });
});

it('a program that was disconnected is gone', async () => {
  const { connection } = flooding();
  const pid = Number(text(await call(connection, 'pid')));
  await call(connection, 'flood', { ...PING, endless: true });
  expect(await until(() => isGone(pid))).toBe(true);
});
