import type { Feature } from '../../config/feature.js';
import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import type { OpenInstructions } from '../../context/instructions/session-instructions.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import type { OpenServersOfSession } from '../../mcp/session/session-servers.js';
import {
  type GateExtension,
  openPermissions,
  type Permissions,
} from '../../permissions/gate/open.js';
import { joinRules } from '../../permissions/rules/rule.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { Receipt } from '../../protocol/permissions.js';
import type { OpenSandboxing } from '../../sandbox/session/session-sandbox.js';
import type { EffectiveSettings } from '../../settings/types.js';
import type { OpenSkills } from '../../skills/session-skills.js';
import { openBuiltins } from '../../tools/builtin/builtin-tools.js';
import type { InvokeDeps } from '../../tools/invocation.js';
import { type AgentTooling, Calls } from './calls.js';
import { extract, type ModelLayer } from './model-layer.js';
import { mainPool, serverTools, withheldToolText } from './server-tools.js';
import { openToolEvents } from './tool-events.js';

export interface ToolRuntimeParts {
  readonly model: ModelLayer;
  readonly log: Log;
  readonly processes: ProcessSupervisor;
  readonly hooks: OpenHooks;
  readonly instructions: OpenInstructions;
  readonly skills: OpenSkills;
  readonly mcp: OpenServersOfSession | undefined;
  readonly agents: AgentTooling;
  readonly features: readonly Feature[];
  readonly sandbox: OpenSandboxing;
  /** Records and announces a receipt. */
  decided(receipt: Receipt): void;
  /** Watches file changes of calls. */
  readonly watch: InvokeDeps['watch'];
  /** Called with the gate before the tools are opened. */
  onGate(permissions: Permissions): void;
}

/** Opens the tools, the gate before them, and the only function that runs calls through it. */
export async function openToolRuntime(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: ToolRuntimeParts,
) {
  const { fs, clock, env, workspace } = environment;
  const { model, log, processes, hooks, instructions, mcp, agents, sandbox } = parts;
  const { features, skills } = parts;
  const { sessionId } = log.history;
  const who = agents.teams?.who;
  const events = openToolEvents(config, environment, { hooks, instructions, skills, who });
  const permissions = openPermissions({
    fs,
    env,
    clock,
    isRoot: environment.host.isRoot,
    cwd: config.cwd,
    plugins: environment.plugins.map(({ directory }) => directory),
    settings: environment.settings.permissions,
    strictness: environment.settings.strictness,
    allowedTools: config.allowedTools ?? [],
    disallowedTools: config.disallowedTools ?? [],
    mode: config.permissionMode,
    bypassArmed: config.bypassArmed === true,
    asker: agents.messaging.asker(events.asker),
    precheck: hooks.precheck,
    around: hooks.around,
    extension: together(features.flatMap(({ extension }) => extension ?? [])),
    answers: {
      fs,
      configDir: environment.configDir,
      rebind: environment.trust.trust.rebind,
      addDirectory: (directory) => workspace.addRoot(directory),
      removeDirectory: (directory) => workspace.removeRoot(directory),
    },
    emit: config.emit,
  });
  parts.onGate(permissions);
  const ofServers = await serverTools(config, environment, {
    model,
    permissions,
    mcp,
    pool: (agent) => agents.poolOf(agent) ?? builtins.pool,
    shared: () => builtins.shared,
  });
  const opened = await openBuiltins({
    fs,
    clock,
    processes: sandbox.supervisor(processes, 'shell'),
    helpers: processes,
    outside: sandbox.outside,
    env,
    variables: hooks.variables.current,
    passed: () => passedNames(hooks.settings()),
    workspace,
    configDir: environment.configDir,
    sessionId,
    warn: hooks.tell,
    hasPerson: config.asker !== undefined && config.promptTool === undefined,
    offered: config.tools,
    allowed: permissions.allowedNames,
    banned: permissions.bannedNames,
    jsonSchema: config.jsonSchema,
    taskWatch: events.tasks,
    teamTasks: agents.teams?.tasks,
    agents: agents.stops,
    more: [...features.flatMap(({ tools = [] }) => tools), ...ofServers.search],
    ofServers: ofServers.tools,
    poolOptions: ofServers.options,
    summarise: (prompt, text, signal) =>
      extract({ client: model.client, model: model.choices.small() }, { prompt, text }, signal),
  });
  const shared = opened.pool;
  const builtins = { shared, ...opened, pool: mainPool(shared, permissions, config.runsAs) };
  const calls = new Calls(config, environment, { ...parts, events, permissions, builtins });
  return {
    permissions,
    builtins,
    calls,
    invoke: calls.ofAgent({
      agent: MAIN_AGENT,
      pool: builtins.pool,
      workspace,
      readState: calls.readState,
      unattended: config.runsAs?.asks === 'deny',
      elsewhere: (name) => withheldToolText(shared, name),
    }),
    events,
    lateTools: ofServers.late,
  };
}

/** Environment variables that settings pass to commands. */
function passedNames({ values }: EffectiveSettings): readonly string[] {
  return values
    .list('portcullis.passEnv')
    .flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
}

/** Combines several extensions of the gate into one. */
function together(extensions: readonly GateExtension[]): GateExtension {
  return {
    guards: extensions.flatMap(({ guards }) => guards),
    resolvers: extensions.flatMap(({ resolvers }) => resolvers),
    rules: (agent) => joinRules(extensions.map(({ rules }) => rules(agent)).reverse()),
    contentOf: (toolUseId) =>
      extensions.map((one) => one.contentOf?.(toolUseId)).find((one) => one !== undefined),
    notes: (agent) => extensions.flatMap((one) => one.notes?.(agent) ?? []),
  };
}

export type ToolRuntime = Awaited<ReturnType<typeof openToolRuntime>>;
