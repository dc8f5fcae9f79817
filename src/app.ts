/**
 * The composition root: with `app/` beside it, the one place that knows every feature. Wiring,
 * no decisions.
 */
import { createHookAgent } from './agents/core/hook-agent.js';
import { type ModelLayer, openModelLayer } from './agents/core/model-layer.js';
import type { AgentSession } from './agents/core/session.js';
import type { CurrentRun, Parts } from './agents/core/session-parts.js';
import { openToolRuntime, type ToolRuntime } from './agents/core/tool-runtime.js';
import { asMainAgent } from './agents/definitions/main-agent.js';
import { ToolRestrictions } from './agents/limits/tool-restrictions.js';
import { openAgents } from './agents/session-agents.js';
import { joinParts } from './app/create-session.js';
import { SessionJournal } from './checkpoint/session-journal.js';
import type { Feature } from './config/feature.js';
import type { SessionConfig } from './config/session-config.js';
import {
  type Log,
  openLog,
  openSessionEnvironment,
  type SessionEnvironment,
} from './config/session-environment.js';
import { openInstructions } from './context/instructions/session-instructions.js';
import { withOutputStyle } from './context/prompt/session-style.js';
import { PortcullisError } from './errors.js';
import type { AgentJudge } from './hooks/runners/model.js';
import { openHooks } from './hooks/session/session-hooks.js';
import { Journal, journalFile } from './journal/journal.js';
import { closeAll } from './lib/close-all.js';
import { openMcp } from './mcp/session/open-mcp.js';
import { resolveModel } from './model/catalog/aliases.js';
import type { Permissions } from './permissions/gate/open.js';
import { effectRulesIn } from './permissions/guards/effects.js';
import { homeDirectory, stateDirectory } from './platform/fs/paths.js';
import { createProcessSupervisor } from './platform/process/node-process.js';
import { MAIN_AGENT } from './protocol/agent-ref.js';
import type { Receipt } from './protocol/permissions.js';
import { openSandboxing } from './sandbox/session/session-sandbox.js';
import { openSkills } from './skills/session-skills.js';
import { createReadState } from './tools/files/read-state.js';
import { createWorkspace } from './tools/workspace.js';

export type { CommandRow } from './agents/core/host-requests.js';
export { wireSource } from './agents/core/inspection.js';
export type { AgentSession, RunResult } from './agents/core/session.js';
export { errorName } from './agents/core/session-events.js';
export { openInboxOf } from './agents/inbox/inbox.js';
export type { TeamRole } from './agents/teams/records.js';
export type { TeamView } from './agents/teams/team.js';
export type { DrivenCall, SessionConfig, SessionDrive } from './config/session-config.js';
export {
  type OptionName,
  readSessionOptions,
  type SessionFields,
} from './config/session-options.js';
export type { ContextReport } from './context/compaction/context-report.js';
export type { AskIncludes } from './context/instructions/include-approvals.js';
export {
  type CallbackEntry,
  type CallbackRequest,
  type HostCallbacks,
  HostNotAsked,
} from './hooks/registry/host-callbacks.js';
export type { InputMessage, LoopEvent, StopReason } from './loop/types.js';
export type { SdkBridge } from './mcp/connection/deps.js';
export { knownLimits } from './model/catalog/models.js';
export { readAskAnswer } from './permissions/gate/questions.js';
export type { AskAnswer, Asker, AskRequest } from './permissions/gate/types.js';
export { describeRule, suggestedUpdates } from './permissions/grants/suggest.js';
export { RULE_TOOLS } from './permissions/rules/tools.js';
export { systemClock } from './platform/clock.js';
export { nodeFileSystem } from './platform/fs/node-fs.js';
export { expandHome, homeDirectory, resolve as resolvePath } from './platform/fs/paths.js';
export { processEnvironment, workingDirectory } from './platform/host.js';
export { isRunByAgent } from './platform/process/run-by-agent.js';
export type { UserBlock } from './protocol/content.js';
export type { SessionInfo, SessionNews } from './protocol/session-events.js';
export type {
  ArchiveItem,
  ArchivePlace,
  TranscriptArchive,
} from './session/transcript/archive.js';
export type { RawLine } from './session/transcript/lines.js';
export {
  conversationOf,
  forkInFiles,
  forkOfLines,
  memoryStoreOf,
  openTranscripts,
  projectKeyOf,
} from './session/transcripts.js';
export { matcherFaults } from './settings/schema/matcher.js';
export type { ProjectTrust } from './settings/trust/project-trust.js';
export type { TrustCheck } from './settings/trust/types.js';

/** Opens a session: loads its configuration and creates its parts; no request is sent yet. */
export async function openSession(asked: SessionConfig): Promise<AgentSession> {
  const environment = await openSessionEnvironment(asked);
  // A resumed session keeps its original main agent unless the caller names one.
  const keepsAgent = asked.start.kind !== 'new' && asked.agent === undefined;
  const earlier = keepsAgent ? await openLog(asked, environment) : undefined;
  const config = await withOutputStyle(await asMainAgent(asked, environment, earlier), environment);
  const model = await openModelLayer(config, environment);
  const parts = await openParts(config, environment, model, earlier);
  try {
    return await joinParts(config, environment, parts);
  } catch (thrown) {
    // Why it does not start is what a person has to know; what else goes wrong is not told.
    await parts.close().catch(() => undefined);
    throw thrown;
  }
}

/**
 * The parts of a session before they are joined: no hook has been told and no model asked. Each is opened with what it
 * needs; what depends on each other both ways, the gate above all, is reached through `opened` when it is asked for.
 */
export async function openParts(
  config: SessionConfig,
  environment: SessionEnvironment,
  model: ModelLayer,
  earlier?: Log,
): Promise<Parts> {
  const steps: (() => unknown)[] = [];
  const onClose = (step: () => unknown): void => void steps.push(step);
  const close = (): Promise<void> => closeAll(steps.splice(0).reverse());
  try {
    const log = earlier ?? (await openLog(config, environment));
    const opened: { -readonly [Name in keyof Parts]?: Parts[Name] } & {
      judge?: AgentJudge;
      permissions?: Permissions;
    } = {};
    const gate = (): Permissions | undefined => opened.permissions;
    const toolRuntime = (): ToolRuntime => {
      if (opened.toolRuntime !== undefined) return opened.toolRuntime;
      throw new PortcullisError('internal', 'the session is not open yet');
    };
    const { env, clock } = environment;
    const { sessionId } = log.history;
    const current: CurrentRun = { run: undefined };
    onClose(() => {
      const lost = log.store.close();
      if (lost > 0) config.emit({ type: 'writes_lost', code: 'unsaved at exit', lost });
    });
    const place = { stateDirectory: stateDirectory(env), cwd: config.cwd, sessionId };
    const journal = new Journal({
      files: config.drive?.journalFiles,
      // Of a session that is not kept, neither are its decisions.
      file: config.persist ? journalFile(place) : undefined,
      sessionId,
      cwd: () => environment.workspace.cwd,
      clock,
      emit: config.emit,
    });
    onClose(() => journal.close());
    const decided = (receipt: Receipt): void =>
      config.emit({ type: 'decision', receipt: journal.note(receipt) });
    const checkpoints = new SessionJournal({
      ...environment,
      cwd: config.cwd,
      settings: () => environment.settings,
      sessionId,
      parentSessionId: log.history.forkedFrom,
      asked: config.persist ? config.fileCheckpoints : false,
      tell: (text) => config.emit({ type: 'notice', level: 'warning', text }),
      startedShell: (output) => opened.toolRuntime?.builtins.startedShell(output),
      amend: decided,
      onlyReads: (agent) => opened.agents?.onlyReads(agent) === true,
      deniedEffects: (agent) => effectRulesIn(gate()?.rules(agent).deny ?? []),
      remind: (text) => opened.hooks?.pending.remind(text),
    });
    onClose(() => checkpoints.close());
    let onGate: (permissions: Permissions) => void = () => undefined;
    const rules = new Promise<Permissions['rules']>((resolve) => {
      onGate = (permissions) => {
        opened.permissions = permissions;
        resolve(permissions.rules);
      };
    });
    const sandbox = openSandboxing(config, environment, { log, rules });
    onClose(() => sandbox.close());
    const processes = createProcessSupervisor({ stateDirectory: stateDirectory(env), sessionId });
    onClose(() => processes.killAll());
    await sandbox.start();
    const servers = sandbox.supervisor(processes, 'mcp');
    const hooks = openHooks(config, environment, {
      model,
      log,
      processes: sandbox.supervisor(processes, 'hook'),
      current,
      watch: (name, agent) => checkpoints.hookRuns(name, agent),
      judge: () => opened.judge,
      callServer: () => opened.mcp?.callForHook,
      mode: () => gate()?.mode() ?? 'default',
      tellMain: (message) => opened.agents?.background.add(message),
    });
    opened.hooks = hooks;
    onClose(() => hooks.close());
    const fences = new ToolRestrictions({ cwd: config.cwd, home: homeDirectory(env) });
    const raised = config.runsAs && fences.raise(MAIN_AGENT, config.runsAs);
    // fail-closed: what a limit that cannot be read takes from the session is not known.
    if (raised?.ok === false) throw new PortcullisError('usage', raised.error);
    const isBanned = (names: readonly string[]): boolean => gate()?.isBanned(names) === true;
    const [read, started] = await Promise.allSettled([
      openInstructions(config, environment, fences),
      openMcp(config, environment, { processes: servers, hooks, isBanned }),
    ]);
    if (started.status === 'rejected') throw started.reason;
    const mcp = started.value;
    opened.mcp = mcp;
    onClose(() => mcp?.close());
    if (read.status === 'rejected') throw read.reason;
    const instructions = read.value;
    const skills = openSkills(config, environment, {
      hooks,
      processes,
      sessionId,
      choices: model.choices,
      isHidden: instructions.isHidden,
      call: () => opened.toolRuntime?.calls.forSkill,
      fork: () => opened.agents?.runFork,
      rules: (agent) => gate()?.rules(agent),
    });
    onClose(() => skills.close());
    const promptTool =
      config.promptTool === undefined
        ? undefined
        : (await import('./mcp/approval/prompt-tool.js')).openPromptTool(config.promptTool, {
            connections: () => mcp?.connections() ?? [],
            listing: (server) => mcp?.listing(server),
            isBanned,
          });
    const asking = promptTool === undefined ? config : { ...config, asker: promptTool.asker };
    const teams =
      config.team === undefined
        ? undefined
        : await (await import('./agents/teams/session-team.js')).openTeams(config, environment, {
            log,
            hooks,
            session: {
              runtime: () => agents.runtime,
              mode: () => toolRuntime().permissions.mode(),
              setMode: (mode) => toolRuntime().permissions.setMode(mode),
              model: () => model.choices.current().model,
              tool: (name) => toolRuntime().builtins.pool.resolve(name),
              heldBySkill: skills.holding,
              tellMain: (message) => agents.background.add(message),
            },
          });
    const parts = { model, log, hooks, instructions, skills, mcp, processes, sandbox };
    const agents = openAgents(config, environment, {
      ...parts,
      servers,
      teams,
      fences,
      toolRuntime,
      release: (agent) => {
        for (const feature of opened.features ?? []) feature.release?.(agent);
      },
    });
    opened.agents = agents;
    const features: readonly Feature[] = [
      instructions,
      skills,
      agents,
      ...(mcp === undefined ? [] : [mcp]),
      sandbox,
      hooks,
    ];
    opened.features = features;
    const made = await openToolRuntime(asking, environment, {
      ...parts,
      features,
      agents,
      decided,
      onGate,
      watch: (starting, context) => checkpoints.watch(starting, context),
    });
    opened.toolRuntime = made;
    made.builtins.shells.onFinished((shell) => checkpoints.shellFinished(shell));
    onClose(() => made.builtins.shells.killAll());
    onClose(() => agents.close());
    promptTool?.require();
    opened.judge = createHookAgent({
      client: model.client,
      choice: (name) => ({
        ...model.choices.current(),
        model: name === undefined ? model.choices.small() : resolveModel(name, env).id,
      }),
      invoke: (caller) => made.calls.of({ ...caller, readState: createReadState() }),
      tools: () => made.builtins.pool.tools,
      workspace: () => createWorkspace([environment.workspace.cwd, ...environment.workspace.roots]),
      uuid: clock.uuid,
      depthLimit: 8,
    });
    return { ...parts, features, checkpoints, current, agents, toolRuntime: made, close };
  } catch (thrown) {
    // A start that fails leaves nothing running.
    await close().catch(() => undefined);
    throw thrown;
  }
}
