// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are templates of hooks
import { describe, expect, it } from 'vitest';
import { hookUrl } from './http.js';

const isAllowed = (url: string, ...patterns: string[]): boolean => hookUrl(url, patterns).ok;

describe('the address of an http hook', () => {
  it('is taken in its normal form, without its fragment', () => {
    expect(hookUrl('HTTP://LocalHost:80/a/../b?q#top', undefined)).toEqual({
      ok: true,
      value: 'http://localhost/b?q',
    });
  });

  it('has no variables', () => {
    expect(hookUrl('http://127.0.0.1/$HOME/${TOKEN}', undefined)).toEqual({
      ok: true,
      value: 'http://127.0.0.1/$HOME/$%7BTOKEN%7D',
    });
    expect(hookUrl('http://$HOST/', undefined)).toMatchObject({ value: 'http://$host/' });
  });

  it.each([
    ['not a url', 'no URL'],
    ['', 'no URL'],
    ['file:///etc/passwd', 'neither http nor https'],
    ['ftp://example.com/', 'neither http nor https'],
    ['https://user@example.com/', 'send them in a header'],
    ['https://:secret@example.com/', 'send them in a header'],
    // Spellings that the choice of the proxy does not know for this machine.
    ['http://localhost./', 'this machine'],
    ['http://a.localhost./', 'this machine'],
    ['http://[::ffff:127.0.0.1]/', 'this machine'],
    ['http://[64:ff9b::7f00:1]/', 'this machine'],
  ])('refuses %s', (url, message) => {
    const checked = hookUrl(url, undefined);
    expect(checked.ok ? '' : checked.error).toContain(message);
  });

  it('does not repeat secrets of the address', () => {
    for (const url of ['https://me:hunter2@example.com/', 'https://example.com/hunter2?hunter2']) {
      expect(JSON.stringify(hookUrl(url, []))).not.toContain('hunter2');
    }
  });
});

describe('allowedHttpHookUrls', () => {
  it('lets nothing through when it is empty', () => {
    expect(isAllowed('http://127.0.0.1/')).toBe(false);
  });

  it.each([
    ['*', 'http://127.0.0.1:8080/x'],
    ['https://hooks.example.com/*', 'https://hooks.example.com/a/b?c'],
    ['https://HOOKS.example.com/*', 'https://hooks.EXAMPLE.com/a'],
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['https://hooks.example.com:443/x', 'https://hooks.example.com/x'],
    ['https://*.example.com/*', 'https://a.b.example.com/x'],
    ['http://localhost:*', 'http://localhost:8080/any/path'],
    ['http://localhost:*', 'http://localhost/any/path'],
    ['http://localhost:*/hooks/*', 'http://localhost:8080/hooks/one'],
    ['http://[::1]:*/*', 'http://[::1]:99/x'],
    ['hooks.example.com/*', 'http://hooks.example.com/x'],
    ['http*://hooks.example.com/*', 'https://hooks.example.com/x'],
    ['https://hooks.example.com/a?k=*', 'https://hooks.example.com/a?k=1'],
  ])('%s fits %s', (pattern, url) => {
    expect(isAllowed(url, 'https://other.example/', pattern)).toBe(true);
  });

  it.each([
    // The star of a host must not reach into path, query, fragment or user.
    ['https://*.example.com/*', 'https://evil.test/.example.com/x'],
    ['https://*.example.com/*', 'https://evil.test/?.example.com/'],
    ['https://*.example.com/*', 'https://evil.test/#.example.com/'],
    ['https://*.example.com/*', 'https://x.example.com@evil.test/'],
    ['https://*.example.com/*', 'https://example.com/'],
    ['*/hooks', 'https://evil.test/x#/hooks'],
    ['https://hooks.example.com/*', 'https://hooks.example.com.evil.test/'],
    ['https://hooks.example.com/*', 'http://hooks.example.com/x'],
    ['https://hooks.example.com/*', 'https://hooks.example.com:8443/x'],
    ['https://hooks.example.com/hooks/*', 'https://hooks.example.com/hooks/../admin'],
    ['https://hooks.example.com/hooks/*', 'https://hooks.example.com/hooks/%2e%2e/admin'],
    ['https://hooks.example.com/a', 'https://hooks.example.com/a?b'],
    ['https://hooks.example.com/A', 'https://hooks.example.com/a'],
    ['http://localhost:80*/', 'http://localhost:9000/'],
    ['', 'http://localhost/'],
  ])('%s does not fit %s', (pattern, url) => {
    expect(isAllowed(url, pattern)).toBe(false);
  });

  it('matches hostile patterns without delay', () => {
    const pattern = `http://h/${'a*'.repeat(500)}b`;
    expect(isAllowed(`http://h/${'a'.repeat(5_000)}`, pattern)).toBe(false);
  });
});
