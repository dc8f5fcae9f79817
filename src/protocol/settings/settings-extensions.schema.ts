import { z } from 'zod';
import {
  anything,
  COMMAND,
  count,
  flag,
  key,
  LATER,
  list,
  MANAGED_FENCE,
  table,
  text,
} from './setting-key.schema.js';

const statusLine = z.looseObject({
  type: z.literal('command'),
  command: text(),
  padding: z.number().optional(),
  refreshInterval: z.number().optional(),
  hideVimModeIndicator: flag().optional(),
});

const serverEntry = z.union([
  z.strictObject({ serverName: text() }),
  z.strictObject({ serverCommand: z.array(z.string()) }),
  z.strictObject({ serverUrl: text() }),
]);

const names = z.union([text(), list()]);

export const extensionSettings = {
  enableAllProjectMcpServers: key(flag(), 'Accepts every server of .mcp.json.', {
    needsTrust: true,
    strict: false,
  }),
  enabledMcpjsonServers: key(names, 'Servers of .mcp.json that are accepted.', {
    needsTrust: true,
  }),
  disabledMcpjsonServers: key(names, 'Servers of .mcp.json that are not used.', {
    restricts: true,
  }),
  allowedMcpServers: key(z.array(serverEntry), 'The only servers that may be used; [] none.', {
    restricts: true,
  }),
  deniedMcpServers: key(z.array(serverEntry), 'Servers that may not be used.', {
    restricts: true,
  }),
  allowManagedMcpServersOnly: key(flag(), 'Only the managed list counts.', {
    restricts: true,
    scope: 'managed',
  }),
  managedMcpServers: key(table(), 'Servers of an administrator.', { scope: 'managed' }),
  disableClaudeAiConnectors: key(flag(), 'No connectors of an account.', {
    restricts: true,
    strict: true,
    strictest: true,
  }),
  disableSkillShellExecution: key(flag(), 'Skills run no commands of their own.', {
    restricts: true,
    needsTrust: true,
    strict: true,
    live: true,
  }),
  skillOverrides: key(
    z.record(z.string(), z.enum(['on', 'name-only', 'user-invocable-only', 'off'])),
    'Which skills are offered.',
    { live: true },
  ),
  disableBundledSkills: key(flag(), 'Hides built-in skills.'),
  skillListingBudgetFraction: key(
    z.number().positive(),
    'Share of the window for the list of skills.',
    { live: true },
  ),
  skillListingMaxDescChars: key(count(1), 'Longest entry in the list of skills.', { live: true }),
  enabledPlugins: key(z.record(z.string(), z.unknown()), 'Which plugins are on.', COMMAND),
  pluginConfigs: key(table(), 'Options of plugins.', { ...LATER, scope: 'user' }),
  extraKnownMarketplaces: key(table(), 'Where plugins come from.', COMMAND),
  additionalMarketplaces: key(table(), 'The same.', COMMAND),
  strictKnownMarketplaces: key(anything(), 'The only marketplaces.', MANAGED_FENCE),
  allowedMarketplaces: key(anything(), 'The same.', MANAGED_FENCE),
  blockedMarketplaces: key(anything(), 'Marketplaces that are refused.', MANAGED_FENCE),
  disableCommandPluginSources: key(flag(), 'No plugins from commands.', MANAGED_FENCE),
  agent: key(text(), 'The agent that the main conversation runs as.', { needsTrust: true }),
};

export const programSettings = {
  apiKeyHelper: key(text(), 'Command that prints the API key.', COMMAND),
  proxyAuthHelper: key(text(), 'Command that prints proxy credentials.', COMMAND),
  awsAuthRefresh: key(text(), 'Command that refreshes AWS credentials.', COMMAND),
  awsCredentialExport: key(text(), 'Command that prints AWS credentials.', COMMAND),
  gcpAuthRefresh: key(text(), 'Command that refreshes GCP credentials.', COMMAND),
  otelHeadersHelper: key(text(), 'Command that prints telemetry headers.', COMMAND),
  statusLine: key(statusLine, 'Command that prints a status line.', { needsTrust: true }),
  subagentStatusLine: key(statusLine, 'The same for agents.', COMMAND),
  fileSuggestion: key(statusLine, 'Command that suggests files.', COMMAND),
  processWrapper: key(anything(), 'Program around every process.', { ...COMMAND, scope: 'user' }),
  policyHelper: key(table(), 'Program that prints managed settings.', {
    ...MANAGED_FENCE,
    unenforced: true,
  }),
};
