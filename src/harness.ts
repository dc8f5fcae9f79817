/**
 * The composition root: the one file that knows every feature. Wiring, no decisions.
 */
import { type AgentSetup, createAgent } from './agents/agent.js';
import { createBackgroundInput } from './agents/background-input.js';
import { createCallLedger } from './agents/call-ledger.js';
import { createCompaction } from './agents/compaction.js';
import { extract } from './agents/extract.js';
import { createModelChoices } from './agents/model-choice.js';
import { type AgentSession, createSession, type SessionRun } from './agents/session.js';
import type { SessionConfig } from './agents/session-config.js';
import { shellNotice, shellStatus } from './agents/shell-notice.js';
import { STRUCTURED_ATTEMPTS, structuredNudge } from './agents/structured.js';
import { createLimits } from './budget/limits.js';
import { openOpening } from './context/opening.js';
import { systemPrompt } from './context/system-prompt.js';
import { systemClock } from './env/clock.js';
import { hostFacts } from './env/host.js';
import { nodeFileSystem } from './env/node-fs.js';
import { createProcessSupervisor } from './env/node-process.js';
import { configDirectory, currentBranch, resolve, stateDirectory } from './env/paths.js';
import { modelAccounts } from './model/accounts.js';
import type { StreamEvent } from './model/client.js';
import { metered } from './model/metered.js';
import { modelName } from './model/model-name.js';
import { openModel } from './model/open.js';
import { chooseProvider } from './model/provider.js';
import { maxRetriesFrom } from './model/retry.js';
import { UsageLedger } from './model/usage.js';
import { openPermissions } from './permissions/open.js';
import { MAIN_AGENT } from './protocol/agent-ref.js';
import { openHistory } from './session/open.js';
import { openStore } from './session/open-store.js';
import { createRecorder } from './session/recorder.js';
import { loadSettings, managedSettingsDirectory } from './settings/load.js';
import { refuseBroken } from './settings/refuse.js';
import { type Builtins, openBuiltins } from './tools/builtin/set.js';
import { createInvoke } from './tools/invoke.js';
import { boundOutput } from './tools/output.js';
import { createReadState } from './tools/read-state.js';
import { createWorkspace } from './tools/workspace.js';
import { VERSION } from './version.js';

export type { AgentSession, RunResult } from './agents/session.js';
export type { SessionConfig } from './agents/session-config.js';
export type { InputMessage, LoopEvent, StopReason } from './loop/types.js';
export type { AskAnswer, AskRequest } from './permissions/types.js';
export type { UserBlock } from './protocol/content.js';
export type { SessionInfo, SessionNews } from './protocol/session-events.js';

/** Opens a session: reads what there is to read, joins the parts, calls nobody yet. */
export async function openSession(config: SessionConfig): Promise<AgentSession> {
  const ground = await openGround(config);
  const model = await openModelLayer(config, ground);
  const log = await openLog(config, ground);
  const hands = await openHands(config, ground, { model, log });
  return await joinSession(config, ground, { model, log, hands });
}

/** Settings, environment, workspace. */
async function openGround(config: SessionConfig) {
  const host = hostFacts();
  const fs = nodeFileSystem;
  const configDir = configDirectory(config.env);
  const sources = config.settingSources ?? (['user', 'project', 'local'] as const);
  const { settings, problems } = await loadSettings({
    fs,
    cwd: config.cwd,
    configDir,
    managedDir: managedSettingsDirectory(host.os),
    sources,
    trustProject: config.trust,
    env: config.env,
    ...(config.settings === undefined ? {} : { flagSettings: config.settings }),
  });
  refuseBroken(problems, config.emit);
  const fromSettings = Object.entries(settings.env).map(([name, { value }]) => [name, value]);
  const additional = [
    ...(config.addDirs ?? []).map((directory) => resolve(config.cwd, directory)),
    ...settings.permissions.additionalDirectories.map((directory) => directory.value),
  ];
  return {
    fs,
    host,
    configDir,
    sources,
    settings,
    additional,
    clock: systemClock,
    env: { ...config.env, ...Object.fromEntries(fromSettings) } as SessionConfig['env'],
    workspace: createWorkspace([config.cwd, ...additional]),
    gitBranch: currentBranch(config.cwd),
  };
}

type Ground = Awaited<ReturnType<typeof openGround>>;

/** The provider's client, which model it is asked for, and what it has cost. */
async function openModelLayer(config: SessionConfig, ground: Ground) {
  const env =
    config.script === undefined ? ground.env : { ...ground.env, PORTCULLIS_SCRIPT: config.script };
  const provider = chooseProvider(env, { model: config.model ?? ground.settings.model?.value });
  const maxRetries = maxRetriesFrom(env);
  const ledger = new UsageLedger();
  const choices = createModelChoices({
    ...config,
    name: await modelName(provider, env),
    env,
    provider: provider.kind === 'openai' ? 'openai-compatible' : provider.kind,
  });
  const opened = await openModel(provider, {
    version: VERSION,
    readText: (file) => ground.fs.readText(file),
    retry: {
      fallbackModels: choices.fallbacks,
      ...(maxRetries === undefined ? {} : { maxRetries }),
    },
  });
  const client = metered(opened, {
    clock: ground.clock,
    book: (model, usage) =>
      ledger.add({ agent: MAIN_AGENT.path, model, provider: opened.provider, usage }),
  });
  return { client, ledger, choices };
}

type ModelLayer = Awaited<ReturnType<typeof openModelLayer>>;

/** The transcript: what was said before, and where it goes on. */
async function openLog(config: SessionConfig, ground: Ground) {
  const store = openStore({
    persist: config.persist,
    configDir: ground.configDir,
    cwd: config.cwd,
    temporaryDirectory: ground.host.temporaryDirectory,
    projectDirName: ground.env.CLAUDE_CODE_PROJECT_DIR_NAME,
    uuid: ground.clock.uuid,
    emit: config.emit,
  });
  const history = await openHistory(store, config.start, {
    fork: config.fork,
    clock: ground.clock,
  });
  const recorder = createRecorder({
    store,
    sessionId: history.sessionId,
    clock: ground.clock,
    cwd: () => ground.workspace.cwd,
    version: VERSION,
    entrypoint: config.entrypoint,
    parentUuid: history.parentUuid,
    ...(ground.gitBranch === undefined ? {} : { gitBranch: ground.gitBranch }),
    ...(history.title === undefined ? {} : { title: history.title }),
    ...(history.lastPrompt === undefined ? {} : { lastPrompt: history.lastPrompt }),
  });
  for (const { call, result } of history.missingResults) recorder.result(call, result);
  if (config.title !== undefined) recorder.title(config.title);
  return { store, history, recorder };
}

type Log = Awaited<ReturnType<typeof openLog>>;

/** Tools, the gate before them, and the one function that leads through it. */
async function openHands(
  config: SessionConfig,
  ground: Ground,
  { model, log }: { model: ModelLayer; log: Log },
) {
  const { fs, clock, env, workspace } = ground;
  const { sessionId } = log.history;
  const processes = createProcessSupervisor({ stateDirectory: stateDirectory(env) });
  const permissions = openPermissions({
    fs,
    env,
    clock,
    isRoot: ground.host.isRoot,
    cwd: config.cwd,
    settings: ground.settings.permissions,
    allowedTools: config.allowedTools ?? [],
    disallowedTools: config.disallowedTools ?? [],
    mode: config.permissionMode,
    bypassArmed: config.bypassArmed === true,
    asker: config.asker,
    emit: config.emit,
  });
  const builtins = await openBuiltins({
    fs,
    clock,
    processes,
    env,
    workspace,
    configDir: ground.configDir,
    sessionId,
    hasPerson: config.asker !== undefined,
    offered: config.tools,
    allowed: permissions.allowedNames,
    banned: permissions.bannedNames,
    jsonSchema: config.jsonSchema,
    summarise: (prompt, text, signal) =>
      extract({ client: model.client, model: model.choices.small() }, { prompt, text }, signal),
  });
  const calls = createCallLedger();
  const readState = createReadState();
  const invoke = createInvoke({
    pool: builtins.pool,
    gate: permissions.gate,
    agent: MAIN_AGENT,
    workspace,
    contextFor: (call, signal) => ({
      agent: MAIN_AGENT,
      sessionId,
      toolUseId: call.id,
      signal,
      workspace,
      readState,
      mode: permissions.mode(),
      setMode: permissions.setMode,
      spillDirectory: () => log.store.spillDirectory(sessionId),
      progress: (text) =>
        config.emit({ type: 'progress', toolUseId: call.id, toolName: call.name, text }),
    }),
    onVerdict(call, tool, verdict) {
      builtins.validInput();
      config.emit({ type: 'decision', receipt: verdict.receipt });
      const denial = calls.verdict(call, tool, verdict);
      if (denial !== undefined && verdict.kind === 'refused') {
        config.emit({ type: 'denied', denial, message: verdict.message });
      }
    },
    onInvalidInput: builtins.invalidInput,
    onRan(call, tool, output) {
      const shell = builtins.startedShell(output);
      if (shell !== undefined) {
        const description = shell.description ?? shell.command;
        config.emit({ type: 'task_started', taskId: shell.id, toolUseId: call.id, description });
      }
      if (output.isError !== true) calls.ran(tool);
    },
    bound: (output, context) => boundOutput(output, { fs, context }),
    uuid: clock.uuid,
  });
  return { processes, permissions, builtins, calls, invoke };
}

type Hands = Awaited<ReturnType<typeof openHands>>;

/** The agent and what happens around its runs. */
async function joinSession(
  config: SessionConfig,
  ground: Ground,
  { model, log, hands }: { model: ModelLayer; log: Log; hands: Hands },
): Promise<AgentSession> {
  const { clock, workspace } = ground;
  const { client, choices, ledger } = model;
  const { history, recorder, store } = log;
  const { permissions, builtins } = hands;
  const current: { run: SessionRun | undefined } = { run: undefined };
  const compaction = createCompaction({
    client,
    clock,
    env: ground.env,
    window: choices.limits,
    recordBoundary: (compacted) => recorder.compactBoundary(compacted),
    emit: config.emit,
  });
  const background = backgroundOf(config, builtins, clock);
  const nudge = config.jsonSchema === undefined ? undefined : structuredNudge(clock.uuid);
  const setup: AgentSetup = {
    ref: MAIN_AGENT,
    client,
    choice: choices.current,
    system: systemPrompt({
      ...(config.systemPrompt === undefined ? {} : { replacement: config.systemPrompt }),
      ...(config.appendSystemPrompt === undefined ? {} : { appended: config.appendSystemPrompt }),
    }),
    pool: builtins.pool,
    invoke: hands.invoke,
    record: recorder,
    history: history.messages,
    compaction,
    shouldStop: createLimits({
      maxTurns: config.maxTurns,
      maxBudgetUsd: config.maxBudgetUsd,
      spentUsd: () => ledger.total().costUsd,
      stuck: () => builtins.stuck() ?? compaction.exhausted,
    }),
    takeInput: () => current.run?.takeInput() ?? [],
    onIdle: async () => {
      const next = nudge?.() ?? background.next();
      if (next !== undefined || config.waitForBackground !== true) return next;
      return (await background.wait()) ? background.next() : undefined;
    },
    onAnswer: (answer) => current.run?.onAnswer(answer),
    emit(event) {
      // A call is being written: time to prepare for the process that it may start.
      if (event.type === 'stream' && opensCall(event.event)) hands.processes.warmUp?.();
      config.emit(event);
    },
    uuid: clock.uuid,
  };
  const opening = await openOpening({
    fs: ground.fs,
    configDir: ground.configDir,
    sources: ground.sources,
    facts: {
      cwd: workspace.cwd,
      additionalDirectories: ground.additional,
      platform: ground.host.platform,
      date: new Date(clock.now()).toISOString().slice(0, 10),
      gitBranch: ground.gitBranch,
      model: choices.current().model,
    },
    resumedFrom: history.resumed ? { cwd: history.lastCwd } : undefined,
    emit: config.emit,
    uuid: clock.uuid,
  });
  return createSession(
    {
      id: history.sessionId,
      agent: createAgent(setup),
      clock,
      calls: hands.calls,
      background,
      info: () => ({
        sessionId: history.sessionId,
        cwd: workspace.cwd,
        model: choices.current().model,
        mode: permissions.mode(),
        tools: builtins.pool.tools.map((tool) => tool.name),
        keySource: ground.env.ANTHROPIC_API_KEY === undefined ? 'none' : 'ANTHROPIC_API_KEY',
        additionalDirectories: ground.additional,
        memoryPaths: opening.paths,
        transcriptPath: store.transcriptPath(history.sessionId),
        mcpServers: (config.mcpServers ?? []).map((name) => ({ name, status: 'failed' })),
      }),
      emit: config.emit,
      setMode: permissions.setMode,
      setModel: choices.set,
      openingMessages: () => opening.messages,
      recordInput: (message) => recorder.input(message),
      accounts: () => modelAccounts(ledger, choices.limits()),
      apiMs: client.elapsedMs,
      structuredAttempts: config.jsonSchema === undefined ? undefined : STRUCTURED_ATTEMPTS,
      onMaxTurns: (limit) => recorder.attachment({ type: 'max_turns_reached', maxTurns: limit }),
      async close() {
        for (const shell of builtins.shells.list().filter(({ status }) => status === 'running')) {
          const text = `background command ${shell.id} was still running and was ended: ${shell.command}`;
          config.emit({ type: 'notice', level: 'warning', text });
        }
        await builtins.shells.killAll();
        await hands.processes.killAll();
        const unsaved = store.close();
        if (unsaved > 0)
          config.emit({ type: 'writes_lost', code: 'unsaved at exit', lost: unsaved });
      },
    },
    current,
  );
}

function opensCall(event: StreamEvent): boolean {
  return event.type === 'content_block_start' && event.content_block.type === 'tool_use';
}

/** Background commands tell the agent when they end; the host hears of it too. */
function backgroundOf(config: SessionConfig, builtins: Builtins, clock: Ground['clock']) {
  const { shells } = builtins;
  const background = createBackgroundInput(
    () => shells.list().filter((shell) => shell.status === 'running').length,
  );
  shells.onFinished((shell) => {
    config.emit({
      type: 'task_finished',
      taskId: shell.id,
      toolUseId: shell.toolUseId ?? '',
      status: shellStatus(shell),
      outputFile: shell.outputFile,
      summary: shell.description ?? shell.command,
    });
    background.add(shellNotice(shell, clock.uuid()));
  });
  return background;
}
