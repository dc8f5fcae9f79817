import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { UnauthorizedError } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tokenKey } from '../../src/mcp/auth/token-store.js';
import { type OAuthRig, startRig, willing } from './oauth-rig.js';

let rig: OAuthRig;

beforeEach(async () => {
  rig = await startRig();
});

afterEach(async () => {
  await rig.stop();
});

describe('tokens that end', () => {
  it('are renewed before the request is made', async () => {
    const auth = await rig.signedIn();
    rig.clock.at += 3_600_000;
    expect(await rig.ask(auth)).toBe(200);
    expect(rig.server.to('/mcp')).toHaveLength(1);
    const [, refresh] = rig.server.to('/token');
    expect(refresh?.form.get('grant_type')).toBe('refresh_token');
    expect(refresh?.form.get('resource')).toBe(rig.server.url);
  });

  it('are renewed when the server does not take them any more', async () => {
    const auth = await rig.signedIn();
    rig.server.revoke();
    expect(await rig.ask(auth)).toBe(200);
    expect(rig.server.to('/mcp')).toHaveLength(2);
  });

  it('are renewed once by many programs', async () => {
    rig.server.behaviour.slowMs = 30;
    await rig.signedIn();
    rig.server.revoke();
    const programs = Array.from({ length: 5 }, () => rig.auth());
    const all = await Promise.all(programs.map((auth) => rig.ask(auth)));
    expect(all).toEqual([200, 200, 200, 200, 200]);
    expect(rig.server.to('/token')).toHaveLength(2);
  });

  it('are over when the refresh token is, and it is never sent again', async () => {
    const auth = await rig.signedIn();
    rig.server.revoke({ refresh: true });
    const { thrown, failure } = await rig.failure(auth);
    expect(thrown).toBeInstanceOf(UnauthorizedError);
    expect(failure?.message).toContain('Run: portcullis mcp auth guarded');
    expect(failure?.message).toContain('the earlier sign-in is over');
    expect(rig.tokens()).not.toContain('SECRET');
  });

  it('are kept when the authorization server is out of order', async () => {
    const auth = await rig.signedIn();
    rig.server.revoke();
    rig.server.behaviour.tokenStatus = 503;
    expect((await rig.failure(auth)).failure?.kind).toBe('failed');
    rig.server.behaviour.tokenStatus = undefined;
    expect(await rig.ask(auth)).toBe(200);
  });

  it('are not renewed without a lock, and the path is not told', async () => {
    const auth = await rig.signedIn();
    rig.server.revoke();
    const lock = path.join(
      rig.directory,
      `mcp-refresh-${tokenKey('guarded', rig.server.url)}.lock`,
    );
    mkdirSync(path.join(lock, '99', 'in-the-way'), { recursive: true });
    const { failure } = await rig.failure(auth);
    expect(failure?.kind).toBe('failed');
    expect(failure?.message).not.toContain(rig.directory);
    rmSync(lock, { recursive: true });
    expect(await rig.ask(auth)).toBe(200);
  });

  it('without a refresh token need a sign-in', async () => {
    rig.server.behaviour.withRefresh = false;
    const auth = await rig.signedIn();
    rig.server.revoke();
    expect((await rig.failure(auth)).failure?.kind).toBe('needs-auth');
  });
});

describe('where nobody can sign in', () => {
  it('says what helps, registers nothing and opens nothing', async () => {
    const { failure } = await rig.failure(rig.auth({ name: 'my tools' }));
    expect(failure).toEqual({
      kind: 'needs-auth',
      message:
        'MCP server "my tools" needs you to sign in: there is no sign-in yet. Run: portcullis mcp auth \'my tools\'',
    });
    expect(rig.server.requests.map(({ path }) => path)).toEqual(['/mcp']);
  });

  it('remembers it for 15 minutes, also for programs that start later', async () => {
    await rig.failure(rig.auth());
    rig.clock.at += 14 * 60_000;
    expect((await rig.failure(rig.auth())).failure?.kind).toBe('needs-auth');
    expect(rig.server.to('/mcp')).toHaveLength(1);
    rig.clock.at += 2 * 60_000;
    expect((await rig.failure(rig.auth())).failure?.kind).toBe('needs-auth');
    expect(rig.server.to('/mcp')).toHaveLength(2);
  });

  it('gives no token and contacts nobody while it is remembered', async () => {
    const auth = rig.auth();
    await rig.failure(auth);
    const asked = rig.server.requests.length;
    await expect(auth.provider.token()).rejects.toThrow('portcullis mcp auth');
    await expect(auth.provider.tokens()).rejects.toThrow('portcullis mcp auth');
    expect(rig.server.requests).toHaveLength(asked);
  });

  it('forgets it when somebody signs in elsewhere, without being told', async () => {
    const auth = rig.auth();
    await rig.failure(auth);
    await rig.signedIn();
    expect(await rig.ask(auth)).toBe(200);
  });

  it('refreshes first after that time', async () => {
    const auth = await rig.signedIn();
    rig.server.revoke();
    rig.server.behaviour.refreshError = 'invalid_request';
    const kept = rig.tokens();
    await rig.failure(auth);
    writeFileSync(path.join(rig.directory, 'mcp-tokens.json'), kept, { mode: 0o600 });
    rig.server.behaviour.refreshError = undefined;
    rig.clock.at += 16 * 60_000;
    rig.server.requests.length = 0;
    expect(await rig.ask(rig.auth())).toBe(200);
    expect(rig.server.requests.map((one) => one.path)).toEqual(['/token', '/mcp']);
  });

  it('does not wait when it is told to try again', async () => {
    const auth = rig.auth();
    await rig.failure(auth);
    await auth.refresh();
    await rig.failure(auth);
    expect(rig.server.to('/mcp')).toHaveLength(2);
  });
});

describe('a step up', () => {
  it('asks for what there was and what is wanted, and tries once more', async () => {
    rig.server.behaviour.challengeScope = 'read';
    rig.server.behaviour.callScope = 'write';
    const auth = rig.auth({ agent: willing() });
    expect(await rig.ask(auth)).toBe(200);
    expect(await rig.ask(auth, 'tools/call')).toBe(200);
    const scopes = rig.server.to('/authorize').map(({ query }) => query.get('scope'));
    expect(scopes).toEqual(['read', 'read write']);
  });

  it('asks for the scopes of the entry again, and only once', async () => {
    rig.server.behaviour.callScope = 'write';
    const auth = rig.auth({ agent: willing(), oauth: { scopes: 'read' } });
    expect(await rig.ask(auth)).toBe(200);
    expect(await rig.ask(auth, 'tools/call')).toBe(403);
    expect(await rig.ask(auth, 'tools/call')).toBe(403);
    const scopes = rig.server.to('/authorize').map(({ query }) => query.get('scope'));
    expect(scopes).toEqual(['read', 'read']);
  });

  it('needs a person', async () => {
    rig.server.behaviour.callScope = 'write';
    const auth = await rig.signedIn();
    expect(await rig.ask(auth, 'tools/call')).toBe(403);
    expect(await rig.ask(auth)).toBe(200);
  });
});

describe('tokens that are kept', () => {
  it('are not sent to another address of the same name', async () => {
    await rig.signedIn();
    const other = await startRig();
    const auth = rig.auth({ url: other.server.url });
    expect(await auth.provider.token()).toBeUndefined();
    await other.stop();
  });

  it('are not sent for another name at the same address', async () => {
    await rig.signedIn();
    expect(await rig.auth({ name: 'other' }).provider.token()).toBeUndefined();
  });

  it('are gone after a sign-out', async () => {
    const auth = await rig.signedIn();
    expect(await auth.signOut()).toEqual({ ok: true, value: { was: true } });
    expect(rig.tokens()).not.toContain('SECRET');
    expect(await auth.signOut()).toEqual({ ok: true, value: { was: false } });
    expect(rig.server.to('/revoke')).toEqual([]);
  });

  it('are revoked at a sign-out where that is offered, by the client that got them', async () => {
    rig.server.behaviour.revocation = 200;
    const auth = await rig.signedIn();
    // Also after a renewal, which knows nothing of the metadata.
    await auth.refresh();
    const done = await auth.signOut();
    expect(done).toEqual({ ok: true, value: { was: true, revoked: { ok: true } } });
    const sent = rig.server.to('/revoke').map(({ form }) => Object.fromEntries(form));
    expect(sent).toEqual([
      {
        token: expect.stringContaining('SECRET-refresh'),
        token_type_hint: 'refresh_token',
        client_id: expect.stringContaining('client-'),
      },
      {
        token: expect.stringContaining('SECRET-access'),
        token_type_hint: 'access_token',
        client_id: expect.stringContaining('client-'),
      },
    ]);
    expect(await auth.signOut()).toEqual({ ok: true, value: { was: false } });
  });

  it('are forgotten also when nobody revokes them, which is told without them', async () => {
    rig.server.behaviour.revocation = 503;
    const auth = await rig.signedIn();
    const done = await auth.signOut();
    expect(done).toMatchObject({ ok: true, value: { was: true, revoked: { ok: false } } });
    expect(JSON.stringify(done)).not.toContain('SECRET');
    expect(JSON.stringify(done)).toContain('503');
    expect(rig.tokens()).not.toContain('SECRET');
  });

  it('are not given back to an address that is no place to sign in', async () => {
    rig.server.behaviour.metadata = { revocation_endpoint: 'http://169.254.169.254/revoke' };
    const auth = await rig.signedIn();
    expect(await auth.signOut()).toMatchObject({ ok: true, value: { revoked: { ok: false } } });
  });

  it('of a client with a secret are revoked with it', async () => {
    rig.server.behaviour.revocation = 200;
    const auth = await rig.signedIn({ oauth: { clientId: 'me', clientSecret: 'hush' } });
    expect(await auth.signOut()).toMatchObject({ ok: true, value: { revoked: { ok: true } } });
    const [first] = rig.server.to('/revoke');
    expect(first?.headers.authorization).toBe(`Basic ${btoa('me:hush')}`);
    expect(first?.body).not.toContain('hush');
  });

  it('that cannot be read are a problem with a name, and no request is made without them', async () => {
    const auth = await rig.signedIn();
    const file = path.join(rig.directory, 'mcp-tokens.json');
    for (const broken of ['{"servers": SECRET', '[]', '{"servers":[]}']) {
      writeFileSync(file, broken, { mode: 0o600 });
      const { failure } = await rig.failure(auth);
      expect(failure).toMatchObject({ kind: 'failed' });
      expect(failure?.message).toContain('mcp-tokens.json in the state directory is damaged');
      expect(failure?.message).not.toContain('SECRET');
      expect(await auth.signOut()).toMatchObject({ ok: false });
    }
    expect(rig.server.to('/mcp')).toHaveLength(0);
  });

  it('that others may write are not used', async () => {
    const auth = await rig.signedIn();
    const file = path.join(rig.directory, 'mcp-tokens.json');
    chmodSync(file, 0o666);
    expect((await rig.failure(auth)).failure?.message).toContain('can be written by others');
  });
});
