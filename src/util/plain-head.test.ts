import { describe, expect, it } from 'vitest';
import { loadFrontmatter } from './frontmatter.js';
import { plainHead } from './plain-head.js';

/** The same text for the careful reader alone: an empty line before the head is nothing to the plain one. */
async function carefully(text: string) {
  const read = await loadFrontmatter(`\n${text}`);
  const lines = new Map([...read.lines].map(([name, line]) => [name, line - 1]));
  return { ...read, lines, bodyLine: read.bodyLine - 1 };
}

describe('plainHead', () => {
  it('reads names, texts, their lines and the body', () => {
    const text =
      '---\nname: deploy\ndescription: Ships it, at once (a "safe" way)\n---\n\n# Deploy\n';
    expect(plainHead(text)).toEqual({
      fields: { name: 'deploy', description: 'Ships it, at once (a "safe" way)' },
      lines: new Map([
        ['name', 2],
        ['description', 3],
      ]),
      body: '\n# Deploy\n',
      bodyLine: 5,
      how: 'yaml',
      doubtful: [],
      unclear: new Map(),
    });
  });

  it('says nothing about what may be read in two ways', () => {
    const doubtful = [
      '',
      'text',
      '---\n---\n',
      '---\nname: a\n',
      '---\nname: a\n---',
      '---\nname: a\n--- \nbody',
      '---\nname: a\n...\nbody',
      '\n---\nname: a\n---\n',
      '\uFEFF---\nname: a\n---\n',
      '---\r\nname: a\r\n---\r\n',
      '---\nname:a\n---\n',
      '---\nname : a\n---\n',
      '---\n"name": a\n---\n',
      '---\nname: a: b\n---\n',
      '---\nname: a:\n---\n',
      '---\nname: a # b\n---\n',
      '---\nname: a \n---\n',
      '---\nname: a\tb\u0000\n---\n',
      '---\nname: a\n  goes on\n---\n',
      '---\nname: a\n- b\n---\n',
      '---\nname: a\n\nother: b\n---\n',
      '---\nname: a\nname: a\n---\n',
      '---\n__proto__: a\n---\n',
      ...['true', 'False', 'NULL', '~', '1', '-1', '.inf', '"a"', "'a'", '[a]', '{a: b}'].map(
        (value) => `---\nname: ${value}\n---\n`,
      ),
      ...['|', '>', '&a b', '*a', '!a b', '%a', '@a', '`a`', '?a', '- a'].map(
        (value) => `---\nname: ${value}\n---\n`,
      ),
      `---\n${'name'.repeat(20)}: ${'a'.repeat(20_000)}\nother: b\n---\n`,
    ];
    for (const text of doubtful) expect(plainHead(text), JSON.stringify(text)).toBeUndefined();
  });

  it('reads nothing otherwise than the careful reader does', async () => {
    const names = ['name', 'allowed-tools', 'when_to_use', 'x1'];
    const parts = [
      'a',
      'B c',
      'true',
      ':',
      ': ',
      '#',
      ' #',
      '\t',
      ' ',
      '-',
      '"',
      "'",
      '[',
      '!',
      '`',
    ];
    let seed = 7;
    const next = (most: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % most;
    };
    const pick = <T>(all: readonly T[]): T => all[next(all.length)] as T;
    let plain = 0;
    for (let round = 0; round < 5_000; round++) {
      const lines = Array.from({ length: 1 + next(3) }, () => {
        const value = Array.from({ length: 1 + next(4) }, () => pick(parts)).join('');
        return `${pick(names)}: ${value}\n`;
      });
      const text = `---\n${lines.join('')}---\nbody\r\n${pick(parts)}\n`;
      const read = plainHead(text);
      if (read === undefined) continue;
      plain++;
      expect(read, JSON.stringify(text)).toEqual(await carefully(text));
    }
    expect(plain).toBeGreaterThan(100);
  });
});
