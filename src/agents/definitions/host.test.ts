import { describe, expect, it } from 'vitest';
import { readHostAgents } from './host.js';

const one = { description: 'd', prompt: 'P' };

describe('agents of a host', () => {
  it('are read from an object and from JSON alike', async () => {
    const given = { rev: { ...one, tools: ['Read'], portcullis: { asks: 'deny' }, model: null } };
    for (const agents of [given, JSON.stringify(given)]) {
      const read = readHostAgents(agents);
      if (!read.ok) throw new Error(read.error);
      const [rev] = read.value.definitions;
      expect(rev).toMatchObject({ name: 'rev', source: 'flag', tools: ['Read'], asks: 'deny' });
      expect(await rev?.prompt()).toBe('P');
      expect(rev?.contentHash()).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  it('are none when nothing is given', () => {
    expect(readHostAgents(undefined)).toEqual({
      ok: true,
      value: { definitions: [], problems: [] },
    });
  });

  it('may have fields that are not known', () => {
    const read = readHostAgents({ rev: { ...one, observer: 'x', later: 1 } });
    expect(read).toMatchObject({
      ok: true,
      value: { problems: [{ severity: 'warning', place: '--agents', name: 'rev' }, {}] },
    });
  });

  it('go by their keys', () => {
    const read = readHostAgents({ rev: { ...one, name: 'other' } });
    expect(read).toMatchObject({ ok: true, value: { definitions: [{ name: 'rev' }] } });
  });

  it.each([
    ['{', 'not valid JSON'],
    ['[]', 'must be'],
    [{ rev: 7 }, 'rev: it is not an object'],
    [{ rev: { description: 'd' } }, 'rev: it has no prompt'],
    [{ rev: { prompt: 'p' } }, 'rev: it has no description'],
    [{ rev: { ...one, prompt: ['x'] } }, 'no prompt'],
    [{ rev: { ...one, tools: 7 } }, '"tools" is neither'],
    [{ rev: { ...one, disallowedTools: ['Bsh'] } }, 'did you mean Bash'],
    [{ rev: { ...one, disallowedTools: ['mcp__srv__'] } }, 'Write mcp__srv for the whole server'],
    [{ main: one }, 'main: the name "main" is kept for us'],
    [{ 'a:b': one }, 'a:b: the name'],
    [{ rev: one, Rev: one }, 'twice'],
    ['{"__proto__": {}}', '__proto__'],
  ])('are refused as a whole for one that is wrong: %j', (given, words) => {
    const read = readHostAgents(given);
    expect(read).toEqual({ ok: false, error: expect.stringContaining(words) });
  });
});
