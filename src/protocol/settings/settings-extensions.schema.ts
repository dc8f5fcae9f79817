import { z } from 'zod';
import { flag, list, open, text, words } from '../declare.schema.js';
import {
  anything,
  command,
  count,
  fence,
  key,
  later,
  live,
  managed,
  managedLater,
  strictFence,
  trusted,
} from './setting-key.schema.js';

const statusLine = z.looseObject({
  type: z.literal('command'),
  command: text,
  padding: z.number().optional(),
  refreshInterval: z.number().optional(),
  hideVimModeIndicator: flag.optional(),
});

const serverEntry = z.union([
  z.strictObject({ serverName: text }),
  z.strictObject({ serverCommand: list }),
  z.strictObject({ serverUrl: text }),
]);

const names = z.union([text, list]);

export const extensionSettings = {
  enableAllProjectMcpServers: trusted(flag, 'Accepts every server of .mcp.json.', {
    strict: false,
  }),
  enabledMcpjsonServers: trusted(names, 'Servers of .mcp.json that are accepted.'),
  disabledMcpjsonServers: fence(names, 'Servers of .mcp.json that are not used.'),
  allowedMcpServers: fence(z.array(serverEntry), 'The only servers that may be used; [] none.'),
  deniedMcpServers: fence(z.array(serverEntry), 'Servers that may not be used.'),
  allowManagedMcpServersOnly: managed(flag, 'Only the managed list counts.'),
  managedMcpServers: key(open, 'Servers of an administrator.', { scope: 'managed' }),
  disableClaudeAiConnectors: strictFence(flag, 'No connectors of an account.'),
  disableSkillShellExecution: fence(flag, 'Skills run no commands of their own.', {
    needsTrust: true,
    strict: true,
    live: true,
  }),
  skillOverrides: live(
    z.record(z.string(), words('on name-only user-invocable-only off')),
    'Which skills are offered.',
  ),
  disableBundledSkills: key(flag, 'Hides built-in skills.'),
  skillListingBudgetFraction: live(
    z.number().positive(),
    'Share of the window for the list of skills.',
  ),
  skillListingMaxDescChars: live(count(1), 'Longest entry in the list of skills.'),
  enabledPlugins: command(open, 'Which plugins are on.'),
  pluginConfigs: later(open, 'Options of plugins.', { scope: 'user' }),
  extraKnownMarketplaces: command(open, 'Where plugins come from.'),
  additionalMarketplaces: command(open, 'The same.'),
  strictKnownMarketplaces: managedLater(anything, 'The only marketplaces.'),
  allowedMarketplaces: managedLater(anything, 'The same.'),
  blockedMarketplaces: managedLater(anything, 'Marketplaces that are refused.'),
  disableCommandPluginSources: managedLater(flag, 'No plugins from commands.'),
  agent: trusted(text, 'The agent that the main conversation runs as.'),
};

export const programSettings = {
  apiKeyHelper: command(text, 'Command that prints the API key.'),
  proxyAuthHelper: command(text, 'Command that prints proxy credentials.'),
  awsAuthRefresh: command(text, 'Command that refreshes AWS credentials.'),
  awsCredentialExport: command(text, 'Command that prints AWS credentials.'),
  gcpAuthRefresh: command(text, 'Command that refreshes GCP credentials.'),
  otelHeadersHelper: command(text, 'Command that prints telemetry headers.'),
  statusLine: trusted(statusLine, 'Command that prints a status line.'),
  subagentStatusLine: command(statusLine, 'The same for agents.'),
  fileSuggestion: command(statusLine, 'Command that suggests files.'),
  processWrapper: command(anything, 'Program around every process.', { scope: 'user' }),
  policyHelper: managedLater(open, 'Program that prints managed settings.', { unenforced: true }),
};
