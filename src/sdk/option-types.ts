import { SESSION_OPTIONS } from '../../build/generated/session-options.js';
import { PortcullisError } from '../errors.js';
import { own } from '../lib/own.js';
import { editDistance, nearest } from '../lib/text/nearest.js';
import { visible } from '../lib/text/visible.js';
import type { Options } from './types/index.js';

/** Types that JavaScript programs get wrong without an error, because a wrong value reads as an absent one. */
const TYPES = {
  flag: { says: 'is neither true nor false', fits: (value) => typeof value === 'boolean' },
  text: { says: 'is not a text', fits: (value) => typeof value === 'string' },
  function: { says: 'is not a function', fits: (value) => typeof value === 'function' },
  object: { says: 'is not a plain object', fits: isPlainObject },
  textOrObject: {
    says: 'is neither a text nor a plain object',
    fits: (value) => typeof value === 'string' || isPlainObject(value),
  },
  list: { says: 'is not a list', fits: Array.isArray },
  listOrAll: {
    says: 'is neither a list nor "all"',
    fits: (value) => Array.isArray(value) || value === 'all',
  },
  tools: {
    says: 'is neither a list of names nor { type: "preset", preset: "claude_code" }',
    fits: (value) =>
      Array.isArray(value) ||
      (isPlainObject(value) && value.type === 'preset' && value.preset === 'claude_code'),
  },
  prompts: {
    says: 'is neither "host" nor "none"',
    fits: (value) => value === 'host' || value === 'none',
  },
  any: { says: '', fits: () => true },
} satisfies Record<string, { says: string; fits: (value: unknown) => boolean }>;

/** Every option. `any` is checked where it is used, or has no effect. */
const OPTIONS: Readonly<Record<keyof Options, keyof typeof TYPES>> = {
  abortController: 'any',
  additionalDirectories: 'list',
  projectConfigRoot: 'any',
  agent: 'text',
  agents: 'object',
  allowedTools: 'list',
  canUseTool: 'function',
  continue: 'flag',
  cwd: 'text',
  disallowedTools: 'list',
  toolAliases: 'any',
  tools: 'tools',
  env: 'object',
  executable: 'any',
  executableArgs: 'any',
  extraArgs: 'object',
  fallbackModel: 'text',
  enableFileCheckpointing: 'flag',
  toolConfig: 'any',
  forkSession: 'flag',
  betas: 'list',
  hooks: 'object',
  onElicitation: 'function',
  onUserDialog: 'any',
  supportedDialogKinds: 'any',
  perTaskStopAffordance: 'any',
  persistSession: 'flag',
  sessionStore: 'any',
  sessionStoreFlush: 'any',
  loadTimeoutMs: 'any',
  includeHookEvents: 'flag',
  includePartialMessages: 'flag',
  forwardSubagentText: 'flag',
  verbatimPrompts: 'flag',
  thinking: 'object',
  effort: 'any',
  maxThinkingTokens: 'any',
  maxTurns: 'any',
  maxBudgetUsd: 'any',
  taskBudget: 'any',
  mcpServers: 'object',
  mcpServersDelivery: 'any',
  model: 'text',
  outputFormat: 'object',
  pathToClaudeCodeExecutable: 'any',
  permissionMode: 'text',
  planModeInstructions: 'text',
  allowDangerouslySkipPermissions: 'flag',
  permissionPromptToolName: 'text',
  permissionPrompts: 'prompts',
  plugins: 'list',
  pluginDelivery: 'any',
  promptSuggestions: 'any',
  agentProgressSummaries: 'any',
  resume: 'text',
  sessionId: 'text',
  resumeSessionAt: 'text',
  resumeDropsTurn: 'text',
  sandbox: 'object',
  settings: 'textOrObject',
  managedSettings: 'object',
  settingSources: 'list',
  skills: 'listOrAll',
  debug: 'flag',
  debugFile: 'any',
  stderr: 'function',
  strictMcpConfig: 'flag',
  systemPrompt: 'any',
  title: 'text',
  spawnClaudeCodeProcess: 'any',
  receipts: 'flag',
  policyReport: 'flag',
  ignoreFileGrants: 'flag',
  budget: 'object',
  trustProject: 'flag',
  script: 'text',
};

/**
 * Throws on an option that does not exist and on a value of a wrong type; undefined and null count as not
 * given. fail-closed: the option may have been meant as a restriction.
 */
export function checkOptions(options: Options): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    const kind = own(OPTIONS, name);
    if (kind === undefined) {
      const near = nearest(name.replace(/[-_]/g, ''), Object.keys(OPTIONS));
      throw new PortcullisError('usage', `${visible(name)} is not an option`, {
        remedy: near === undefined ? undefined : `did you mean ${near}?`,
      });
    }
    const { says, fits } = TYPES[kind];
    if (!fits(value)) throw new PortcullisError('usage', `the option ${name} ${says}`);
  }
}

/** The option that a flag of the command line stands for, misspelt or not; undefined when it is none. */
export function optionOfFlag(flag: string): string | undefined {
  const wanted = plain(flag);
  const names = [...Object.keys(OPTIONS), ...Object.keys(SESSION_OPTIONS)];
  return names.find((name) => editDistance(plain(name), wanted) <= (wanted.length > 5 ? 2 : 0));
}

function plain(name: string): string {
  return name.slice(0, 100).replace(/[-_]/g, '').toLowerCase();
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]';
}
