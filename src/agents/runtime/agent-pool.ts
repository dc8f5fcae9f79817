import { err, ok, type Result } from '../../lib/result.js';
import { serverKey } from '../../mcp/config/names.js';
import type { ToolPool, ToolSelection } from '../../tools/pool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { bareName } from '../definitions/tools.js';

/** What no agent gets that works for another one: questions to people, and what ends or plans a session. */
export const MAIN_ONLY: readonly string[] = [
  'AskUserQuestion',
  'EndConversation',
  'EnterPlanMode',
  'ExitPlanMode',
  'ScheduleWakeup',
  'StructuredOutput',
  'WaitForMcpServers',
  'Workflow',
];

type Kind = Pick<AgentDefinition, 'tools' | 'disallowedTools' | 'mcpServers'>;

/** The tools of an agent: those of the session that its definition leaves it. */
export function agentPool(
  session: ToolPool,
  kind: Kind,
  { maySpawn }: { readonly maySpawn: boolean },
): Result<ToolPool, string> {
  const pool = session.view(selectionOf(kind, maySpawn ? MAIN_ONLY : [...MAIN_ONLY, 'Agent']));
  const { tools } = kind;
  if (tools !== undefined && tools.length > 0 && pool.tools.length === 0) {
    return err(`none of its tools is there: ${tools.join(', ')}`);
  }
  // Without the search nobody could ask for what is told by name alone.
  const unseen = pool.resolve('ToolSearch') === undefined ? pool.deferred : [];
  if (unseen.length > 0) pool.load(unseen.map(({ name }) => name));
  return ok(pool);
}

function selectionOf(
  { tools, disallowedTools, mcpServers }: Kind,
  denied: readonly string[],
): ToolSelection {
  // Who names a server means all that it offers.
  const servers = mcpServers.map(({ name }) => `mcp__${serverKey(name)}`);
  return {
    allow: tools === undefined ? undefined : [...tools.map(bareName), ...servers],
    // With something in parentheses it is a rule, and the tool stays.
    deny: [...denied, ...disallowedTools.filter((entry) => bareName(entry) === entry)],
  };
}
