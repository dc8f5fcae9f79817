/**
 * The composition root: the one file that knows every feature. Wiring, no decisions.
 */
import { type AgentSetup, createAgent } from './agents/agent.js';
import { backgroundShells } from './agents/background-shells.js';
import { changesNothing, opensProcess } from './agents/call-facts.js';
import { createCallLedger } from './agents/call-ledger.js';
import { createCompaction } from './agents/compaction.js';
import { extract } from './agents/extract.js';
import { createInspection } from './agents/inspection.js';
import { type ModelLayer, openModelLayer } from './agents/model-layer.js';
import { type AgentSession, createSession, type SessionRun } from './agents/session.js';
import type { SessionConfig } from './agents/session-config.js';
import { STRUCTURED_ATTEMPTS, structuredNudge } from './agents/structured.js';
import { createLimits } from './budget/limits.js';
import { openOpening } from './context/opening.js';
import { systemPrompt } from './context/system-prompt.js';
import { systemClock } from './env/clock.js';
import { hostFacts } from './env/host.js';
import { nodeFileSystem } from './env/node-fs.js';
import { createProcessSupervisor } from './env/node-process.js';
import { configDirectory, currentBranch, resolve, stateDirectory } from './env/paths.js';
import { openSessionJournal } from './journal/open.js';
import { modelAccounts } from './model/accounts.js';
import { openPermissions } from './permissions/open.js';
import { RULE_TOOLS } from './permissions/rule-tools.js';
import { MAIN_AGENT } from './protocol/agent-ref.js';
import { openSessionLog } from './session/open-log.js';
import { managedSettingsDirectory } from './settings/load.js';
import { openSettings } from './settings/open.js';
import { openBuiltins } from './tools/builtin/set.js';
import { createInvoke } from './tools/invoke.js';
import { boundOutput } from './tools/output.js';
import { createReadState } from './tools/read-state.js';
import { createWorkspace } from './tools/workspace.js';
import { VERSION } from './version.js';

export { wireSource } from './agents/inspection.js';
export type { AgentSession, RunResult } from './agents/session.js';
export type { SessionConfig } from './agents/session-config.js';
export type { InputMessage, LoopEvent, StopReason } from './loop/types.js';
export { readAskAnswer } from './permissions/callback-answer.js';
export type { CallbackEntry, CallbackRequest, HostCallbacks } from './permissions/callbacks.js';
export { describeRule } from './permissions/rule-words.js';
export { suggestedUpdates } from './permissions/suggested-updates.js';
export type { AskAnswer, Asker, AskRequest } from './permissions/types.js';
export type { UserBlock } from './protocol/content.js';
export type { SessionInfo, SessionNews } from './protocol/session-events.js';
export { openProjectTrust, type ProjectTrust } from './settings/trust.js';
export type { TrustCheck } from './settings/trust-types.js';

/** Opens a session: reads what there is to read, joins the parts, calls nobody yet. */
export async function openSession(config: SessionConfig): Promise<AgentSession> {
  const ground = await openGround(config);
  const model = await openModelLayer(config, {
    env: ground.env,
    clock: ground.clock,
    version: VERSION,
    fromSettings: ground.settings.model?.value,
    readText: (file) => ground.fs.readText(file),
  });
  const log = await openLog(config, ground);
  const current: CurrentRun = { run: undefined };
  const hands = await openHands(config, ground, { model, log, current });
  return await joinSession(config, ground, { model, log, hands, current });
}

/** What the parts of a session know about the prompt that is being answered. */
interface CurrentRun {
  run: SessionRun | undefined;
}

/** Settings, environment, workspace. */
async function openGround(config: SessionConfig) {
  const host = hostFacts();
  const fs = nodeFileSystem;
  const configDir = configDirectory(config.env);
  const sources = config.settingSources ?? (['user', 'project', 'local'] as const);
  const { settings, trust, watch } = await openSettings({
    fs,
    cwd: config.cwd,
    configDir,
    managedDir: managedSettingsDirectory(host.os),
    stateDirectory: stateDirectory(config.env),
    sources,
    asked: config.projectTrust,
    given: config.trust,
    env: config.env,
    knownTools: Object.keys(RULE_TOOLS),
    now: systemClock.now,
    emit: config.emit,
    ...(config.settings === undefined ? {} : { flagSettings: config.settings }),
    ...(config.managedSettings === undefined ? {} : { hostSettings: config.managedSettings }),
  });
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
    watch,
    trust,
    additional,
    clock: systemClock,
    env: { ...config.env, ...Object.fromEntries(fromSettings) } as SessionConfig['env'],
    workspace: createWorkspace([config.cwd, ...additional]),
    gitBranch: currentBranch(config.cwd),
  };
}

type Ground = Awaited<ReturnType<typeof openGround>>;

/** The transcript: what was said before, and where it goes on. */
function openLog(config: SessionConfig, ground: Ground) {
  return openSessionLog({
    ...config,
    configDir: ground.configDir,
    temporaryDirectory: ground.host.temporaryDirectory,
    projectDirName: ground.env.CLAUDE_CODE_PROJECT_DIR_NAME,
    clock: ground.clock,
    workspace: ground.workspace,
    gitBranch: ground.gitBranch,
  });
}

type Log = Awaited<ReturnType<typeof openLog>>;

/** Tools, the gate before them, and the one function that leads through it. */
async function openHands(
  config: SessionConfig,
  ground: Ground,
  { model, log, current }: { model: ModelLayer; log: Log; current: CurrentRun },
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
    strictness: ground.settings.strictness,
    allowedTools: config.allowedTools ?? [],
    disallowedTools: config.disallowedTools ?? [],
    mode: config.permissionMode,
    bypassArmed: config.bypassArmed === true,
    asker: config.asker,
    host: {
      callbacks: config.callbacks,
      restrictOnly: () => ground.settings.values.get('allowManagedHooksOnly')?.value === true,
      facts: () => ({
        sessionId,
        transcriptPath: log.store.transcriptPath(sessionId),
        promptId: current.run?.promptId,
      }),
    },
    answers: {
      fs,
      configDir: ground.configDir,
      rebind: ground.trust.trust.rebind,
      addDirectory: workspace.addRoot,
      removeDirectory: workspace.removeRoot,
    },
    emit: config.emit,
  });
  const journal = openSessionJournal({
    persist: config.persist,
    stateDirectory: stateDirectory(env),
    cwd: config.cwd,
    sessionId,
    workspace,
    clock,
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
      isHidden: permissions.hidden(MAIN_AGENT, workspace),
      spillDirectory: () => log.store.spillDirectory(sessionId),
      progress: (text) =>
        config.emit({ type: 'progress', toolUseId: call.id, toolName: call.name, text }),
    }),
    onVerdict(call, tool, verdict) {
      builtins.validInput();
      config.emit({
        type: 'decision',
        receipt: journal.note(verdict.receipt, changesNothing(tool, verdict) ? 'soon' : 'now'),
      });
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
  return { processes, permissions, builtins, calls, invoke, journal };
}

type Hands = Awaited<ReturnType<typeof openHands>>;

/** The agent and what happens around its runs. */
async function joinSession(
  config: SessionConfig,
  ground: Ground,
  {
    model,
    log,
    hands,
    current,
  }: {
    model: ModelLayer;
    log: Log;
    hands: Hands;
    current: CurrentRun;
  },
): Promise<AgentSession> {
  const { clock, workspace } = ground;
  const { client, choices, ledger } = model;
  const { history, recorder, store } = log;
  const { permissions, builtins } = hands;
  const compaction = createCompaction({
    client,
    clock,
    env: ground.env,
    window: choices.limits,
    recordBoundary: (compacted) => recorder.compactBoundary(compacted),
    emit: config.emit,
  });
  const live = ground.watch({
    apply: (settings) => permissions.replaceSettings(settings.permissions, settings.strictness),
  });
  const background = backgroundShells(builtins.shells, { emit: config.emit, uuid: clock.uuid });
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
      unpricedCalls: () => ledger.total().unpricedRequests,
      stuck: () => builtins.stuck() ?? permissions.stuck(MAIN_AGENT.path) ?? compaction.exhausted,
    }),
    betweenTurns: live.refresh,
    takeInput: () => current.run?.takeInput() ?? [],
    onIdle: async () => {
      const next = nudge?.() ?? background.next();
      if (next !== undefined || config.waitForBackground !== true) return next;
      return (await background.wait()) ? background.next() : undefined;
    },
    onAnswer(answer) {
      permissions.nextAnswer();
      current.run?.onAnswer(answer);
    },
    emit(event) {
      // A call is being written: time to prepare for the process that it may start.
      if (event.type === 'stream' && opensProcess(event.event, builtins.pool)) {
        hands.processes.warmUp?.();
      }
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
      beginTurn: permissions.beginTurn,
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
        models: choices.offers(),
        provider: client.provider,
      }),
      inspect: createInspection({
        settings: live.current,
        directories: () => workspace.roots,
        applied: () => ({ model: choices.current().model, effort: config.effort ?? null }),
        cwd: config.cwd,
        flags: { allow: config.allowedTools ?? [], deny: config.disallowedTools ?? [] },
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
        hands.journal.close();
        const unsaved = store.close();
        if (unsaved > 0)
          config.emit({ type: 'writes_lost', code: 'unsaved at exit', lost: unsaved });
      },
    },
    current,
  );
}
