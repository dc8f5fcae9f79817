import { processEnvironment, readSessionOptions, resolvePath, workingDirectory } from '../app.js';
import { PortcullisError } from '../errors.js';
import type { HostedConfig } from '../server/host-session.js';
import type { HostSessionOptions } from '../server/serve-host.js';
import type { PartitionedServers } from './mcp-host.js';
import { checkOptions, optionOfFlag } from './option-types.js';
import { readSettings } from './settings-option.js';
import type { Options } from './types/index.js';

/** Options, understood: the session to open and how to speak with it. */
export interface ReadOptions extends Pick<HostSessionOptions, 'config' | 'messages' | 'asksHost'> {
  /** What was asked for and has no effect here. */
  readonly warnings: readonly string[];
}

/** Throws a PortcullisError on options that contradict each other or cannot be honoured. */
export async function readOptions(
  options: Options,
  { external }: PartitionedServers,
): Promise<ReadOptions> {
  checkOptions(options);
  const cwd = resolvePath(workingDirectory(), options.cwd ?? '.');
  const { canUseTool, permissionPromptToolName, permissionPrompts } = options;
  const { switches, values, warnings } = readExtraArgs(options.extraArgs);
  if (canUseTool !== undefined && permissionPromptToolName !== undefined) {
    throw usage('canUseTool and permissionPromptToolName exclude each other');
  }
  const read = readSessionOptions({
    ...named(options, SESSION_OPTIONS),
    ...thinkingFields(options),
    tools: Array.isArray(options.tools) ? options.tools : undefined,
    allowedTools: [...(options.allowedTools ?? []), ...skillRules(options.skills)],
    permissionPromptToolName: permissionPrompts === 'none' ? undefined : permissionPromptToolName,
    settings: await readSettings(options, cwd),
    managedSettings: options.managedSettings && JSON.stringify(options.managedSettings),
    mcpServers: options.mcpServersDelivery === 'initialize' ? undefined : external,
    strictMcpConfig: options.strictMcpConfig === true || switches.has('strict-mcp-config'),
    title: values.get('name'),
    persistSession: options.persistSession !== false && !switches.has('no-session-persistence'),
    trustProject: options.trustProject === true || switches.has('trust'),
    script: options.script ?? values.get('script'),
  });
  // fail-closed: a session that is not what was asked for is not opened.
  if (!read.ok) throw usage(read.error);
  const env = environmentOf(options);
  return {
    config: {
      cwd,
      env,
      entrypoint: env.CLAUDE_CODE_ENTRYPOINT ?? 'sdk-ts',
      ...read.value,
      ignoreFileGrants: options.ignoreFileGrants === true,
      fileCheckpoints: options.enableFileCheckpointing === true,
    },
    asksHost: canUseTool !== undefined && permissionPrompts !== 'none',
    messages: {
      partialMessages:
        options.includePartialMessages === true || switches.has('include-partial-messages'),
      replayPrompts: switches.has('replay-user-messages'),
      stateChanges: false,
      decisions: options.receipts === true || switches.has('include-decisions'),
      hookEvents: options.includeHookEvents === true || switches.has('include-hook-events'),
    },
    warnings: [
      ...warnings,
      ...Object.keys(named(options, WITHOUT_EFFECT)).map(
        (name) => `the option ${name} has no effect here: sessions run in this process`,
      ),
    ],
  };
}

/** Options that mean the same here as on the command line and on the wire. */
const SESSION_OPTIONS: readonly (keyof Options)[] = [
  'model',
  'fallbackModel',
  'effort',
  'betas',
  'maxTurns',
  'maxBudgetUsd',
  'budget',
  'additionalDirectories',
  'disallowedTools',
  'permissionMode',
  'allowDangerouslySkipPermissions',
  'settingSources',
  'plugins',
  'agent',
  'sessionId',
  'continue',
  'resume',
  'forkSession',
  'resumeSessionAt',
  'resumeDropsTurn',
];

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

function named(options: Options, names: readonly (keyof Options)[]): Record<string, unknown> {
  const given = names.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

function environmentOf({ env, enableFileCheckpointing, toolConfig }: Options): HostedConfig['env'] {
  const previewFormat = toolConfig?.askUserQuestion?.previewFormat;
  return {
    ...(env ?? processEnvironment()),
    ...(enableFileCheckpointing === true && { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: 'true' }),
    ...(previewFormat && { CLAUDE_CODE_QUESTION_PREVIEW_FORMAT: previewFormat }),
  };
}

function thinkingFields({ thinking, maxThinkingTokens }: Options): object {
  const given: { type?: string; display?: string; budgetTokens?: number } = thinking ?? {};
  return {
    thinking: given.type,
    thinkingDisplay: given.display,
    maxThinkingTokens: maxThinkingTokens ?? given.budgetTokens,
  };
}

function skillRules(skills: Options['skills'] = []): readonly string[] {
  return skills === 'all' ? ['Skill'] : skills.map((name) => `Skill(${name})`);
}

interface ExtraArgs {
  readonly switches: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

/** Flags of the command line that programs pass on. */
const SWITCHES: readonly string[] = [
  'replay-user-messages',
  'include-decisions',
  'include-partial-messages',
  'include-hook-events',
  'strict-mcp-config',
  'no-session-persistence',
  'trust',
  'debug-to-stderr',
  'debug',
  'verbose',
];
const VALUES: readonly string[] = ['name', 'script'];
/** Flags that restrict and are called otherwise than an option. */
const RESTRICTING = /^-*(plugin-dir|bare$|plan-mode-required$)/;

function insteadOf(flag: string): string {
  if (flag.includes('plugin-dir')) return 'plugins';
  return optionOfFlag(flag) ?? 'settingSources or permissionMode';
}

function readExtraArgs(given: Options['extraArgs'] = {}): ExtraArgs {
  const switches = new Set<string>();
  const values = new Map<string, string>();
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const isSwitch = SWITCHES.includes(name);
    // fail-closed: `{ trust: 'false' }` turns nothing on.
    if (isSwitch && value !== null) throw usage(`extraArgs: --${name} takes no value`);
    if (isSwitch) switches.add(name);
    else if (VALUES.includes(name) && value !== null) values.set(name, value);
    else if (RESTRICTING.test(name) || optionOfFlag(name) !== undefined) {
      // fail-closed: a plugin or a limit that is left out may have held something back.
      throw usage(`extraArgs: --${name} is not read here`, `use the option ${insteadOf(name)}`);
    } else warnings.push(`extraArgs: --${name} is not known here and has no effect`);
  }
  return { switches, values, warnings };
}

function usage(message: string, remedy?: string): PortcullisError {
  return new PortcullisError('usage', message, { remedy });
}
