import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../process/helpers.js';
import { call, connectTo, remote, text } from './connection-rig.js';
import { sseRig } from './connection-sse-rig.js';

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
    expect(result).toMatchObject({
      ok: false,
      error: {
        code: 'connect-failed',
        message: expect.stringContaining('nothing listens at its address'),
      },
    });
  });
});
