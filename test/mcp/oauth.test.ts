import { statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { err, ok } from '../../src/lib/result.js';
import type { PublicFetch } from '../../src/platform/http/public-fetch.js';
import { type OAuthRig, startRig, willing } from './oauth-rig.js';

let rig: OAuthRig;

beforeEach(async () => {
  rig = await startRig();
});

afterEach(async () => {
  await rig.stop();
});

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
    await rig.signedIn();
    expect(statSync(path.join(rig.directory, 'mcp-tokens.json')).mode & 0o777).toBe(0o600);
    expect(rig.tokens()).toContain('SECRET-access');
  });

  it('registers once, and anew for another address to come back to', async () => {
    const auth = await rig.signedIn();
    await auth.signIn(willing(), AbortSignal.timeout(20_000));
    expect(rig.server.to('/register')).toHaveLength(1);
    const elsewhere = willing({ redirectUrl: 'http://localhost:2/callback' });
    await auth.signIn(elsewhere, AbortSignal.timeout(20_000));
    expect(rig.server.to('/register')).toHaveLength(2);
  });

  it('uses the client of the entry and never registers', async () => {
    const oauth = { clientId: 'ours', clientSecret: 'SECRET-client' };
    const auth = await rig.signedIn({ oauth });
    expect(rig.server.to('/register')).toHaveLength(0);
    const [token] = rig.server.to('/token');
    expect(token?.headers.authorization).toBe(`Basic ${btoa('ours:SECRET-client')}`);
    expect(await rig.ask(auth)).toBe(200);
  });

  it('gives the secret of the entry to no other authorization server than before', async () => {
    const oauth = { clientId: 'ours', clientSecret: 'SECRET-client' };
    const auth = await rig.signedIn({ oauth });
    const other = await startRig();
    onTestFinished(() => other.stop());
    rig.server.behaviour.resourceMetadata = { authorization_servers: [other.server.origin] };
    const done = await auth.signIn(willing(), AbortSignal.timeout(20_000));
    expect(done).toMatchObject({ ok: false, error: { kind: 'failed' } });
    expect(JSON.stringify(other.server.requests)).not.toContain(btoa('ours:SECRET-client'));
    expect(other.server.to('/token')).toHaveLength(0);
  });

  it('gives a program’s secret to nobody whom the server names elsewhere', async () => {
    const oauth = {
      grantType: 'client_credentials',
      clientId: 'ours',
      clientSecret: 'SECRET-client',
    } as const;
    const other = await startRig();
    onTestFinished(() => other.stop());
    rig.server.behaviour.resourceMetadata = { authorization_servers: [other.server.origin] };
    const { failure } = await rig.failure(rig.auth({ oauth }));
    expect(failure).toMatchObject({ kind: 'failed' });
    expect(failure?.message).toContain('authServerMetadataUrl');
    expect(other.server.to('/token')).toHaveLength(0);
  });

  it('describes itself by an address where that is taken', async () => {
    rig.server.behaviour.metadata = { client_id_metadata_document_supported: true };
    await rig.signedIn({ clientMetadataUrl: 'https://client.example/us.json' });
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
    const auth = await rig.signedIn({ oauth: { authServerMetadataUrl: where } });
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

const NAMED = [
  'http://as.example',
  'http://127.0.0.1:9',
  'https://localhost:9',
  'https://10.0.0.1',
  'https://169.254.169.254',
  'https://metadata.google.internal',
];

describe('addresses that a server names', () => {
  it('are not dialled when they are not https, on this machine or on the inner network', async () => {
    const dialled: string[] = [];
    for (const address of NAMED) {
      const guarded: PublicFetch = async ({ url }) => {
        dialled.push(url);
        return err({ reason: 'connection', message: 'no' });
      };
      const auth = rig.auth({
        url: 'https://mcp.example/mcp',
        guarded,
        resolve: async () => ['93.184.216.34'],
        // The server itself: it says where its metadata are.
        fetch: async () => {
          const header = `Bearer resource_metadata="${address}/latest/meta-data/"`;
          return new Response('', { status: 401, headers: { 'www-authenticate': header } });
        },
      });
      const named = await auth.signIn(willing(), AbortSignal.timeout(20_000));
      expect(named).toMatchObject({ ok: false, error: { kind: 'failed' } });
      expect(dialled).toEqual([]);
    }
  });

  it('are not dialled when the metadata name them either', async () => {
    const dialled: string[] = [];
    for (const address of NAMED) {
      const guarded: PublicFetch = async ({ url }) => {
        dialled.push(url);
        const metadata = { resource: 'https://mcp.example/mcp', authorization_servers: [address] };
        const body = new TextEncoder().encode(JSON.stringify(metadata));
        return ok({ kind: 'response', status: 200, statusText: '', headers: {}, body });
      };
      const auth = rig.auth({
        url: 'https://mcp.example/mcp',
        guarded,
        resolve: async () => ['93.184.216.34'],
        fetch: async () => new Response('', { status: 401 }),
      });
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
    await rig.signedIn();
    expect(rig.server.to('/authorize')[0]?.query.get('scope')).toBe('read');
  });

  it('are those of its metadata otherwise', async () => {
    rig.server.behaviour.namesMetadata = false;
    rig.server.behaviour.resourceMetadata = { scopes_supported: ['everything'] };
    await rig.signedIn();
    expect(rig.server.to('/authorize')[0]?.query.get('scope')).toBe('everything');
  });
});
