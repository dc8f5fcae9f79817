import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { UnauthorizedError } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failureInside } from '../../src/mcp/oauth-failure.js';
import type { ServerAuth } from '../../src/mcp/oauth-types.js';
import { type OAuthRig, startRig, willing } from './oauth-rig.js';

let rig: OAuthRig;

beforeEach(async () => {
  rig = await startRig();
});

afterEach(async () => {
  await rig.stop();
});

async function failureOf(auth: ServerAuth, method?: string) {
  const thrown = await rig.ask(auth, method).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { thrown, failure: failureInside(thrown) };
}

async function signedIn(options: Parameters<OAuthRig['auth']>[0] = {}): Promise<ServerAuth> {
  const auth = rig.auth(options);
  const done = await auth.signIn(willing(), AbortSignal.timeout(20_000));
  expect(done).toEqual({ ok: true, value: undefined });
  rig.clock.at += 60_000;
  // Without the one by which the server was asked what it wants.
  const { requests } = rig.server;
  requests.splice(0, requests.length, ...requests.filter((one) => one.path !== '/mcp'));
  return auth;
}

describe('a sign-in', () => {
  it('goes all the way: metadata, registration, PKCE, code, token, resource', async () => {
    rig.server.behaviour.scopesSupported = ['read', 'offline_access'];
    rig.server.behaviour.challengeScope = 'read';
    const auth = rig.auth({ agent: willing() });
    expect(await rig.ask(auth)).toBe(200);
    const [authorize] = rig.server.to('/authorize');
    expect(Object.fromEntries(authorize?.query ?? [])).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'read offline_access',
      resource: rig.server.url,
      client_id: 'client-1',
    });
    expect(authorize?.query.get('state')).toHaveLength(32);
    const [token] = rig.server.to('/token');
    expect(token?.form.get('resource')).toBe(rig.server.url);
    expect(token?.form.get('code_verifier')).not.toBeNull();
    const registered = JSON.parse(rig.server.to('/register')[0]?.body ?? '');
    expect(registered).toMatchObject({
      client_name: 'Portcullis',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    });
  });

  it('keeps tokens in one file for the owner alone', async () => {
    await signedIn();
    expect(statSync(path.join(rig.directory, 'mcp-tokens.json')).mode & 0o777).toBe(0o600);
    expect(rig.tokens()).toContain('SECRET-access');
  });

  it('registers once, and anew for another address to come back to', async () => {
    const auth = await signedIn();
    await auth.signIn(willing(), AbortSignal.timeout(20_000));
    expect(rig.server.to('/register')).toHaveLength(1);
    const elsewhere = willing({ redirectUrl: 'http://localhost:2/callback' });
    await auth.signIn(elsewhere, AbortSignal.timeout(20_000));
    expect(rig.server.to('/register')).toHaveLength(2);
  });

  it('uses the client of the entry and never registers', async () => {
    const oauth = { clientId: 'ours', clientSecret: 'SECRET-client' };
    const auth = await signedIn({ oauth });
    expect(rig.server.to('/register')).toHaveLength(0);
    const [token] = rig.server.to('/token');
    expect(token?.headers.authorization).toBe(`Basic ${btoa('ours:SECRET-client')}`);
    expect(await rig.ask(auth)).toBe(200);
  });

  it('describes itself by an address where that is taken', async () => {
    rig.server.behaviour.metadata = { client_id_metadata_document_supported: true };
    await signedIn({ clientMetadataUrl: 'https://client.example/us.json' });
    expect(rig.server.to('/register')).toHaveLength(0);
    expect(rig.server.to('/authorize')[0]?.query.get('client_id')).toBe(
      'https://client.example/us.json',
    );
  });

  it('asks for the scopes of the entry, whatever the server says', async () => {
    rig.server.behaviour.challengeScope = 'all';
    rig.server.behaviour.resourceMetadata = { scopes_supported: ['everything'] };
    const auth = rig.auth({ agent: willing(), oauth: { scopes: 'read list' } });
    await rig.ask(auth);
    expect(rig.server.to('/authorize')[0]?.query.get('scope')).toBe('read list');
  });

  it('takes the metadata from where the entry says they are', async () => {
    rig.server.behaviour.resourceMetadata = { authorization_servers: ['https://as.example'] };
    const where = `${rig.server.origin}/.well-known/oauth-authorization-server`;
    const auth = await signedIn({ oauth: { authServerMetadataUrl: where } });
    expect(await rig.ask(auth)).toBe(200);
  });

  it('is one for many requests that wait for it', async () => {
    rig.server.behaviour.slowMs = 50;
    const auth = rig.auth({ agent: willing() });
    const all = await Promise.all([rig.ask(auth), rig.ask(auth), rig.ask(auth)]);
    expect(all).toEqual([200, 200, 200]);
    expect(rig.server.to('/authorize')).toHaveLength(1);
  });
});

describe('a sign-in that must not succeed', () => {
  async function refused(): Promise<string> {
    const done = await rig.auth().signIn(willing(), AbortSignal.timeout(20_000));
    if (done.ok) throw new Error('it succeeded');
    expect(done.error.kind).toBe('failed');
    expect(done.error.message).not.toContain('SECRET');
    expect(rig.server.to('/token').filter(({ form }) => form.has('code'))).toHaveLength(0);
    return done.error.message;
  }

  it('with a state that is not ours', async () => {
    rig.server.behaviour.state = 'forged';
    expect(await refused()).toContain('state does not match');
  });

  it('with an answer of another authorization server (mix-up)', async () => {
    rig.server.behaviour.iss = () => 'https://evil.example';
    expect(await refused()).toContain('issuer mismatch');
  });

  it('without the sender that the server promised to name', async () => {
    rig.server.behaviour.announcesIss = true;
    expect(await refused()).toContain('issuer mismatch');
  });

  it('checks the sender before it believes an error', async () => {
    rig.server.behaviour.authorizeError = 'access_denied';
    rig.server.behaviour.iss = () => 'https://evil.example';
    expect(await refused()).toContain('issuer mismatch');
  });

  it('with metadata of another issuer', async () => {
    rig.server.behaviour.metadata = { issuer: 'https://evil.example' };
    expect(await refused()).toContain('issuer mismatch');
    expect(rig.server.to('/register')).toHaveLength(0);
  });

  it('for another server than the one that was asked', async () => {
    rig.server.behaviour.resourceMetadata = { resource: 'https://other.example/mcp' };
    expect(await refused()).toContain('resource mismatch');
    expect(rig.server.to('/authorize')).toHaveLength(0);
  });

  it('that the person declines', async () => {
    rig.server.behaviour.authorizeError = 'access_denied';
    expect(await refused()).toContain('access_denied');
  });

  it('where clients are not registered', async () => {
    rig.server.behaviour.registration = 'rejected';
    expect(await refused()).toContain('oauth.clientId');
    rig.server.behaviour.registration = 'absent';
    expect(await refused()).toContain('oauth.clientId');
  });

  it('with a page that is not https', async () => {
    rig.server.behaviour.metadata = { authorization_endpoint: 'http://as.example/authorize' };
    expect(await refused()).toContain('not https');
  });

  it('with a page that is a program', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an address, as an attacker writes it.
    rig.server.behaviour.metadata = { authorization_endpoint: 'file:///tmp/${x}' };
    await refused();
  });

  it('with tokens from an address that is not https', async () => {
    rig.server.behaviour.metadata = { token_endpoint: 'http://10.0.0.1/token' };
    await refused();
  });

  it('whose metadata lead to another origin', async () => {
    const other = await startRig();
    rig.server.behaviour.metadataRedirect = other.server.origin;
    await refused();
    expect(other.server.requests).toHaveLength(0);
    await other.stop();
  });

  it('with a token of a kind that we cannot send', async () => {
    rig.server.behaviour.tokenType = 'DPoP';
    const done = await rig.auth().signIn(willing(), AbortSignal.timeout(20_000));
    expect(done).toMatchObject({ ok: false, error: { kind: 'failed' } });
  });
});

describe('addresses that a server names', () => {
  it('are not dialled when they are not https, on this machine or on the inner network', async () => {
    const dialled: string[] = [];
    const named = [
      'http://as.example',
      'http://127.0.0.1:9',
      'https://localhost:9',
      'https://10.0.0.1',
      'https://169.254.169.254',
      'https://metadata.google.internal',
    ];
    for (const address of named) {
      const fetchFake = async (url: string | URL): Promise<Response> => {
        dialled.push(String(url));
        return Response.json({
          resource: 'https://mcp.example/mcp',
          authorization_servers: [address],
        });
      };
      const auth = rig.auth({ url: 'https://mcp.example/mcp', fetch: fetchFake });
      const done = await auth.signIn(willing(), AbortSignal.timeout(20_000));
      expect(done).toMatchObject({ ok: false, error: { kind: 'failed' } });
    }
    expect(new Set(dialled.map((url) => new URL(url).host))).toEqual(new Set(['mcp.example']));
  });
});

describe('the scopes of a sign-in that a person begins', () => {
  it('are those that the server names when it refuses', async () => {
    rig.server.behaviour.challengeScope = 'read';
    rig.server.behaviour.resourceMetadata = { scopes_supported: ['everything'] };
    await signedIn();
    expect(rig.server.to('/authorize')[0]?.query.get('scope')).toBe('read');
  });

  it('are those of its metadata otherwise', async () => {
    rig.server.behaviour.namesMetadata = false;
    rig.server.behaviour.resourceMetadata = { scopes_supported: ['everything'] };
    await signedIn();
    expect(rig.server.to('/authorize')[0]?.query.get('scope')).toBe('everything');
  });
});

describe('tokens that end', () => {
  it('are renewed before the request is made', async () => {
    const auth = await signedIn();
    rig.clock.at += 3_600_000;
    expect(await rig.ask(auth)).toBe(200);
    expect(rig.server.to('/mcp')).toHaveLength(1);
    const [, refresh] = rig.server.to('/token');
    expect(refresh?.form.get('grant_type')).toBe('refresh_token');
    expect(refresh?.form.get('resource')).toBe(rig.server.url);
  });

  it('are renewed when the server does not take them any more', async () => {
    const auth = await signedIn();
    rig.server.revoke();
    expect(await rig.ask(auth)).toBe(200);
    expect(rig.server.to('/mcp')).toHaveLength(2);
  });

  it('are renewed once by many programs', async () => {
    rig.server.behaviour.slowMs = 30;
    await signedIn();
    rig.server.revoke();
    const programs = Array.from({ length: 5 }, () => rig.auth());
    const all = await Promise.all(programs.map((auth) => rig.ask(auth)));
    expect(all).toEqual([200, 200, 200, 200, 200]);
    expect(rig.server.to('/token')).toHaveLength(2);
  });

  it('are over when the refresh token is, and it is never sent again', async () => {
    const auth = await signedIn();
    rig.server.revoke({ refresh: true });
    const { thrown, failure } = await failureOf(auth);
    expect(thrown).toBeInstanceOf(UnauthorizedError);
    expect(failure?.message).toContain('Run: portcullis mcp auth guarded');
    expect(failure?.message).toContain('the earlier sign-in is over');
    expect(rig.tokens()).not.toContain('SECRET');
  });

  it('are kept when the authorization server is out of order', async () => {
    const auth = await signedIn();
    rig.server.revoke();
    rig.server.behaviour.tokenStatus = 503;
    expect((await failureOf(auth)).failure?.kind).toBe('failed');
    rig.server.behaviour.tokenStatus = undefined;
    expect(await rig.ask(auth)).toBe(200);
  });

  it('are not renewed without a lock, and the path is not told', async () => {
    const auth = await signedIn();
    rig.server.revoke();
    const { mkdirSync, rmSync } = await import('node:fs');
    const { tokenKey } = await import('../../src/mcp/token-store.js');
    const lock = path.join(
      rig.directory,
      `mcp-refresh-${tokenKey('guarded', rig.server.url)}.lock`,
    );
    mkdirSync(path.join(lock, 'in-the-way'), { recursive: true });
    const { utimesSync } = await import('node:fs');
    utimesSync(lock, new Date(0), new Date(0));
    const { failure } = await failureOf(auth);
    expect(failure?.kind).toBe('failed');
    expect(failure?.message).not.toContain(rig.directory);
    rmSync(lock, { recursive: true });
    expect(await rig.ask(auth)).toBe(200);
  });

  it('without a refresh token need a sign-in', async () => {
    rig.server.behaviour.withRefresh = false;
    const auth = await signedIn();
    rig.server.revoke();
    expect((await failureOf(auth)).failure?.kind).toBe('needs-auth');
  });
});

describe('where nobody can sign in', () => {
  it('says what helps, registers nothing and opens nothing', async () => {
    const { failure } = await failureOf(rig.auth({ name: 'my tools' }));
    expect(failure).toEqual({
      kind: 'needs-auth',
      message:
        'MCP server "my tools" needs you to sign in: nobody has done so yet. Run: portcullis mcp auth \'my tools\'',
    });
    expect(rig.server.requests.map(({ path }) => path)).toEqual(['/mcp']);
  });

  it('remembers it for 15 minutes, also for programs that start later', async () => {
    await failureOf(rig.auth());
    rig.clock.at += 14 * 60_000;
    expect((await failureOf(rig.auth())).failure?.kind).toBe('needs-auth');
    expect(rig.server.to('/mcp')).toHaveLength(1);
    rig.clock.at += 2 * 60_000;
    expect((await failureOf(rig.auth())).failure?.kind).toBe('needs-auth');
    expect(rig.server.to('/mcp')).toHaveLength(2);
  });

  it('forgets it when somebody signs in elsewhere, without being told', async () => {
    const auth = rig.auth();
    await failureOf(auth);
    await signedIn();
    expect(await rig.ask(auth)).toBe(200);
  });

  it('refreshes first after that time', async () => {
    const auth = await signedIn();
    rig.server.revoke();
    rig.server.behaviour.refreshError = 'invalid_request';
    const kept = rig.tokens();
    await failureOf(auth);
    writeFileSync(path.join(rig.directory, 'mcp-tokens.json'), kept, { mode: 0o600 });
    rig.server.behaviour.refreshError = undefined;
    rig.clock.at += 16 * 60_000;
    rig.server.requests.length = 0;
    expect(await rig.ask(rig.auth())).toBe(200);
    expect(rig.server.requests.map((one) => one.path)).toEqual(['/token', '/mcp']);
  });

  it('does not wait when it is told to try again', async () => {
    const auth = rig.auth();
    await failureOf(auth);
    await auth.refresh();
    await failureOf(auth);
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
    const auth = await signedIn();
    expect(await rig.ask(auth, 'tools/call')).toBe(403);
    expect(auth.lastFailure()?.kind).toBe('needs-auth');
    expect(await rig.ask(auth)).toBe(200);
  });
});

describe('tokens that are kept', () => {
  it('are not sent to another address of the same name', async () => {
    await signedIn();
    const other = await startRig();
    const auth = rig.auth({ url: other.server.url });
    expect(await auth.provider.token()).toBeUndefined();
    await other.stop();
  });

  it('are not sent for another name at the same address', async () => {
    await signedIn();
    expect(await rig.auth({ name: 'other' }).provider.token()).toBeUndefined();
  });

  it('are gone after a sign-out', async () => {
    const auth = await signedIn();
    expect(await auth.signOut()).toEqual({ ok: true, value: true });
    expect(rig.tokens()).not.toContain('SECRET');
    expect(await auth.signOut()).toEqual({ ok: true, value: false });
  });

  it('that cannot be read are a problem with a name, and no request is made without them', async () => {
    const auth = await signedIn();
    const file = path.join(rig.directory, 'mcp-tokens.json');
    for (const broken of ['{"servers": SECRET', '[]', '{"servers":[]}']) {
      writeFileSync(file, broken, { mode: 0o600 });
      const { failure } = await failureOf(auth);
      expect(failure).toMatchObject({ kind: 'failed' });
      expect(failure?.message).toContain('mcp-tokens.json in the state directory is damaged');
      expect(failure?.message).not.toContain('SECRET');
      expect(await auth.signOut()).toMatchObject({ ok: false });
    }
    expect(rig.server.to('/mcp')).toHaveLength(0);
  });

  it('that others may write are not used', async () => {
    const auth = await signedIn();
    const file = path.join(rig.directory, 'mcp-tokens.json');
    const { chmodSync } = await import('node:fs');
    chmodSync(file, 0o666);
    expect((await failureOf(auth)).failure?.message).toContain('can be written by others');
  });
});
