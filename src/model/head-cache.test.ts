import { describe, expect, it } from 'vitest';
import { HeadCache } from './head-cache.js';

const parts = (text: string) => ({
  system: [{ type: 'text' as const, text }],
  tools: [],
  settings: '',
});

describe('HeadCache', () => {
  it('builds a head once for the same parts', () => {
    const cache = new HeadCache();
    const given = parts('a');
    let built = 0;
    const build = () => `built ${++built}`;
    expect(cache.bytes(given, build)).toBe(cache.bytes(given, build));
    expect(built).toBe(1);
  });

  it('holds the bytes of heads that are the same once, whoever asks for them', () => {
    const one = new HeadCache().bytes(parts('a'), () => 'the same head');
    const other = new HeadCache().bytes(parts('a'), () => ['the same', 'head'].join(' '));
    expect(other).toBe(one);
    expect(new TextDecoder().decode(other)).toBe('the same head');
    expect(new HeadCache().bytes(parts('a'), () => 'another head')).not.toBe(one);
  });
});
