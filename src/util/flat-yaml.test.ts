import { describe, expect, it } from 'vitest';
import { parseFlatYaml } from './flat-yaml.js';

const fields = (text: string) => {
  const parsed = parseFlatYaml(text);
  return parsed.ok ? parsed.value.map((map) => map.fields) : parsed.error;
};

describe('parseFlatYaml', () => {
  it('reads a list of maps', () => {
    const text = `---
# pushes
- call: Bash(git push --force)   # not here
  expect: deny

-   call: "Bash(echo \\"a: b\\" # c)"
    expect: 'ask'
    rule: 'it''s'
`;
    expect(parseFlatYaml(text)).toEqual({
      ok: true,
      value: [
        { line: 3, fields: { call: 'Bash(git push --force)', expect: 'deny' } },
        { line: 6, fields: { call: 'Bash(echo "a: b" # c)', expect: 'ask', rule: "it's" } },
      ],
    });
  });

  it('keeps what only looks special', () => {
    expect(fields('- call: Bash(git log --format=%h#x)\n  a: http://x.example:80/y\n')).toEqual([
      { call: 'Bash(git log --format=%h#x)', a: 'http://x.example:80/y' },
    ]);
    expect(fields('')).toEqual([]);
    expect(fields('  - a: b\r\n    c: d\r\n')).toEqual([{ a: 'b', c: 'd' }]);
  });

  it.each([
    ['call: x', 1, 'dash'],
    ['- call: x\n   expect: y', 2, 'column'],
    ['- a: x\n - b: y', 2, 'column'],
    ['- a: x\n  a: y', 2, 'twice'],
    ['- a:', 1, 'missing'],
    ['- a: # nothing', 1, 'missing'],
    ['- a: [x]', 1, 'quotes'],
    ['- a: {x: y}', 1, 'quotes'],
    ['- a: |\n    text', 1, 'quotes'],
    ['- a: *anchor', 1, 'quotes'],
    ['- a: b: c', 1, 'quotes'],
    ['- a: "b', 1, 'not closed'],
    ['- a: "b" c', 1, 'not closed'],
    ["- a: 'b", 1, 'not closed'],
    ['- a: "\\x41"', 1, 'escape'],
    ['-\ta: b', 1, 'not'],
    ['\t- a: b', 1, 'tab'],
    ['- just text', 1, 'not'],
    ['tests:\n  - a: b', 1, 'dash'],
  ])('refuses %j', (text, line, message) => {
    const parsed = parseFlatYaml(text);
    expect(parsed).toMatchObject({
      ok: false,
      error: { line, message: expect.stringContaining(message) },
    });
  });
});
