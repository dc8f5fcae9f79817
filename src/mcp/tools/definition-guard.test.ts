import { describe, expect, it } from 'vitest';
import type { CallView } from '../../permissions/gate/view.js';
import { serverOfRuleGuard } from './definition-guard.js';

/** A view with allow rules that match the tool by prefix. */
function viewOf(key: string, tool: string, rules: readonly string[]): CallView {
  const name = `mcp__${key}__${tool}`;
  const allow = rules.map((text) => ({
    text,
    label: text,
    matchesTool: () => name.startsWith(text.replace(/\*$/, '')),
  }));
  return {
    names: [name],
    rules: { allow },
    call: { tool: { name, origin: { server: key, key } } },
  } as unknown as CallView;
}

const decide = async (key: string, rules: readonly string[]): Promise<string> => {
  const found = await serverOfRuleGuard.decide(viewOf(key, 'Other', rules));
  return found.decision ?? 'none';
};

describe('what was granted to a server is not granted to one whose name goes on', () => {
  it.each([
    ['git__x', 'mcp__git__*'],
    ['github_', 'mcp__github__*'],
    ['github_', 'mcp__github'],
    ['github___', 'mcp__github__*'],
    ['git__x_', 'mcp__git__x__*'],
  ])('%s under %s asks', async (key, rule) => {
    expect(await decide(key, [rule])).toBe('ask');
  });

  it.each([
    ['github', 'mcp__github__*'],
    ['github_', 'mcp__github___*'],
    ['github_', 'mcp__github_'],
    ['git__x', 'mcp__git__x__Other'],
    ['github_', 'Bash'],
  ])('%s under %s does not', async (key, rule) => {
    expect(await decide(key, [rule])).toBe('none');
  });
});
