import { serverKey } from '../mcp/config-names.js';
import type { ToolPool } from '../tools/pool.js';
import { err, ok, type Result } from '../util/result.js';
import type { AgentDefinition } from './definition.js';
import { bareName } from './definition-tools.js';

/** What no agent gets that works for another one: questions to people, and what ends or plans a session. */
export const MAIN_ONLY: readonly string[] = [
  'AskUserQuestion',
  'EndConversation',
  'EnterPlanMode',
  'ExitPlanMode',
  'ScheduleWakeup',
  'StructuredOutput',
  'TaskOutput',
  'WaitForMcpServers',
  'Workflow',
];

/** The tools of an agent: those of the session that its definition leaves it. */
export function agentPool(
  session: ToolPool,
  {
    tools,
    disallowedTools,
    mcpServers,
  }: Pick<AgentDefinition, 'tools' | 'disallowedTools' | 'mcpServers'>,
  { maySpawn }: { readonly maySpawn: boolean },
): Result<ToolPool, string> {
  // Who names a server means all that it offers.
  const servers = mcpServers.map(({ name }) => `mcp__${serverKey(name)}`);
  const pool = session.view({
    ...(tools === undefined ? {} : { allow: [...tools.map(bareName), ...servers] }),
    // With something in parentheses it is a rule, and the tool stays.
    deny: [
      ...MAIN_ONLY,
      ...disallowedTools.filter((entry) => bareName(entry) === entry),
      ...(maySpawn ? [] : ['Agent']),
    ],
  });
  if (tools !== undefined && tools.length > 0 && pool.tools.length === 0) {
    return err(`none of its tools is there: ${tools.join(', ')}`);
  }
  // Without the search nobody could ask for what is told by name alone.
  if (pool.resolve('ToolSearch') === undefined) pool.load(pool.deferred.map(({ name }) => name));
  return ok(pool);
}
