import { describe, expect, it } from 'vitest';
import { ok } from '../../lib/result.js';
import { NOTHING } from '../../permissions/gate/guard.js';
import { parseRules } from '../../permissions/rules/rules.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { AnyTool } from '../../tools/tool.js';
import { createWorkspace } from '../../tools/workspace.js';
import { builtinAgents } from '../definitions/builtin-agents.js';
import { agentTool } from '../tools/agent-tool.js';
import { named, TypeRules, virtualCall } from './type-rules.js';

const never = (): never => {
  throw new Error('not asked for');
};
const tool = agentTool({
  book: { resolve: never },
  runtime: never,
  words: { cap: 1, spill: never, canResume: () => true },
  forks: () => undefined,
  backgroundIsOff: () => undefined,
  mostRunning: () => 1,
}) as AnyTool;

/** The guard's finding for a start under these rules, and the types that it looked up. */
async function judged(type: string, lists: { readonly deny?: string; readonly ask?: string }) {
  const listOf = (text: string | undefined) =>
    text === undefined
      ? []
      : [{ value: { text, root: '/p' }, source: 'user' as const, trusted: true }];
  const { rules } = parseRules(
    { allow: listOf('Agent'), ask: listOf(lists.ask), deny: listOf(lists.deny) },
    { cwd: '/p', home: '/home/me' },
  );
  const looked: string[] = [];
  const parts = {
    book: {
      async resolve(name: string) {
        looked.push(name);
        const found = builtinAgents().find((one) => one.name === name);
        return found === undefined ? { ok: false as const, error: 'none' } : ok(found);
      },
    },
    tool: () => tool,
    fences: {
      guard: { name: 'fence', onFailure: 'deny' as const, decide: async () => NOTHING },
      holds: () => false,
    },
    fs: nodeFileSystem,
    home: '/home/me',
    workspace: createWorkspace(['/p']),
    rules: () => rules,
    mode: () => 'default' as const,
  };
  const view = named(virtualCall(parts, MAIN_AGENT), type);
  const finding = await new TypeRules(parts).guard.decide(view);
  return { finding, looked };
}

describe('the guard of types', () => {
  it.each([{}, { deny: 'Bash' }, { ask: 'Read(./x)', deny: 'mcp__srv' }])(
    'has nothing to say where no rule is about agents: %j',
    async (lists) => {
      const { finding, looked } = await judged('general-purpose', lists);
      expect(finding).toBe(NOTHING);
      expect(looked).toEqual([]);
    },
  );

  it.each([
    ['general-purpose', { deny: 'Agent(claude)' }, 'deny'],
    ['claude', { deny: 'Agent(general-purpose)' }, 'deny'],
    ['claude', { ask: 'Task(general-purpose)' }, 'ask'],
    ['Explore', { deny: 'Agent(explore)' }, 'deny'],
    ['Explore', { deny: 'Agent' }, 'deny'],
    ['Explore', { deny: 'Agent(Plan)' }, 'none'],
  ] as const)('looks %s up under %j', async (type, lists, wanted) => {
    const { finding, looked } = await judged(type, lists);
    const { decision = 'none' } = (await finding) as { decision?: string };
    expect(decision).toBe(wanted);
    expect(looked[0]).toBe(type);
  });
});
