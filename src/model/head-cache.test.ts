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

  it('knows a system prompt by its words and a tool by itself', () => {
    const cache = new HeadCache();
    const tool = () => ({ name: 'Read', description: 'reads', input_schema: {} });
    const tools = [tool()];
    let built = 0;
    const build = () => `head ${++built}`;
    const one = cache.bytes({ ...parts('a'), tools }, build);
    expect(cache.bytes({ ...parts('a'), tools: [...tools] }, build)).toBe(one);
    expect(built).toBe(1);
    expect(cache.bytes({ ...parts('b'), tools }, build)).not.toBe(one);
    expect(cache.bytes({ ...parts('a'), tools: [tool()] }, build)).not.toBe(one);
    expect(cache.bytes({ ...parts('a'), tools, settings: 'other' }, build)).not.toBe(one);
    expect(cache.bytes({ ...parts('a'), tools, system: [] }, build)).not.toBe(one);
  });

  it('goes by what is given now, though the list of tools was given before', () => {
    const cache = new HeadCache();
    const { tools, system } = parts('a');
    const settings = (one: string) => cache.bytes({ tools, system, settings: one }, () => one);
    const first = settings('a');
    expect(settings('b')).not.toBe(first);
    expect(settings('a')).toBe(first);
    const other = cache.bytes({ tools, system: parts('b').system, settings: 'a' }, () => 'c');
    expect(other).not.toBe(first);
    expect(settings('a')).toBe(first);
  });

  it('holds the bytes of heads that are the same once, whoever asks for them', () => {
    const one = new HeadCache().bytes(parts('a'), () => 'the same head');
    const other = new HeadCache().bytes(parts('a'), () => ['the same', 'head'].join(' '));
    expect(other).toBe(one);
    expect(new TextDecoder().decode(other)).toBe('the same head');
    expect(new HeadCache().bytes(parts('a'), () => 'another head')).not.toBe(one);
  });
});
