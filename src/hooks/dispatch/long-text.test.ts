import { describe, expect, it } from 'vitest';
import { LONGEST_HOOK_TEXT, spillLong } from '../answers/text.js';

function files() {
  const saved = new Map<string, string>();
  const write = async (name: string, text: string): Promise<string> => {
    saved.set(name, text);
    return `/spill/${name}`;
  };
  return { saved, write };
}

describe('a long text of a hook', () => {
  it('is shown whole up to the limit', async () => {
    const { saved, write } = files();
    const text = 'x'.repeat(LONGEST_HOOK_TEXT);
    expect(await spillLong(text, { write })).toBe(text);
    expect(saved.size).toBe(0);
  });

  it('beyond it is saved whole, and shown by its beginning and its place', async () => {
    const { saved, write } = files();
    const text = `begin ${'x'.repeat(LONGEST_HOOK_TEXT)}`;
    const shown = await spillLong(text, { write });
    const [[name, content] = []] = saved;
    expect(content).toBe(text);
    expect(shown).toMatch(/^begin x+/);
    expect(shown).toContain(`/spill/${name}`);
    expect(shown).toContain(`${text.length} characters`);
    expect(shown.length).toBeLessThan(3_000);
    expect(name).toMatch(/^[\w.-]+$/);
  });

  it('has one file however often it is said, and another text another', async () => {
    const { saved, write } = files();
    await spillLong('a'.repeat(20_000), { write });
    await spillLong('a'.repeat(20_000), { write });
    expect(saved.size).toBe(1);
    await spillLong('b'.repeat(20_000), { write });
    expect(saved.size).toBe(2);
  });

  it('does not split a character', async () => {
    const { write } = files();
    const shown = await spillLong(`x${'😀'.repeat(6_000)}`, { write });
    expect(Buffer.from(shown).toString()).toBe(shown);
  });

  it('keeps beginning and end when it cannot be saved', async () => {
    const write = async (): Promise<string> => {
      throw new Error('disk full');
    };
    const shown = await spillLong(`begin ${'x'.repeat(20_000)} end`, { write });
    expect(shown).toMatch(/^begin /);
    expect(shown).toContain(' end\n');
    expect(shown).toContain('disk full');
  });
});
