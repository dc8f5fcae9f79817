import { PortcullisError } from '../errors.js';
import { processEnvironment, resolvePath, workingDirectory } from '../harness.js';
import type { HostedConfig } from '../server/host-session.js';
import type { HostServing } from '../server/serve-host.js';
import { readExtraArgs } from './extra-args.js';
import type { PartitionedServers } from './mcp-host.js';
import { readSettings } from './settings-option.js';
import type { Options, SdkPluginConfig } from './types/index.js';

/** Options, understood: the session to open and how to speak with it. */
export interface Serving {
  readonly config: HostedConfig;
  readonly messages: HostServing['messages'];
  readonly asksHost: boolean;
  /** What was asked for and has no effect here. */
  readonly warnings: readonly string[];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Throws a PortcullisError on options that contradict each other or cannot be honoured. */
export async function readOptions(options: Options, servers: PartitionedServers): Promise<Serving> {
  const env = environmentOf(options);
  const cwd = resolvePath(workingDirectory(), options.cwd ?? '.');
  const extra = readExtraArgs(options.extraArgs);
  const { canUseTool, permissionPromptToolName } = options;
  refuse(
    canUseTool !== undefined && permissionPromptToolName !== undefined,
    'canUseTool and permissionPromptToolName exclude each other',
  );
  const asksHost = canUseTool !== undefined && options.permissionPrompts !== 'none';
  const config: HostedConfig = {
    cwd,
    env,
    entrypoint: env.CLAUDE_CODE_ENTRYPOINT ?? 'sdk-ts',
    ...modelFields(options),
    ...permissionFields(options),
    ...startFields(options),
    ...(options.maxTurns === undefined
      ? {}
      : { maxTurns: wholeNumber('maxTurns', options.maxTurns, 1) }),
    ...(options.maxBudgetUsd === undefined
      ? {}
      : { maxBudgetUsd: amount('maxBudgetUsd', options.maxBudgetUsd) }),
    ...(options.budget === undefined ? {} : { budget: budgetOf(options.budget) }),
    addDirs: options.additionalDirectories ?? [],
    settings: await readSettings(options, cwd),
    managedSettings:
      options.managedSettings === undefined ? undefined : JSON.stringify(options.managedSettings),
    settingSources: sourcesOf(options),
    mcpConfig:
      options.mcpServersDelivery === 'initialize' || Object.keys(servers.external).length === 0
        ? []
        : [servers.external],
    strictMcpConfig: options.strictMcpConfig === true || extra.switches.has('strict-mcp-config'),
    plugins: (options.plugins ?? []).map(pluginOf),
    agent: options.agent,
    title: extra.values.get('name'),
    persist: options.persistSession !== false && !extra.switches.has('no-session-persistence'),
    trust: options.trustProject === true || extra.switches.has('trust'),
    script: options.script ?? extra.values.get('script'),
    ...(asksHost || permissionPromptToolName === undefined || options.permissionPrompts === 'none'
      ? {}
      : { promptTool: promptTool(permissionPromptToolName) }),
    fileCheckpoints: options.enableFileCheckpointing === true,
  };
  return {
    config,
    asksHost,
    messages: {
      partialMessages:
        options.includePartialMessages === true || extra.switches.has('include-partial-messages'),
      replayPrompts: extra.switches.has('replay-user-messages'),
      stateChanges: false,
      decisions: options.receipts === true || extra.switches.has('include-decisions'),
      hookEvents: options.includeHookEvents === true || extra.switches.has('include-hook-events'),
    },
    warnings: [...extra.warnings, ...withoutEffect(options)],
  };
}

function environmentOf(options: Options): HostedConfig['env'] {
  const given = options.env ?? processEnvironment();
  return {
    ...given,
    ...(options.enableFileCheckpointing === true
      ? { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: 'true' }
      : {}),
    ...(options.toolConfig?.askUserQuestion?.previewFormat === undefined
      ? {}
      : { CLAUDE_CODE_QUESTION_PREVIEW_FORMAT: options.toolConfig.askUserQuestion.previewFormat }),
  };
}

function modelFields(options: Options): Partial<HostedConfig> {
  const { thinking } = options;
  const enabled = thinking?.type === 'enabled' ? thinking.budgetTokens : undefined;
  const tokens = options.maxThinkingTokens ?? enabled;
  return {
    model: options.model,
    fallbackModels: (options.fallbackModel ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    effort: options.effort,
    thinking: thinking?.type,
    thinkingDisplay: thinking !== undefined && 'display' in thinking ? thinking.display : undefined,
    maxThinkingTokens:
      tokens === undefined ? undefined : wholeNumber('maxThinkingTokens', tokens, 0),
    betas: options.betas ?? [],
    tools: Array.isArray(options.tools) ? options.tools : undefined,
  };
}

function permissionFields(
  options: Options,
): Pick<
  HostedConfig,
  'allowedTools' | 'disallowedTools' | 'permissionMode' | 'bypassArmed' | 'ignoreFileGrants'
> {
  const { permissionMode: mode, skills } = options;
  refuse(
    mode === 'auto',
    'permissionMode auto needs a classifier that this runtime does not have',
    'use default with canUseTool, or acceptEdits',
  );
  const known = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'] as const;
  const named = (mode as string | undefined) === 'manual' ? 'default' : mode;
  const wanted = known.find((one) => one === named);
  refuse(
    mode !== undefined && wanted === undefined,
    `unknown permission mode ${JSON.stringify(mode)}; known are ${known.join(', ')}`,
  );
  const forSkills =
    skills === undefined
      ? []
      : skills === 'all'
        ? ['Skill']
        : skills.map((name) => `Skill(${name})`);
  return {
    allowedTools: [...(options.allowedTools ?? []), ...forSkills],
    disallowedTools: options.disallowedTools ?? [],
    permissionMode: wanted,
    bypassArmed: wanted === 'bypassPermissions' || options.allowDangerouslySkipPermissions === true,
    ...(options.ignoreFileGrants === true ? { ignoreFileGrants: true } : {}),
  };
}

function startFields(options: Options): Pick<HostedConfig, 'start' | 'fork'> {
  const { resume, sessionId: id, resumeSessionAt: at } = options;
  const goesOn = options.continue === true || resume !== undefined;
  const fork = options.forkSession === true;
  refuse(id !== undefined && !UUID.test(id), `sessionId: "${id}" is not a UUID`);
  refuse(
    options.continue === true && resume !== undefined,
    'continue and resume exclude each other',
  );
  refuse(fork && !goesOn, 'forkSession needs continue or resume');
  refuse(
    goesOn && id !== undefined && !fork,
    'sessionId with continue or resume needs forkSession: a session keeps its id',
  );
  refuse(at !== undefined && resume === undefined, 'resumeSessionAt needs resume');
  refuse(
    options.resumeDropsTurn !== undefined && at === undefined,
    'resumeDropsTurn needs resumeSessionAt',
  );
  if (options.continue === true) return { start: { kind: 'continue', newId: id }, fork };
  if (resume !== undefined) {
    const dropsTurn = options.resumeDropsTurn;
    return { start: { kind: 'resume', id: resume, newId: id, at, dropsTurn }, fork };
  }
  return { start: { kind: 'new', id }, fork };
}

function sourcesOf({ settingSources }: Options): HostedConfig['settingSources'] {
  for (const source of settingSources ?? []) {
    refuse(
      !['user', 'project', 'local'].includes(source),
      `settingSources: "${source}" is not one of user, project, local`,
    );
  }
  return settingSources;
}

function pluginOf(given: SdkPluginConfig): NonNullable<HostedConfig['plugins']>[number] {
  const { type, path, skipMcpDiscovery } = given;
  refuse(type !== 'local', `plugins: "${String(type)}" is no kind of plugin, "local" is`);
  refuse(typeof path !== 'string' || path === '', 'plugins: a plugin has no path');
  refuse(
    skipMcpDiscovery !== undefined && typeof skipMcpDiscovery !== 'boolean',
    'plugins: skipMcpDiscovery is neither true nor false',
  );
  return { directory: path, ...(skipMcpDiscovery === true ? { withoutServers: true } : {}) };
}

function budgetOf(budget: NonNullable<Options['budget']>): NonNullable<HostedConfig['budget']> {
  for (const [unit, limit] of Object.entries(budget)) {
    refuse(
      !['turns', 'tokens', 'usd', 'seconds', 'fanOut'].includes(unit),
      `budget.${unit} is no unit of a budget`,
    );
    refuse(
      limit !== undefined && !(typeof limit === 'number' && limit >= 0),
      `budget.${unit}: ${String(limit)} is not an amount`,
    );
  }
  return budget;
}

function promptTool(name: string): string {
  refuse(
    !/^mcp__.+__.+$/.test(name),
    `permissionPromptToolName: ${name} is not the name of an MCP tool (mcp__server__tool)`,
  );
  return name;
}

/** Options that are about starting a program, or about services that do not exist here. */
const WITHOUT_EFFECT: readonly (keyof Options)[] = [
  'executable',
  'executableArgs',
  'pathToClaudeCodeExecutable',
  'spawnClaudeCodeProcess',
  'projectConfigRoot',
  'pluginDelivery',
  'promptSuggestions',
  'agentProgressSummaries',
  'taskBudget',
  'toolAliases',
  'sessionStoreFlush',
  'loadTimeoutMs',
  'perTaskStopAffordance',
  'debugFile',
  'onUserDialog',
  'supportedDialogKinds',
];

function withoutEffect(options: Options): readonly string[] {
  return WITHOUT_EFFECT.filter((name) => options[name] !== undefined).map(
    (name) => `the option ${name} has no effect here: sessions run in this process`,
  );
}

function wholeNumber(name: string, value: number, least: number): number {
  refuse(
    !Number.isInteger(value) || value < least,
    `${name}: ${value} is not a whole number of at least ${least}`,
  );
  return value;
}

function amount(name: string, value: number): number {
  refuse(!Number.isFinite(value) || value <= 0, `${name}: ${value} is not an amount above 0`);
  return value;
}

/** fail-closed: a session that is not what was asked for is not opened. */
function refuse(condition: boolean, message: string, remedy?: string): void {
  if (condition) throw new PortcullisError('usage', message, { remedy });
}
