import { CallLedger } from '../agents/core/call-ledger.js';
import { extract, type ModelLayer } from '../agents/core/model-layer.js';
import type { OpenTeams } from '../agents/teams/session-team.js';
import type { SessionConfig, SessionDrive } from '../config/session-config.js';
import type { Log, SessionEnvironment } from '../config/session-environment.js';
import { PortcullisError } from '../errors.js';
import type { OpenHooks } from '../hooks/session/session-hooks.js';
import type { OpenServersOfSession } from '../mcp/session/session-servers.js';
import { type GateExtension, openPermissions, type Permissions } from '../permissions/gate/open.js';
import type { Asker, GateCall, JudgedCall } from '../permissions/gate/types.js';
import { joinRules } from '../permissions/rules/rule.js';
import type { ProcessSupervisor } from '../platform/process/process.js';
import { type AgentRef, MAIN_AGENT } from '../protocol/agent-ref.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { Receipt } from '../protocol/permissions.js';
import type { EffectiveSettings } from '../settings/types.js';
import { openBuiltins } from '../tools/builtin/set.js';
import { createReadState } from '../tools/files/read-state.js';
import type { CheckedCall, InvokeDeps } from '../tools/invocation.js';
import { createInvoke } from '../tools/invoke.js';
import { boundOutput } from '../tools/output.js';
import type { ToolPool } from '../tools/pool.js';
import type { StopsAgents } from '../tools/tasks/task-stop.js';
import type { ToolContext, Workspace } from '../tools/tool.js';
import type { Feature } from './feature.js';
import type { OpenInstructions } from './instructions.js';
import type { OpenSandboxing } from './sandbox.js';
import { keptFromMain, mainPool, poolOptionsFor, serverTools } from './server-tools.js';
import { callForSkill } from './skill-calls.js';
import type { OpenSkills } from './skills.js';
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
  /** Writes a receipt down and tells of it. */
  decided(receipt: Receipt): void;
  /** Sees what calls do to files. */
  readonly watch: InvokeDeps['watch'];
  /** The gate is there; tools follow. */
  onGate(permissions: Permissions): void;
}

/** What agents bring to the tools and the gate. */
export interface AgentTooling {
  readonly stops: StopsAgents;
  readonly messaging: { asker(asked: Asker | undefined): Asker | undefined };
  /** Absent: there is no team. */
  readonly teams?: Pick<OpenTeams, 'tasks' | 'who'> | undefined;
  /** The tools of an agent that runs; undefined: of the session. */
  poolOf(agent: AgentRef | undefined): ToolPool | undefined;
  /** Where an agent that runs works; undefined: where the session does. */
  placeOf(agent: AgentRef): Workspace | undefined;
}

/** Tools, the gate before them, and the one function that leads through it. */
export async function openToolRuntime(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: ToolRuntimeParts,
) {
  const { fs, clock, env, workspace } = environment;
  const { model, log, processes, hooks, instructions, mcp, agents, sandbox } = parts;
  const { decided, features, skills } = parts;
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
    poolOptions: poolOptionsFor(ofServers.options, config.runsAs),
    summarise: (prompt, text, signal) =>
      extract({ client: model.client, model: model.choices.small() }, { prompt, text }, signal),
  });
  const shared = opened.pool;
  const builtins = { shared, ...opened, pool: mainPool(shared, permissions, config.runsAs) };
  const calls = new CallLedger();
  const readState = createReadState();
  const spillDirectory = (): string => log.store.spillDirectory(sessionId);
  const contextOf = (agent: AgentRef, place: Workspace, seen: ToolContext['readState']) => {
    const setMode = agent.depth === 0 ? permissions.setMode : refuseMode;
    const hiding = () => instructions.hidingNear(permissions.hidden(agent, place), place);
    return (call: ToolUseBlock, signal: AbortSignal, judged?: JudgedCall): ToolContext => ({
      agent,
      sessionId,
      toolUseId: call.id,
      signal,
      workspace: place,
      readState: seen,
      mode: permissions.mode(agent),
      setMode,
      touched: judged?.pathsFound(),
      hiding,
      spillDirectory,
      progress: (text) =>
        config.emit({ type: 'progress', toolUseId: call.id, toolName: call.name, text }),
    });
  };
  const gateCallOf =
    (agent: AgentRef, place: Workspace) =>
    ({ call, tool, input }: CheckedCall, signal: AbortSignal): GateCall => ({
      toolUseId: call.id,
      tool,
      input,
      subject: tool.subject(input, place),
      agent,
      workspace: place,
      signal,
    });
  const gateCall = gateCallOf(MAIN_AGENT, workspace);
  /**
   * The guards of calls that may look at the same world are asked at once; each call still waits for
   * its own. fail-closed: behind a call that may change something, guards wait for its end.
   */
  const prepareCalls = async (
    blocks: readonly ToolUseBlock[],
    signal: AbortSignal,
  ): Promise<() => void> => {
    const guards = hooks.snapshot().hooks.PreToolUse ?? [];
    // fail-closed: a guard that speaks once must not have spoken about a call that never came.
    const once = guards.some(({ hook }) => hook.handler.once === true);
    if (blocks.length < 2 || guards.length === 0 || once) return () => undefined;
    const ends: (() => void)[] = [];
    const mode = permissions.mode();
    for (const block of blocks) {
      const checked = await checkedCall(builtins.pool, block);
      if (checked === undefined) continue;
      const call = gateCall(checked, signal);
      ends.push(hooks.askAhead(call, mode));
      if (!(await hooks.isHarmless(call, mode))) break;
    }
    return () => {
      for (const end of ends) end();
    };
  };
  const readsOnly =
    (agent: AgentRef, place: Workspace, pool: ToolPool) =>
    async (block: ToolUseBlock): Promise<boolean> => {
      const checked = await checkedCall(pool, block);
      if (checked === undefined) return false;
      const call = gateCallOf(agent, place)(checked, new AbortController().signal);
      return await hooks.runsBeside(call, permissions.mode(agent));
    };
  /** Tells the worker that drives the session of a call before it runs. */
  const announce =
    (drive: SessionDrive, agent: AgentRef): InvokeDeps['beforeRun'] =>
    async ({ call, tool, input, verdict }) => {
      const judged = { ...verdict.judged.call, input };
      const readsOnly =
        tool.kind === 'read' || (await hooks.runsBeside(judged, permissions.mode(agent)));
      return await drive.beforeCall({ call, tool, input, agent, readsOnly });
    };
  const aroundOf = (agent: AgentRef, place: Workspace): CallsAround => ({
    gate: permissions.gate,
    review: events.review,
    onRefused: async (checked, verdict, signal) =>
      (await hooks.denied(gateCallOf(agent, place)(checked, signal), verdict)).hint,
    beforeRun: config.drive && announce(config.drive, agent),
    watch: parts.watch,
    bound: (output, context) => boundOutput(output, { fs, context }),
    monotonic: clock.monotonic,
    uuid: clock.uuid,
  });
  const around = aroundOf(MAIN_AGENT, workspace);
  const invoke = createInvoke({
    pool: builtins.pool,
    agent: MAIN_AGENT,
    ...around,
    workspace,
    ...(config.runsAs?.asks === 'deny' ? { unattended: true } : {}),
    contextFor: contextOf(MAIN_AGENT, workspace, readState),
    elsewhere: (name) => keptFromMain(shared, name),
    onVerdict(call, tool, verdict) {
      builtins.validInput();
      decided(verdict.receipt);
      const denial = calls.verdict(call, tool, verdict);
      if (denial !== undefined && verdict.kind === 'refused') {
        config.emit({ type: 'denied', denial, message: verdict.message });
      }
    },
    async onInvalidInput(invalid, signal) {
      const kept = builtins.invalidInput(invalid);
      const tool = builtins.pool.resolve(invalid.tool);
      const said =
        tool === undefined
          ? []
          : await events.invalid({ invalid, tool, scene: hooks.scene(signal) });
      const notes = [kept, ...said].filter((note) => note !== undefined);
      return notes.length === 0 ? undefined : notes.join('\n');
    },
    onRan(call, tool, output) {
      const shell = builtins.startedShell(output);
      if (shell !== undefined) {
        const description = shell.description ?? shell.command;
        config.emit({ type: 'task_started', taskId: shell.id, toolUseId: call.id, description });
      }
      if (output.isError !== true) calls.ran(tool);
    },
  });
  const placeOf = (agent: AgentRef): Workspace => agents.placeOf(agent) ?? workspace;
  const forSkill = callForSkill({
    around: (agent) => aroundOf(agent, placeOf(agent)),
    // fail-closed: what an agent was not given, the text of a skill does not use for it.
    tools: (agent) => (agents.poolOf(agent) ?? builtins.pool).tools,
    workspace: placeOf,
    // A file that is attached to a skill may be cut, and does not count as read.
    contextFor(agent, tool) {
      const isKnown = tool !== 'Read' && agent.id === MAIN_AGENT.id;
      return contextOf(agent, placeOf(agent), isKnown ? readState : createReadState());
    },
    onVerdict: ({ receipt }) => decided(receipt),
  });
  return {
    permissions,
    builtins,
    calls,
    invoke,
    callForSkill: forSkill,
    decided,
    around,
    aroundOf,
    contextOf,
    readState,
    events,
    prepareCalls,
    readsOnly,
    lateTools: { add: ofServers.late, isToldByName: ofServers.isToldByName },
  };
}

/** What stands around the calls of an agent. */
export type CallsAround = Pick<
  InvokeDeps,
  'gate' | 'review' | 'onRefused' | 'beforeRun' | 'watch' | 'bound' | 'monotonic' | 'uuid'
>;

/** What people let through to commands by its name. */
function passedNames({ values }: EffectiveSettings): readonly string[] {
  return values
    .list('portcullis.passEnv')
    .flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
}

/** fail-closed: the mode is the session's, and nobody's who only works in it. */
function refuseMode(): never {
  throw new PortcullisError('usage', 'an agent cannot change the mode of the session');
}

/** Several extensions of the gate as one. */
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

/** Undefined: it will be refused for what it is, and no guard need be asked. */
async function checkedCall(pool: ToolPool, call: ToolUseBlock): Promise<CheckedCall | undefined> {
  const tool = pool.resolve(call.name);
  if (tool === undefined) return undefined;
  try {
    const input = tool.fromModel?.(call.input) ?? call.input;
    return (await tool.validate(input)).length === 0 ? { call, tool, input } : undefined;
  } catch {
    // Whatever is wrong with it is told when its turn comes.
    return undefined;
  }
}

export type ToolRuntime = Awaited<ReturnType<typeof openToolRuntime>>;
