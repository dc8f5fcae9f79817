/**
 * The composition root: with `app/` beside it, the one place that knows every feature. Wiring,
 * no decisions.
 */
import { createHookAgent } from './agents/core/hook-agent.js';
import { type ModelLayer, openModelLayer } from './agents/core/model-layer.js';
import type { AgentSession } from './agents/core/session.js';
import type { SessionConfig } from './agents/core/session-config.js';
import { openAgents } from './app/agents.js';
import { budgetOf } from './app/budget-settings.js';
import { openCheckpointing } from './app/checkpoints.js';
import { joinParts } from './app/create-session.js';
import { openHooks } from './app/hooks.js';
import { openInstructions } from './app/instructions.js';
import { asMainAgent } from './app/main-agent.js';
import { openMcp } from './app/mcp.js';
import { withOutputStyle } from './app/output-style.js';
import { openSandboxing } from './app/sandbox.js';
import {
  type Log,
  openLog,
  openSessionEnvironment,
  type SessionEnvironment,
} from './app/session-environment.js';
import { type CurrentRun, closeParts, type Parts } from './app/session-parts.js';
import { openSkills } from './app/skills.js';
import { openToolRuntime, type ToolRuntime } from './app/tool-runtime.js';
import { strictest } from './budget/units.js';
import { resolveModel } from './model/catalog/aliases.js';
import { stateDirectory } from './platform/fs/paths.js';
import { createProcessSupervisor } from './platform/process/node-process.js';
import { createReadState } from './tools/files/read-state.js';
import { createWorkspace } from './tools/workspace.js';
import { VERSION } from './version.js';

export { errorName } from './agents/core/error-name.js';
export type { CommandRow } from './agents/core/host-requests.js';
export { wireSource } from './agents/core/inspection.js';
export type { AgentSession, RunResult } from './agents/core/session.js';
export type { DrivenCall, SessionConfig, SessionDrive } from './agents/core/session-config.js';
export type { TeamRole } from './agents/teams/role.js';
export type { TeamView } from './agents/teams/view.js';
export { openInboxOf } from './app/inbox-of.js';
export {
  type OptionName,
  readSessionOptions,
  type SessionFields,
} from './app/session-options.js';
export {
  conversationOf,
  forkInFiles,
  forkOfLines,
  memoryStoreOf,
  openTranscripts,
  projectKeyOf,
} from './app/transcripts.js';
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
export { readAskAnswer } from './permissions/ask-answer.js';
export { describeRule } from './permissions/rule-words.js';
export { suggestedUpdates } from './permissions/suggested-updates.js';
export type { AskAnswer, Asker, AskRequest } from './permissions/types.js';
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
  RawLine,
  TranscriptArchive,
} from './session/transcript/archive.js';
export type { ProjectTrust } from './settings/trust/project-trust.js';
export type { TrustCheck } from './settings/trust/types.js';

/** Opens a session: reads what there is to read, joins the parts, calls nobody yet. */
export async function openSession(asked: SessionConfig): Promise<AgentSession> {
  const environment = await openSessionEnvironment(asked);
  // Who goes on with a session goes on as the agent that it ran as.
  const goesOn = asked.start.kind !== 'new' && asked.agent === undefined;
  const earlier = goesOn ? await openLog(asked, environment) : undefined;
  const config = await withOutputStyle(await asMainAgent(asked, environment, earlier), environment);
  const model = await openModelLayer(config, {
    env: environment.env,
    clock: environment.clock,
    version: VERSION,
    fromSettings: environment.settings.model?.value,
    budget: [config.budget ?? {}, config.runsAs?.budget ?? {}].reduce(
      strictest,
      budgetOf(environment.settings.values),
    ),
    readText: (file) => environment.fs.readText(file),
  });
  const parts = await openParts(config, environment, model, earlier);
  try {
    const session = await joinParts(config, environment, parts);
    environment.levels.startIsOver();
    return session;
  } catch (thrown) {
    // Why it does not start is what a person has to know; what else goes wrong is not told.
    await closeParts(config, parts).catch(() => undefined);
    throw thrown;
  }
}

/** The parts of a session before they are joined: no hook has been told and no model asked. */
export async function openParts(
  config: SessionConfig,
  environment: SessionEnvironment,
  model: ModelLayer,
  opened?: Log,
): Promise<Parts> {
  const log = opened ?? (await openLog(config, environment));
  const made: MadeParts = { log };
  try {
    return await openEach(config, environment, { model, log, made });
  } catch (thrown) {
    // As above: a start that fails leaves nothing running.
    await closeParts(config, made).catch(() => undefined);
    throw thrown;
  }
}

/** What has been opened so far. */
type MadeParts = { -readonly [Name in keyof Parts]?: Parts[Name] };

async function openEach(
  config: SessionConfig,
  environment: SessionEnvironment,
  { model, log, made }: { readonly model: ModelLayer; readonly log: Log; readonly made: MadeParts },
): Promise<Parts> {
  const current: CurrentRun = { run: undefined };
  const processes = createProcessSupervisor({
    stateDirectory: stateDirectory(environment.env),
    sessionId: log.history.sessionId,
  });
  made.processes = processes;
  const sandbox = openSandboxing(config, environment, log);
  made.sandbox = sandbox;
  await sandbox.start();
  const servers = sandbox.supervisor(processes, 'mcp');
  const checkpoints = openCheckpointing(config, environment, log);
  made.checkpoints = checkpoints;
  const hooks = openHooks(config, environment, {
    model,
    log,
    processes: sandbox.supervisor(processes, 'hook'),
    current,
    watch: checkpoints.hookRuns,
  });
  made.hooks = hooks;
  const { sessionId } = log.history;
  const [read, started] = await Promise.allSettled([
    openInstructions(config, environment),
    openMcp(config, environment, { processes: servers, hooks }),
  ]);
  if (started.status === 'rejected') throw started.reason;
  const mcp = started.value;
  made.mcp = mcp;
  if (read.status === 'rejected') throw read.reason;
  const instructions = read.value;
  const skills = openSkills(config, environment, {
    hooks,
    processes,
    sessionId,
    choices: model.choices,
    isHidden: instructions.isHidden,
  });
  made.skills = skills;
  const promptTool =
    config.promptTool === undefined
      ? undefined
      : (await import('./app/prompt-tool.js')).openPromptTool(config.promptTool, {
          connections: () => mcp?.connections() ?? [],
          listing: (server) => mcp?.listing(server),
          isBanned: (names) => toolRuntime.permissions.isBanned(names),
        });
  const asking = promptTool === undefined ? config : { ...config, asker: promptTool.asker };
  const teams =
    config.team === undefined
      ? undefined
      : await (await import('./app/teams.js')).openTeams(config, environment, { log, hooks });
  const { isHidden } = instructions;
  const agents = openAgents(config, environment, {
    log,
    hooks,
    processes,
    servers,
    teams,
    isHidden,
  });
  made.agents = agents;
  const toolRuntime: ToolRuntime = await openToolRuntime(asking, environment, {
    model,
    log,
    processes,
    hooks,
    instructions,
    skills,
    mcp,
    agents,
    sandbox,
    watch(starting, context) {
      return checkpoints.watch(starting, context);
    },
  });
  made.toolRuntime = toolRuntime;
  agents.lend({ model, toolRuntime, instructions, skills, mcp });
  promptTool?.require();
  hooks.lend({
    callServer: mcp?.callForHook,
    mode: toolRuntime.permissions.mode,
    judge: createHookAgent({
      client: model.client,
      choice: (name) => ({
        ...model.choices.current(),
        model: name === undefined ? model.choices.small() : resolveModel(name, environment.env).id,
      }),
      calls: toolRuntime.around,
      tools: () => toolRuntime.builtins.pool.tools,
      workspace: () => createWorkspace([environment.workspace.cwd, ...environment.workspace.roots]),
      contextFor: (agent, workspace) => toolRuntime.contextOf(agent, workspace, createReadState()),
      onVerdict: (_agent, _call, _tool, verdict) =>
        config.emit({ type: 'decision', receipt: toolRuntime.journal.note(verdict.receipt) }),
      depthLimit: 8,
    }),
  });
  const of = { model, log, hooks, toolRuntime, instructions, skills, mcp, agents };
  return { checkpoints, sandbox, processes, current, ...of };
}
