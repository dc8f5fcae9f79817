import { describe, expect, it } from 'vitest';
import { parseTestTable } from './test-table.js';

const NAMES = ['call', 'expect', 'rule', 'a', 'b', 'c'];

describe('parseTestTable', () => {
  it('reads a list of maps, every value as text', async () => {
    const text = `---
# pushes
- call: Bash(git push --force)   # not here
  expect: no

-   call: "Bash(echo \\"a: b\\" # c)"
    expect: 'ask'
    rule: 'it''s'
`;
    expect(await parseTestTable(text, NAMES)).toEqual({
      ok: true,
      value: [
        { line: 3, fields: { call: 'Bash(git push --force)', expect: 'no' } },
        { line: 6, fields: { call: 'Bash(echo "a: b" # c)', expect: 'ask', rule: "it's" } },
      ],
    });
  });

  it('keeps what only looks special, and takes JSON', async () => {
    const rows = async (text: string) => {
      const parsed = await parseTestTable(text, NAMES);
      return parsed.ok ? parsed.value.map(({ fields }) => fields) : parsed.error;
    };
    expect(await rows('- call: Bash(git log --format=%h#x)\n  a: http://x.example:80/y\n')).toEqual(
      [{ call: 'Bash(git log --format=%h#x)', a: 'http://x.example:80/y' }],
    );
    expect(await rows('')).toEqual([]);
    expect(await rows('  - a: b\r\n    c: d\r\n')).toEqual([{ a: 'b', c: 'd' }]);
    expect(await rows('[{"a": "b"}]')).toEqual([{ a: 'b' }]);
  });

  it.each([
    ['call: x', 1],
    ['- a: x\n - b: y', 2],
    ['- a: x\n  a: y', 2],
    ['- a:', 1],
    ['- a: # nothing', 1],
    ['- a: [x]', 1],
    ['- a: {x: y}', 1],
    ['- a: *anchor', 1],
    ['- a: !tag x', 1],
    ['- a: b: c', 1],
    ['- a: "b', 1],
    ['- a: "b" c', 1],
    ["- a: 'b", 1],
    ['- just text', 1],
    ['a:\n  - a: b', 1],
    ['- calls: x', 1],
  ])('refuses %j, with its line', async (text, line) => {
    const parsed = await parseTestTable(text, NAMES);
    expect(parsed).toMatchObject({ ok: false });
    expect(parsed.ok ? '' : parsed.error).toMatch(new RegExp(`^${line}: `));
  });
});
