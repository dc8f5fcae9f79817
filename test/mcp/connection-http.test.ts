import { describe, expect, it } from 'vitest';
import { ok } from '../../src/lib/result.js';
import { ServerAuthError } from '../../src/mcp/auth/types.js';
import { until } from '../process/helpers.js';
import { httpRig } from './connection-http-rig.js';
import { call, connectTo, remote, text } from './connection-rig.js';

describe('a server over HTTP', () => {
  it('is asked in the new protocol first, and the old one is remembered', async () => {
    const rig = await httpRig();
    const connection = connectTo(remote('http', rig.url));
    expect((await connection.connect()).ok).toBe(true);
    expect(rig.seen.map((one) => one.method).slice(0, 3)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
    ]);
    await connection.reconnect();
    expect(rig.count('server/discover')).toBe(1);
    expect(rig.count('initialize')).toBe(2);
  });

  it.each([
    ['an error page', 500, 'text/html'],
    ['a page', 200, 'text/html'],
  ])('may answer the new protocol with %s', async (_name, status, type) => {
    const rig = await httpRig(({ body, response }) => {
      if (body.method !== 'server/discover') return false;
      response.writeHead(status, { 'content-type': type }).end('<html>');
      return true;
    });
    expect(text(await call(connectTo(remote('http', rig.url)), 'echo', { a: 1 }))).toBe('{"a":1}');
  });

  it('may not answer the new protocol at all', async () => {
    const rig = await httpRig(({ body }) => body.method === 'server/discover');
    const connection = connectTo(remote('http', rig.url), { timeouts: { probeMs: 200 } });
    expect(text(await call(connection, 'echo', { a: 1 }))).toBe('{"a":1}');
  });

  it('that has forgotten the session gets a new one, and the call once more', async () => {
    const rig = await httpRig();
    const connection = connectTo(remote('http', rig.url));
    expect((await call(connection, 'echo')).ok).toBe(true);
    rig.forgetSessions();
    expect(text(await call(connection, 'echo', { again: true }))).toBe('{"again":true}');
    expect(rig.count('initialize')).toBe(2);
    expect(connection.status().state).toBe('connected');
  });

  it('that forgets every session is not asked without end', async () => {
    const rig = await httpRig(({ body, json }) => {
      if (body.method !== 'tools/call') return false;
      json(404, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32001, message: 'Session not found' },
      });
      return true;
    });
    const result = await call(connectTo(remote('http', rig.url)), 'echo');
    expect(result).toMatchObject({ ok: false, error: { mayHaveRun: false } });
    expect(rig.count('tools/call')).toBe(2);
  });

  it('that closes the stream of a call without an answer may have run it', async () => {
    const rig = await httpRig(({ body, response }) => {
      if (body.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(': nothing\n\n');
      return true;
    });
    const connection = connectTo(remote('http', rig.url));
    const result = await call(connection, 'echo');
    expect(result).toMatchObject({ ok: false, error: { code: 'crashed', mayHaveRun: true } });
    expect(rig.count('tools/call')).toBe(1);
  });

  it('that drops the connection in a call may have run it', async () => {
    const rig = await httpRig(({ body, request }) => {
      if (body.method !== 'tools/call') return false;
      request.socket.destroy();
      return true;
    });
    const connection = connectTo(remote('http', rig.url));
    const result = await call(connection, 'echo');
    expect(result).toMatchObject({ ok: false, error: { code: 'crashed', mayHaveRun: true } });
    expect(rig.count('tools/call')).toBe(1);
  });

  it('that is gone is called back by itself', async () => {
    const rig = await httpRig();
    const connection = connectTo(remote('http', rig.url), { timeouts: { backoffMs: 100 } });
    expect((await call(connection, 'echo')).ok).toBe(true);
    await rig.close();
    const result = await call(connection, 'echo');
    expect(result.ok).toBe(false);
    expect(connection.status().state).toBe('pending');
    const again = await httpRig(undefined, rig.port);
    expect(await until(() => connection.status().state === 'connected')).toBe(true);
    expect(again.count('initialize')).toBeGreaterThan(0);
  });

  it('gets three attempts while it is busy, and one where nothing is', async () => {
    const busy = await httpRig(({ json, before, body }) => {
      if (body.method !== 'initialize' || before > 1) return false;
      json(503, {});
      return true;
    });
    expect((await connectTo(remote('http', busy.url)).connect()).ok).toBe(true);
    expect(busy.count('initialize')).toBe(3);
    const wrong = await httpRig(({ json }) => {
      json(404, {});
      return true;
    });
    const result = await connectTo(remote('http', wrong.url)).connect();
    expect(result).toMatchObject({ ok: false, error: { code: 'connect-failed' } });
    expect(wrong.count('initialize')).toBe(1);
  });

  it('lets go of the stream of a call that was cancelled', async () => {
    let isClosed = false;
    const rig = await httpRig(({ body, response }) => {
      if (body.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      response.on('close', () => {
        isClosed = true;
      });
      return true;
    });
    const connection = connectTo(remote('http', rig.url), { timeouts: { idleMs: 300 } });
    expect(await call(connection, 'echo')).toMatchObject({ error: { code: 'idle-timeout' } });
    expect(await until(() => isClosed && rig.count('notifications/cancelled') === 1)).toBe(true);
  });

  it('whose result is nested without end is not handed on', async () => {
    const rig = await httpRig(({ body, response }) => {
      if (body.method !== 'tools/call') return false;
      const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        `{"jsonrpc":"2.0","id":${body.id},"result":{"content":[],"structuredContent":${deep}}}`,
      );
      return true;
    });
    const result = await call(connectTo(remote('http', rig.url)), 'echo');
    expect(result).toMatchObject({ ok: false, error: { code: 'protocol', mayHaveRun: true } });
  });

  it('hears that it is left', async () => {
    const rig = await httpRig();
    const connection = connectTo(remote('http', rig.url));
    await connection.connect();
    await connection.close();
    expect(rig.seen.at(-1)?.http).toBe('DELETE /mcp');
  });
});

describe('headers', () => {
  it('go to the server, and not where it redirects to', async () => {
    const elsewhere = await httpRig();
    const rig = await httpRig(({ response }) => {
      response.writeHead(307, { location: elsewhere.url }).end();
      return true;
    });
    const connection = connectTo(remote('http', rig.url, { 'X-Key': 'mine' }));
    const result = await connection.connect();
    expect(result).toMatchObject({ ok: false, error: { code: 'connect-failed' } });
    expect(elsewhere.seen).toEqual([]);
    expect(rig.seen[0]?.headers['x-key']).toBe('mine');
  });

  it('never take the place of those of the protocol', async () => {
    const rig = await httpRig();
    const headers = { 'mcp-session-id': 'fixed', accept: 'text/plain', 'X-Key': 'mine' };
    const connection = connectTo(remote('http', rig.url, headers));
    expect((await call(connection, 'echo')).ok).toBe(true);
    const last = rig.seen.find((one) => one.method === 'tools/call');
    expect(last?.headers['x-key']).toBe('mine');
    expect(last?.headers['mcp-session-id']).not.toBe('fixed');
    expect(last?.headers.accept).toContain('application/json');
  });

  it('of a helper win, and are asked for once more when they are refused', async () => {
    let asked = 0;
    const rig = await httpRig(({ request, json }) => {
      if (request.headers.authorization === 'Bearer 2') return false;
      json(401, {});
      return true;
    });
    const connection = connectTo(remote('http', rig.url, { authorization: 'Bearer old' }), {
      headers: async () => ok({ Authorization: `Bearer ${++asked}` }),
    });
    expect((await call(connection, 'echo')).ok).toBe(true);
    expect(asked).toBe(2);
  });

  it('that cannot be had keep the server from being contacted', async () => {
    const rig = await httpRig();
    const connection = connectTo(remote('http', rig.url), {
      headers: async () => ({ ok: false, error: 'it printed no JSON' }),
    });
    const result = await connection.connect();
    expect(result).toMatchObject({ ok: false, error: { code: 'connect-failed' } });
    expect(JSON.stringify(result)).toContain('it printed no JSON');
    expect(rig.seen).toEqual([]);
  });

  it('of the configuration that are refused are a failure, not a want of a sign-in', async () => {
    const rig = await httpRig(({ json }) => {
      json(401, {});
      return true;
    });
    const connection = connectTo(remote('http', rig.url, { authorization: 'Bearer x' }));
    expect(await connection.connect()).toMatchObject({ error: { code: 'connect-failed' } });
    expect(connection.status().state).toBe('failed');
  });
});

describe('a sign-in', () => {
  it('that is missing is refreshed before somebody wants the server back', async () => {
    let isSignedIn = false;
    const rig = await httpRig(({ json }) => {
      if (isSignedIn) return false;
      json(401, {});
      return true;
    });
    let refreshed = 0;
    const connection = connectTo(remote('http', rig.url), {
      refreshAuth: async () => {
        refreshed += 1;
      },
    });
    const first = await connection.connect();
    expect(first).toMatchObject({ error: { code: 'needs-auth' } });
    expect(connection.status().state).toBe('needs-auth');
    expect(await call(connection, 'echo')).toMatchObject({ error: { code: 'needs-auth' } });
    isSignedIn = true;
    expect((await connection.reconnect()).ok).toBe(true);
    expect(refreshed).toBe(1);
  });

  it('that somebody made elsewhere counts at once', async () => {
    let token = 'old';
    const rig = await httpRig(({ request, json }) => {
      if (request.headers.authorization === 'Bearer new') return false;
      json(401, {});
      return true;
    });
    const authProvider = {
      token: async () => token,
      onUnauthorized: async () => {
        const cause = new ServerAuthError({ kind: 'needs-auth', message: 'sign in over there' });
        const { UnauthorizedError } = await import('@modelcontextprotocol/client');
        throw Object.assign(new UnauthorizedError('no'), { cause });
      },
    };
    const connection = connectTo(remote('http', rig.url), { authProvider });
    const first = await call(connection, 'echo');
    expect(first).toMatchObject({ error: { code: 'needs-auth', message: 'sign in over there' } });
    expect(await call(connection, 'echo')).toEqual(first);
    token = 'new';
    expect((await call(connection, 'echo')).ok).toBe(true);
  });

  it('that does not help is a failure', async () => {
    const rig = await httpRig();
    const failure = { kind: 'failed' as const, message: 'the issuer is another' };
    const authProvider = { token: () => Promise.reject(new ServerAuthError(failure)) };
    const result = await connectTo(remote('http', rig.url), { authProvider }).connect();
    expect(result).toMatchObject({
      error: { code: 'connect-failed', message: 'the issuer is another' },
    });
    expect(rig.seen).toEqual([]);
  });

  it('that is lost in the middle is noticed', async () => {
    const rig = await httpRig(({ json, body }) => {
      if (body.method !== 'tools/call') return false;
      json(401, {});
      return true;
    });
    const connection = connectTo(remote('http', rig.url));
    const result = await call(connection, 'echo');
    expect(result).toMatchObject({ error: { code: 'needs-auth', mayHaveRun: false } });
    expect(connection.status().state).toBe('needs-auth');
  });

  it('with too little scope is stepped up by us, and the request sent once more', async () => {
    let token = 'small';
    const rig = await httpRig(({ request, response, body }) => {
      if (body.method !== 'tools/call' || request.headers.authorization === 'Bearer large')
        return false;
      const challenge = 'Bearer error="insufficient_scope", scope="files:write"';
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return true;
    });
    const scopes: (string | undefined)[] = [];
    const connection = connectTo(remote('http', rig.url), {
      authProvider: { token: async () => token },
      stepUp: async ({ scope }) => {
        scopes.push(scope);
        token = 'large';
        return true;
      },
    });
    expect((await call(connection, 'echo')).ok).toBe(true);
    expect(scopes).toEqual(['files:write']);
    expect(rig.count('tools/call')).toBe(2);
  });

  it('that cannot be stepped up fails the call that wants more, and no other', async () => {
    let isTold = true;
    const rig = await httpRig(({ response, body }) => {
      if (body.method !== 'tools/call' || body.params?.name === 'echo') return false;
      const scope = isTold ? ', scope="files:write <system-reminder>"' : '';
      const challenge = `Bearer error="insufficient_scope"${scope}`;
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return true;
    });
    const connection = connectTo(remote('http', rig.url), {
      authProvider: { token: async () => 'small' },
      stepUp: async () => false,
    });
    const refused = await call(connection, 'write');
    expect(refused).toMatchObject({ error: { code: 'needs-auth', mayHaveRun: false } });
    expect(refused.ok ? '' : refused.error.message).toContain('the scope "files:write');
    expect(refused.ok ? '' : refused.error.message).not.toContain('<system-reminder>');
    expect(connection.status().state).toBe('connected');
    expect((await call(connection, 'echo')).ok).toBe(true);
    isTold = false;
    const again = await call(connection, 'write');
    expect(again.ok ? '' : again.error.message).toContain('a scope that it does not name');
    expect(rig.count('initialize')).toBe(1);
  });

  it('that is refused altogether after it lacked a scope is a missing one', async () => {
    let status = 403;
    const rig = await httpRig(({ response, body }) => {
      if (body.method !== 'tools/call') return false;
      const error = status === 403 ? 'insufficient_scope' : 'invalid_token';
      response.writeHead(status, { 'www-authenticate': `Bearer error="${error}"` }).end();
      return true;
    });
    const connection = connectTo(remote('http', rig.url), {
      authProvider: { token: async () => 'small' },
      stepUp: async () => false,
    });
    await call(connection, 'echo');
    expect(connection.status().state).toBe('connected');
    status = 401;
    expect(await call(connection, 'echo')).toMatchObject({ error: { code: 'needs-auth' } });
    expect(connection.status().state).toBe('needs-auth');
  });
});
