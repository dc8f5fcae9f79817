import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerAuth } from '../../src/mcp/auth/server-auth.js';
import { type ClientConnection, createConnection } from '../../src/mcp/connection/connection.js';
import { systemClock } from '../../src/platform/clock.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import { type OAuthRig, startRig, willing } from './oauth-rig.js';

let rig: OAuthRig;
const open: ClientConnection[] = [];

beforeEach(async () => {
  rig = await startRig();
});

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await rig.stop();
});

function connection(auth: ServerAuth, headers: Record<string, string> = {}): ClientConnection {
  const made = createConnection(
    {
      name: 'guarded',
      key: 'guarded',
      scope: 'user',
      entry: { type: 'http', url: rig.server.url, headers },
      origin: {},
      standing: { kind: 'ready' },
      contentHash: '',
    },
    {
      processes: createProcessSupervisor(),
      env: {},
      cwd: rig.directory,
      clock: systemClock,
      roots: () => [],
      elicit: async () => ({ action: 'decline' }),
      authProvider: auth.provider,
      stepUp: (challenge) => auth.stepUp(challenge),
      refreshAuth: () => auth.refresh(),
    },
  );
  open.push(made);
  return made;
}

describe('a connection with authorization', () => {
  it('needs a sign-in where nobody is, and works after one elsewhere', async () => {
    const one = connection(rig.auth());
    const first = await one.connect();
    expect(first).toMatchObject({ ok: false, error: { code: 'needs-auth' } });
    expect(one.status().state).toBe('needs-auth');
    expect(first.ok ? '' : first.error.message).toContain('portcullis mcp auth');
    await rig.auth().signIn(willing(), AbortSignal.timeout(20_000));
    expect(await one.reconnect()).toMatchObject({ ok: true });
    expect(await one.listTools()).toMatchObject({ ok: true, value: [{ name: 'greet' }] });
  });

  it('does not contact a server again that wants a sign-in, until there is one', async () => {
    const one = connection(rig.auth());
    await one.connect();
    const asked = rig.server.requests.length;
    expect(asked).toBeGreaterThan(0);
    expect(await one.connect()).toMatchObject({ ok: false, error: { code: 'needs-auth' } });
    expect(await one.listTools()).toMatchObject({ ok: false, error: { code: 'needs-auth' } });
    const call = one.call({ tool: 'greet', arguments: {} }, AbortSignal.timeout(20_000));
    expect(await call).toMatchObject({ ok: false, error: { code: 'needs-auth' } });
    expect(await connection(rig.auth()).connect()).toMatchObject({ ok: false });
    expect(rig.server.requests).toHaveLength(asked);
    await rig.auth().signIn(willing(), AbortSignal.timeout(20_000));
    expect(await one.listTools()).toMatchObject({ ok: true });
  });

  it('signs in on its way where a person is, and steps up for a call', async () => {
    rig.server.behaviour.challengeScope = 'read';
    rig.server.behaviour.callScope = 'write';
    const one = connection(rig.auth({ agent: willing() }));
    expect(await one.connect()).toMatchObject({ ok: true });
    const request = { tool: 'greet', arguments: {} };
    const result = await one.call(request, AbortSignal.timeout(20_000));
    expect(result).toMatchObject({ ok: true, value: { content: [{ text: 'hello' }] } });
    const scopes = rig.server.to('/authorize').map(({ query }) => query.get('scope'));
    expect(scopes).toEqual(['read', 'read write']);
  });

  it('renews its token in the middle of a session', async () => {
    const auth = rig.auth({ agent: willing() });
    const one = connection(auth);
    expect(await one.connect()).toMatchObject({ ok: true });
    rig.clock.at += 60_000;
    rig.server.revoke();
    expect(await one.listTools()).toMatchObject({ ok: true });
    expect(rig.server.to('/authorize')).toHaveLength(1);
  });

  it('fails with a header of its own that is refused, and tries nothing else', async () => {
    const one = connection(rig.auth({ agent: willing() }), { Authorization: 'Bearer wrong' });
    const result = await one.connect();
    expect(result).toMatchObject({ ok: false });
    expect(result.ok ? '' : result.error.code).not.toBe('needs-auth');
    expect(one.status().state).toBe('failed');
    expect(new Set(rig.server.requests.map((each) => each.path))).toEqual(new Set(['/mcp']));
  });
});
