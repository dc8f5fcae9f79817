import { describe, expect, it } from 'vitest';
import { addressRefusal, guardedAuthFetch } from './oauth-fetch.js';

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

  it('is called without following redirects, and a long answer is cut off', async () => {
    const asked: (RequestInit | undefined)[] = [];
    const small = guardedAuthFetch(async (_url, init) => {
      asked.push(init);
      return new Response('ok');
    }, OUT_THERE);
    const form = new URLSearchParams({ a: 'b c' });
    expect(await (await small('https://as.example/', { body: form })).text()).toBe('ok');
    expect(asked[0]).toMatchObject({ redirect: 'manual', body: 'a=b+c' });
    const long = guardedAuthFetch(async () => new Response('x'.repeat(2_000_000)), OUT_THERE);
    await expect(long('https://as.example/')).rejects.toThrow('too long');
  });

  it('that leads to another origin is left', async () => {
    const headers = { location: 'https://evil.example/' };
    const moved = guardedAuthFetch(
      async () => new Response('', { status: 302, headers }),
      OUT_THERE,
    );
    await expect(moved('https://as.example/')).rejects.toThrow('redirects to another place');
  });
});
