import { describe, expect, it } from 'vitest';
import { instructionFilesIn, isInstructionFile } from './names.js';

describe('instruction files by their names', () => {
  it.each([
    'CLAUDE.md',
    'a/b/AGENTS.md',
    'claude.local.md',
    '/x/.claude/rules/deep/a.md',
    'm/MEMORY.md',
  ])('%s is one', (path) => {
    expect(isInstructionFile(path)).toBe(true);
  });

  it.each(['README.md', 'CLAUDE.md.bak', '.claude/rules/a.txt', 'rules/a.md', 'myclaude.md'])(
    '%s is none',
    (path) => {
      expect(isInstructionFile(path)).toBe(false);
    },
  );

  it('are found in shell commands however they are attached', () => {
    expect(instructionFilesIn('echo x >CLAUDE.md; cat "docs/AGENTS.md" | tee a')).toEqual([
      'CLAUDE.md',
      'docs/AGENTS.md',
    ]);
  });
});
