import { describe, expect, it } from 'vitest';
import { trustNotice } from './messages.js';
import type { Declaration, DeclarationKind, TrustCheck } from './types.js';

function checkOf(kinds: readonly DeclarationKind[]): TrustCheck {
  const declarations = kinds.map(
    (kind): Declaration => ({
      kind,
      name: kind === 'MCP server' ? 'build' : 'Stop',
      text: 'x',
      file: kind === 'MCP server' ? '/p/.mcp.json' : '/p/.claude/settings.json',
      line: 3,
      level: '',
      digest: kind,
      pinned: true,
    }),
  );
  const pending = declarations.map((declaration) => ({ declaration, was: 'new' as const }));
  const scripts = new Map();
  const isEmptyProject = false;
  return { root: '/p', verdict: 'never', declarations, pending, scripts, isEmptyProject };
}

const HOW = '`portcullis trust` shows and accepts them; --trust accepts them for one run';
const SERVERS =
  'only servers that a person has approved individually are used (portcullis mcp list): 1 MCP server (build; .mcp.json:3)';

describe('the notice of a folder that is not trusted', () => {
  it('does not say of servers that they are not in force, as one may have been approved', () => {
    const hooks = 'these of its files are not in force: 1 hook (Stop; .claude/settings.json:3)';
    expect(trustNotice(checkOf(['MCP server', 'hook']))).toBe(
      `/p is not trusted, so ${hooks}; and ${SERVERS}. ${HOW}`,
    );
    expect(trustNotice(checkOf(['MCP server']))).toBe(`/p is not trusted, so ${SERVERS}. ${HOW}`);
    expect(trustNotice(checkOf(['hook']))).toBe(`/p is not trusted, so ${hooks}. ${HOW}`);
  });
});
