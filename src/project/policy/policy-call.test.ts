import { describe, expect, it } from 'vitest';
import { formatCall, parseCall } from './policy-call.js';

describe('parseCall', () => {
  it.each([
    ['Bash(git push --force)', 'Bash', { command: 'git push --force' }],
    ['Bash(echo "(a)")', 'Bash', { command: 'echo "(a)"' }],
    ['Bash git push', 'Bash', { command: 'git push' }],
    ['Read src/x.ts', 'Read', { file_path: 'src/x.ts' }],
    ['Edit(./a b.ts)', 'Edit', { file_path: './a b.ts' }],
    ['Grep(secrets)', 'Grep', { path: 'secrets' }],
    ['WebFetch(domain:a.example)', 'WebFetch', { url: 'https://a.example/' }],
    ['WebFetch https://a.example/x', 'WebFetch', { url: 'https://a.example/x' }],
    ['Agent(reviewer)', 'Agent', { subagent_type: 'reviewer' }],
    ['mcp__s__t', 'mcp__s__t', {}],
    ['mcp__s__t({"a":1})', 'mcp__s__t', { a: 1 }],
    ['{"tool":"Write","input":{"file_path":"x"}}', 'Write', { file_path: 'x' }],
  ])('%s', (text, tool, input) => {
    expect(parseCall(text)).toEqual({ tool, input });
  });

  it.each(['', '(x)', 'mcp__s__t(x)', '{"tool":1}', '{bad', '{"tool":"Read","input":[]}'])(
    'refuses %j',
    (text) => {
      expect(() => parseCall(text)).toThrow();
    },
  );
});

describe('formatCall', () => {
  it('writes what parseCall reads', () => {
    for (const text of ['Bash(git push)', 'Read(x)', 'mcp__s__t', 'mcp__s__t({"a":1})']) {
      expect(formatCall(parseCall(text))).toBe(text);
    }
  });
});
