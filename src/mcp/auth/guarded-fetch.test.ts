import { describe, expect, it } from 'vitest';
import { err, ok } from '../../lib/result.js';
import type { PublicFetch } from '../../platform/http/public-fetch.js';
import { addressRefusal, guardedAuthFetch } from './guarded-fetch.js';

const OUT_THERE = 'https://mcp.example/mcp';
const HERE = 'http://127.0.0.1:3000/mcp';
const INNER = 'https://10.1.2.3/mcp';

describe('an address for signing in', () => {
  it.each([
    ['https://as.example/token', OUT_THERE],
    ['https://as.example/token', HERE],
    ['http://localhost:9/token', HERE],
    ['http://[::1]:9/token', HERE],
    ['https://10.9.9.9/token', INNER],
    ['https://as.corp.internal/token', INNER],
  ])('%s is used for %s', (address, server) => {
    expect(addressRefusal(address, server)).toBeUndefined();
  });

  it.each([
    ['http://as.example/token', OUT_THERE],
    ['http://as.example/token', HERE],
    ['http://127.0.0.1:9/token', OUT_THERE],
    ['https://127.0.0.1:9/token', OUT_THERE],
    ['https://localhost./token', OUT_THERE],
    ['https://[::ffff:127.0.0.1]/token', OUT_THERE],
    ['https://0x7f000001/token', OUT_THERE],
    ['https://10.0.0.1/token', OUT_THERE],
    ['http://10.0.0.1/token', INNER],
    ['https://169.254.169.254/token', INNER],
    ['https://169.254.169.254/token', HERE],
    ['https://0.0.0.0/token', HERE],
    ['https://user:pass@as.example/token', OUT_THERE],
    ['javascript:alert(1)', OUT_THERE],
    ['file:///etc/passwd', HERE],
    ['no address', HERE],
  ])('%s is refused for %s', (address, server) => {
    expect(addressRefusal(address, server)).toEqual(expect.any(String));
  });

  const never = (): never => {
    throw new Error('it was dialled');
  };
  const publicly = async (): Promise<readonly string[]> => ['93.184.216.34'];

  it('of a server nearby is called without following redirects, and a long answer is cut off', async () => {
    const asked: (RequestInit | undefined)[] = [];
    const near = async (_url: string | URL, init?: RequestInit): Promise<Response> => {
      asked.push(init);
      return new Response('ok');
    };
    const small = guardedAuthFetch({ near, far: never, resolve: publicly }, HERE);
    const form = new URLSearchParams({ a: 'b c' });
    expect(await (await small('https://as.example/', { body: form })).text()).toBe('ok');
    expect(asked[0]).toMatchObject({ redirect: 'manual', body: 'a=b+c' });
    const endless = async (): Promise<Response> => new Response('x'.repeat(2_000_000));
    const long = guardedAuthFetch({ near: endless, far: never, resolve: publicly }, HERE);
    await expect(long('https://as.example/')).rejects.toThrow('too long');
  });

  it('of any other server is dialled only where it is public, after its name was resolved', async () => {
    const dialled: string[] = [];
    const resolved: Record<string, string> = {
      'as.example': '93.184.216.34',
      'in.example': '10.0.0.1',
    };
    const far: PublicFetch = async ({ url }) => {
      const address = resolved[new URL(url).hostname];
      if (address?.startsWith('10.')) return err({ reason: 'forbidden', message: 'inner' });
      dialled.push(url);
      const body = new TextEncoder().encode('ok');
      return ok({ kind: 'response', status: 200, statusText: '', headers: {}, body });
    };
    const fetch = guardedAuthFetch({ near: never, far, resolve: publicly }, OUT_THERE);
    expect(await (await fetch('https://as.example/a')).text()).toBe('ok');
    await expect(fetch('https://in.example/a')).rejects.toThrow('no public address');
    expect(dialled).toEqual(['https://as.example/a']);
  });

  it('may be inner where the name of the server leads there too', async () => {
    const near = async (): Promise<Response> => new Response('inside');
    const resolve = async (): Promise<readonly string[]> => ['10.0.0.7'];
    const fetch = guardedAuthFetch({ near, far: never, resolve }, OUT_THERE);
    expect(await (await fetch('https://as.example/')).text()).toBe('inside');
  });

  it('that leads to another origin is left', async () => {
    const headers = { location: 'https://evil.example/' };
    const near = async (): Promise<Response> => new Response('', { status: 302, headers });
    const far: PublicFetch = async () =>
      ok({ kind: 'redirect', status: 302, statusText: '', redirect: 'https://evil.example/' });
    for (const server of [HERE, OUT_THERE]) {
      const moved = guardedAuthFetch({ near, far, resolve: publicly }, server);
      await expect(moved('https://as.example/')).rejects.toThrow('redirects to another place');
    }
  });
});
