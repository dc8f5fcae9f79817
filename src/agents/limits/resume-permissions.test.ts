import { describe, expect, it } from 'vitest';
import { NOTHING } from '../../permissions/gate/guard.js';
import { parseRules } from '../../permissions/rules/rules.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { AnyTool } from '../../tools/tool.js';
import { createWorkspace } from '../../tools/workspace.js';
import { builtinAgents } from '../definitions/builtin-agents.js';
import { agentTool } from '../tools/agent-tool.js';
import { createResumeRules } from './type-rules.js';

const [general] = builtinAgents();
if (general === undefined) throw new Error('there is no agent');
const kind = { ...general, name: 'kind', source: 'user' as const };
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

/** Why an agent of the type cannot be resumed under an ask rule, depending on whether a person was asked. */
function why(rule: string, asked: boolean): Promise<string | undefined> {
  const origin = { value: { text: rule, root: '/p' }, source: 'user' as const, trusted: true };
  const { rules } = parseRules(
    { allow: [], ask: [origin], deny: [] },
    { cwd: '/p', home: '/home/me' },
  );
  const { forbidsResume } = createResumeRules({
    toolOf: () => tool,
    asks: { takeAsked: () => asked },
    fences: {
      guard: { name: 'fence', onFailure: 'deny', decide: async () => NOTHING },
      holds: () => false,
    },
    fs: nodeFileSystem,
    home: '/home/me',
    workspace: createWorkspace(['/p']),
    rules: () => rules,
    mode: () => 'default',
  });
  return forbidsResume({ from: MAIN_AGENT, toolUseId: 't' }, kind, async () => kind);
}

describe('an agent that ended after a message to it was judged', () => {
  it.each(['Agent(kind)', 'Agent(KIND)', 'Agent'])('waits for the answer to %s', async (rule) => {
    expect(await why(rule, false)).toContain('Send the message again');
    expect(await why(rule, true)).toBeUndefined();
  });

  it('goes on where no rule asks about its type', async () => {
    expect(await why('Agent(other)', false)).toBeUndefined();
  });
});
