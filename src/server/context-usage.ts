import type { AgentSession, ContextReport } from '../app.js';
import type { UsageTotals } from './usage-totals.js';

type Agents = Awaited<ReturnType<AgentSession['requests']['agents']>>;

export interface ContextFacts {
  readonly agents: Agents;
  readonly lastUsage: UsageTotals['lastUsage'];
  readonly isAutoCompactEnabled: boolean;
}

/** What fills the model's window, as hosts know it. All counts but the provider's own are estimates. */
export function contextUsage(
  report: ContextReport,
  { agents, lastUsage, isAutoCompactEnabled }: ContextFacts,
) {
  const ofServers = report.tools.filter(({ name }) => name.startsWith('mcp__'));
  const mcpTokens = sum(ofServers);
  const sized = (name: ContextReport['parts'][number]['name']): number =>
    report.parts.find((part) => part.name === name)?.tokens ?? 0;
  const messages =
    sized('other notes of the runtime') +
    sized('prompts') +
    sized('answers') +
    sized('tool results');
  const total = report.counted ?? report.tokens;
  const used = [
    row('system_prompt', 'System prompt', sized('system prompt')),
    row('system_tools', 'System tools', Math.max(0, sized('tools') - mcpTokens)),
    row('mcp_tools', 'MCP tools', mcpTokens),
    row('memory_files', 'Memory files', sized('instructions')),
    row('skills', 'Skills', sized('skill listing')),
    row('messages', 'Messages', messages),
  ].filter(({ tokens }) => tokens > 0);
  return {
    categories: [...used, row('free_space', 'Free space', Math.max(0, report.window - total))],
    totalTokens: total,
    maxTokens: report.window,
    rawMaxTokens: report.window,
    percentage: Math.round((total / report.window) * 100),
    gridRows: [],
    model: report.model,
    memoryFiles: report.instructions.loaded.map(({ path, memoryType, tokens }) => ({
      path,
      type: memoryType,
      tokens,
    })),
    mcpTools: ofServers.map(({ name, tokens }) => ({
      name,
      serverName: name.split('__')[1] ?? '',
      tokens,
      isLoaded: true,
    })),
    systemTools: report.tools.filter(({ name }) => !name.startsWith('mcp__')),
    agents: agents.map(({ name, source, file, description }) => ({
      agentType: name,
      source,
      path: file,
      tokens: Math.ceil((name.length + description.length) / CHARACTERS_PER_TOKEN),
    })),
    isAutoCompactEnabled,
    apiUsage: lastUsage ?? null,
  };
}

const CHARACTERS_PER_TOKEN = 4;

function row(id: string, name: string, tokens: number) {
  const isFree = id === 'free_space';
  return {
    id,
    name,
    tokens,
    color: isFree ? 'inactive' : 'text',
    kind: isFree ? 'free' : 'used',
  };
}

function sum(rows: readonly { readonly tokens: number }[]): number {
  return rows.reduce((total, { tokens }) => total + tokens, 0);
}
