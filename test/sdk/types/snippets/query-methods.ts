import type { McpServerStatus, ModelInfo, Query, SlashCommand } from 'the-sdk';

export async function steer(running: Query): Promise<string[]> {
  await running.setPermissionMode('plan');
  await running.setModel('opus');
  await running.setModel();
  await running.setMaxThinkingTokens(1024);
  await running.setMaxThinkingTokens(null);
  await running.applyFlagSettings({ model: 'haiku', permissions: { deny: ['WebFetch'] } });
  const models: ModelInfo[] = await running.supportedModels();
  const commands: SlashCommand[] = await running.supportedCommands();
  const agents = await running.supportedAgents();
  const servers: McpServerStatus[] = await running.mcpServerStatus();
  await running.reconnectMcpServer('calc');
  await running.toggleMcpServer('calc', false);
  const { added, removed, errors } = await running.setMcpServers({ x: { command: 'x' } });
  const usage = await running.getContextUsage();
  const rewound = await running.rewindFiles('id', { dryRun: true });
  await running.stopTask('b1');
  const account = await running.accountInfo();
  const start = await running.initializationResult();
  const receipt = await running.interrupt();
  running.close();
  return [
    ...models.map(({ value, displayName }) => value + displayName),
    ...commands.map(({ name, argumentHint }) => name + argumentHint),
    ...agents.map(({ description }) => description),
    ...servers.map(({ name, status }) => name + status),
    ...added,
    ...removed,
    ...Object.values(errors),
    String(usage.totalTokens / usage.maxTokens),
    ...(rewound.filesChanged ?? []),
    account.apiKeySource ?? '',
    start.output_style,
    ...(receipt?.still_queued ?? []),
  ];
}
