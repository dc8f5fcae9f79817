import type { AgentDefinition, McpServerConfig, Options, PermissionMode } from 'the-sdk';

const reviewer: AgentDefinition = {
  description: 'reviews',
  prompt: 'You review.',
  tools: ['Read', 'Grep'],
  model: 'haiku',
  maxTurns: 4,
};
const mode: PermissionMode = 'acceptEdits';
const servers: Record<string, McpServerConfig> = { s: { type: 'stdio', command: 'x' } };

export const all: Options = {
  abortController: new AbortController(),
  additionalDirectories: ['/tmp'],
  agent: 'reviewer',
  agents: { reviewer },
  allowedTools: ['Read', 'Bash(git *)'],
  disallowedTools: ['WebFetch'],
  tools: { type: 'preset', preset: 'claude_code' },
  permissionMode: mode,
  allowDangerouslySkipPermissions: true,
  continue: false,
  cwd: '/tmp',
  env: { ...process.env, A: 'b' },
  executable: 'node',
  executableArgs: [],
  extraArgs: { 'replay-user-messages': null },
  fallbackModel: 'haiku',
  model: 'sonnet',
  enableFileCheckpointing: true,
  forkSession: true,
  resume: 'id',
  resumeSessionAt: 'uuid',
  persistSession: false,
  includePartialMessages: true,
  includeHookEvents: true,
  forwardSubagentText: true,
  thinking: { type: 'enabled', budgetTokens: 2048 },
  effort: 'high',
  maxTurns: 5,
  maxBudgetUsd: 1.5,
  mcpServers: servers,
  strictMcpConfig: true,
  outputFormat: { type: 'json_schema', schema: { type: 'object' } },
  pathToClaudeCodeExecutable: '/bin/x',
  settings: { permissions: { deny: ['Read(.env)'] }, env: { X: 'y' } },
  settingSources: ['user', 'project', 'local'],
  sandbox: { enabled: true, network: { allowLocalBinding: true } },
  skills: 'all',
  plugins: [{ type: 'local', path: './p' }],
  betas: ['context-1m-2025-08-07'],
  stderr: (data) => void data.length,
  systemPrompt: { type: 'preset', preset: 'claude_code', append: 'Be brief.' },
  onElicitation: async (request) => ({
    action: 'accept',
    content: { name: request.serverName },
  }),
};

export const others: Options[] = [
  { systemPrompt: 'You are terse.' },
  { systemPrompt: ['a', 'b'] },
  { tools: [], settings: '/path/settings.json', settingSources: [] },
  { thinking: { type: 'adaptive' } },
  { thinking: { type: 'disabled' } },
  { skills: ['one', 'two'], permissionPromptToolName: 'mcp__s__t' },
];
