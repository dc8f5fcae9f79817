import { describe, expect, it } from 'vitest';
import { standIn } from '../../../test/support/gate-rig.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import { createWorkspace } from '../../tools/workspace.js';
import type { GateCall } from '../gate/types.js';
import { parseRule, type Rule } from '../rules/rules.js';
import { createGrants } from './grants.js';
import { reachOf } from './updates.js';

const agent = (path: string, background = false): AgentRef => ({
  ...MAIN_AGENT,
  id: path,
  path,
  background,
});

function rule(text: string, kind: Rule['kind'] = 'allow'): Rule {
  const origin = { value: { text, root: '/p' }, source: 'answer', trusted: true } as const;
  const parsed = parseRule(kind, origin, { cwd: '/p', home: '/h' });
  if (!('rule' in parsed)) throw new Error(parsed.why);
  return parsed.rule;
}

function call(
  input: Record<string, unknown>,
  over: { cwd?: string; agent?: AgentRef } = {},
): GateCall {
  const tool = standIn('Bash');
  const workspace = createWorkspace([over.cwd ?? '/p']);
  return {
    toolUseId: 't',
    tool,
    input,
    subject: tool.subject(input, workspace),
    agent: over.agent ?? MAIN_AGENT,
    workspace,
    signal: new AbortController().signal,
  };
}

describe('grants', () => {
  it('of a background agent stay its own; of others they are shared', () => {
    const grants = createGrants(() => 0);
    const background = agent('main/x#1', true);
    grants.addRule(rule('Bash(a *)'), reachOf({ until: 'session' }, background));
    grants.addRule(rule('Bash(b *)'), reachOf({ until: 'session' }, agent('main/y#1')));
    const texts = (path: string) => grants.rules(agent(path)).allow.map(({ text }) => text);
    expect(texts('main')).toEqual(['Bash(b *)']);
    expect(texts('main/x#1')).toEqual(['Bash(a *)', 'Bash(b *)']);
    expect(texts('main/x#1/z#1')).toEqual(['Bash(a *)', 'Bash(b *)']);
    expect(texts('main/x#10')).toEqual(['Bash(b *)']);
  });

  it('cover the same call in the same place, however its input is ordered', () => {
    const grants = createGrants(() => 0);
    grants.addCall(call({ command: 'x', run_in_background: true }), { until: 'session' });
    expect(grants.covers(call({ run_in_background: true, command: 'x', description: 'd' }))).toBe(
      true,
    );
    expect(grants.covers(call({ command: 'x', run_in_background: false }))).toBe(false);
    expect(grants.covers(call({ command: 'x', run_in_background: true }, { cwd: '/q' }))).toBe(
      false,
    );
  });

  it('end with their time', () => {
    let now = 0;
    const grants = createGrants(() => now);
    grants.addRule(rule('Bash(a *)'), { until: 'session', expiresAt: 10 });
    grants.addRule(rule('Bash(d *)', 'deny'), { until: 'session' });
    expect(grants.rules(MAIN_AGENT).allow.map(({ text }) => text)).toEqual(['Bash(a *)']);
    expect(grants.rules(MAIN_AGENT).deny).toHaveLength(1);
    now = 10;
    expect(grants.rules(MAIN_AGENT).allow).toEqual([]);
  });

  it('keep a rule once', () => {
    const grants = createGrants(() => 0);
    for (let index = 0; index < 3; index++) grants.addRule(rule('Bash(a *)'), { until: 'session' });
    expect(grants.rules(MAIN_AGENT).allow).toHaveLength(1);
  });
});
