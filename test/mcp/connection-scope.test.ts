import { describe, expect, it } from 'vitest';
import { type HttpRig, httpRig } from './connection-http-rig.js';
import { call, connectTo, remote } from './connection-rig.js';

/** Refuses each call for the scope that its tool is called by, and none before two of them wait. */
function scopedRig(): Promise<HttpRig> {
  const waiting: (() => void)[] = [];
  return httpRig(({ body, response }) => {
    if (body.method !== 'tools/call' || body.params?.name === 'echo') return false;
    const name = String(body.params?.name);
    waiting.push(() => {
      if (name === 'gone') {
        response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
        return;
      }
      const challenge = `Bearer error="insufficient_scope", scope="${name}"`;
      response.writeHead(403, { 'www-authenticate': challenge }).end();
    });
    if (waiting.length === 2) for (const answer of waiting.splice(0)) answer();
    return true;
  });
}

/** Nobody gets more; each is told so only once both have asked. */
function nobodyGetsMore(count: number): () => Promise<boolean> {
  const asked: (() => void)[] = [];
  return () =>
    new Promise((resolve) => {
      asked.push(() => resolve(false));
      if (asked.length === count) for (const tell of asked) tell();
    });
}

describe('two calls that lack a scope at the same time', () => {
  it('are each told their own, and the session stays', async () => {
    const rig = await scopedRig();
    const connection = connectTo(remote('http', rig.url), {
      authProvider: { token: async () => 'small' },
      stepUp: nobodyGetsMore(2),
    });
    await connection.connect();
    const both = await Promise.all([call(connection, 'one'), call(connection, 'two')]);
    for (const [at, scope] of ['one', 'two'].entries()) {
      expect(both[at]).toMatchObject({
        error: { code: 'needs-auth', message: expect.stringContaining(`the scope "${scope}"`) },
      });
    }
    expect(connection.status().state).toBe('connected');
    expect((await call(connection, 'echo')).ok).toBe(true);
    expect(rig.count('initialize')).toBe(1);
  });

  it('are told apart from one whose token is refused altogether', async () => {
    const rig = await scopedRig();
    const connection = connectTo(remote('http', rig.url), {
      authProvider: { token: async () => 'small' },
      stepUp: nobodyGetsMore(1),
    });
    await connection.connect();
    const [lacking, refused] = await Promise.all([
      call(connection, 'one'),
      call(connection, 'gone'),
    ]);
    expect(lacking).toMatchObject({
      error: { code: 'needs-auth', message: expect.stringContaining('the scope "one"') },
    });
    expect(refused).toMatchObject({
      error: { code: 'needs-auth', message: expect.not.stringContaining('scope') },
    });
    expect(connection.status().state).toBe('needs-auth');
  });
});
