import { describe, expect, it } from 'vitest';
import { scopesToAsk } from './sign-in.js';

describe('the scopes to ask for', () => {
  const all = { pinned: 'a b', challenged: 'c', earlier: 'd', resource: ['e'] };

  it('are those of the entry, then of the refusal, then of the metadata', () => {
    expect(scopesToAsk(all)).toBe('a b');
    expect(scopesToAsk({ ...all, pinned: undefined })).toBe('d c');
    expect(scopesToAsk({ challenged: 'c', resource: ['e'] })).toBe('c');
    expect(scopesToAsk({ earlier: 'd', resource: ['e'] })).toBe('d');
    expect(scopesToAsk({ resource: ['e', 'f'] })).toBe('e f');
  });

  it('are none where nobody says any', () => {
    expect(scopesToAsk({})).toBeUndefined();
    expect(scopesToAsk({ pinned: '  ', challenged: '', resource: [] })).toBeUndefined();
    expect(scopesToAsk({ offered: ['offline_access'] })).toBeUndefined();
  });

  it('get offline_access where it is offered, once', () => {
    const offered = ['openid', 'offline_access'];
    expect(scopesToAsk({ pinned: 'a', offered })).toBe('a offline_access');
    expect(scopesToAsk({ pinned: 'offline_access a', offered })).toBe('offline_access a');
    expect(scopesToAsk({ pinned: 'a', offered: ['openid'] })).toBe('a');
  });

  it('hold each once', () => {
    expect(scopesToAsk({ challenged: 'read  write\tread', earlier: 'write' })).toBe('write read');
  });
});
