import type { SessionConfig } from '../config/session-config.js';
import type { SessionEnvironment } from '../config/session-environment.js';
import { messageOf, PortcullisError } from '../errors.js';
import type { BackgroundTaskFacts } from '../hooks/events/stop.js';
import { closeAll } from '../lib/close-all.js';
import { err, ok, type Result } from '../lib/result.js';
import type { GateExtension } from '../permissions/gate/open.js';
import { homeDirectory, join } from '../platform/fs/paths.js';
import type { ProcessSupervisor } from '../platform/process/process.js';
import { type AgentRef, MAIN_AGENT } from '../protocol/agent-ref.js';
import { managedSettingsDirectory } from '../settings/files/load.js';
import { sideloadRefusal } from '../settings/merge/switches.js';
import type { ToolPool } from '../tools/pool.js';
import type { StopsAgents } from '../tools/tasks/task-stop.js';
import type { AnyTool } from '../tools/tool.js';
import type { AgentDefinition } from './definitions/definition.js';
import { AgentBook } from './definitions/definitions.js';
import { readHostAgents, refuseHostAgents } from './definitions/host.js';
import { openAgentListings } from './definitions/listing.js';
import { AGENT_TOOL } from './definitions/tools.js';
import { BACKGROUND_WAIT_MS, BackgroundInput, runningShells } from './delivery/background.js';
import { openMessaging } from './delivery/messaging.js';
import {
  createResumeRules,
  ResumeAsks,
  type TypeRuleParts,
  TypeRules,
} from './limits/type-rules.js';
import { putHooks } from './runtime/agent-hooks.js';
import { outputOf } from './runtime/agent-log.js';
import { openAgentServers } from './runtime/agent-servers.js';
import { earlierAgent, restoreSpending, resumableType } from './runtime/earlier-agents.js';
import { FORK_TYPE, forkDefinition, forkGuard } from './runtime/fork.js';
import { forkRunner } from './runtime/fork-skill.js';
import type { AgentHost } from './runtime/host.js';
import { openAgentMemories } from './runtime/memory.js';
import { reportCap } from './runtime/report.js';
import { agentPool } from './runtime/resolve.js';
import { Roster } from './runtime/roster.js';
import type { AgentRun } from './runtime/run.js';
import { AgentRuntime } from './runtime/runtime.js';
import { limitsOf, offersForks, positive, type SpawnLimits } from './runtime/spawn-limits.js';
import type { OpenTeams } from './teams/session-team.js';
import { agentTool } from './tools/agent-tool.js';
import { openWorkspaces } from './workspaces/agent-workspaces.js';

/** How long the end of a headless run waits for background agents. */
const PATIENCE_MS = 30 * 60_000;

type Lent = 'log' | 'hooks' | 'model' | 'instructions' | 'skills' | 'mcp' | 'fences';

export interface AgentParts extends Pick<AgentHost, Lent | 'toolRuntime' | 'release'> {
  readonly teams?: OpenTeams | undefined;
  readonly processes: ProcessSupervisor;
  /** Starts the servers of agent definitions, in the sandbox if there is one. */
  readonly servers: ProcessSupervisor;
}

/** Opens the agent types; definitions are read later. */
export function openAgentTypes(
  config: SessionConfig,
  environment: SessionEnvironment,
  { isHidden }: { isHidden(path: string): Promise<boolean> },
): AgentBook {
  const host = readHostAgents(config.agents);
  if (!host.ok) throw new PortcullisError('usage', host.error);
  refuseHostAgents(host.value, sideloadRefusal(environment.settings));
  return new AgentBook({
    fs: environment.fs,
    cwd: config.cwd,
    configDir: environment.configDir,
    managedDir: managedSettingsDirectory(environment.host.os),
    sources: environment.sources,
    plugins: environment.plugins,
    additionalDirectories: () => environment.workspace.roots.slice(1),
    trusts: environment.folders.trusts,
    isHidden,
    host: host.value,
  });
}

/** Opens the agents of a session: their types, their tools and the runtime. */
export function openAgents(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: AgentParts,
) {
  const { env, fs } = environment;
  const { log, hooks, model, fences, teams, toolRuntime } = parts;
  const { tell } = hooks;
  const { sessionId } = log.history;
  const limits = (): SpawnLimits => limitsOf(environment);
  // An invalid limit stops the start instead of the first agent.
  limits();
  const book = openAgentTypes(config, environment, parts.instructions);
  const roster = new Roster();
  const working: AgentHost['working'] = new Map();
  const snapshots: AgentHost['snapshots'] = new Map();
  const forks = (): AgentDefinition | undefined =>
    offersForks(environment) ? forkDefinition() : undefined;
  const find = async (type: string): Promise<AgentDefinition | undefined> =>
    type === FORK_TYPE ? forks() : await book.find(type);
  const runtime = (): AgentRuntime => running;
  const recall = recallOnce(config, parts);
  const words = {
    cap: reportCap(env),
    async spill(name: string, text: string): Promise<string> {
      const file = join(log.store.spillDirectory(sessionId), `${name}.txt`);
      await fs.writeAtomic(file, text, { mode: 0o600 });
      return file;
    },
    canResume: () => toolRuntime().builtins.pool.resolve('SendMessage') !== undefined,
  };
  const messaging = openMessaging(config, environment, { log, words, runtime, tell, teams });
  const workspaces = openWorkspaces(config, environment, parts);
  const servers = openAgentServers(config, environment, {
    taken: () => (parts.mcp?.statuses() ?? []).map(({ name }) => name),
    hooks,
    processes: parts.servers,
  });
  const memories = openAgentMemories(config, environment, tell);
  const startAgent = agentTool({
    book,
    runtime,
    words,
    forks,
    mostRunning: () => limits().concurrency,
    backgroundIsOff(agent) {
      if (teams?.isTeammate(agent) === true) return 'teammates wait for the agents that they start';
      return env.CLAUDE_CODE_DISABLE_BACKGROUND_TASKS === '1'
        ? 'CLAUDE_CODE_DISABLE_BACKGROUND_TASKS is set'
        : undefined;
    },
    teammates: teams?.side.start,
  });
  const typeRules: TypeRuleParts = {
    book,
    tool: () => startAgent,
    fences,
    fs,
    home: homeDirectory(env),
    workspace: environment.workspace,
    rules: (agent) => toolRuntime().permissions.rules(agent),
    mode: (agent) => toolRuntime().permissions.mode(agent),
  };
  const types = new TypeRules(typeRules);
  const asks = new ResumeAsks(typeRules, (to) => resumableType(to, { roster, log }));
  const extension: GateExtension = {
    ...servers.extension,
    resolvers: [memories.resolver],
    notes: memories.notes,
    guards: [
      forkGuard,
      workspaces.guard,
      fences.guard,
      types.guard,
      asks.guard,
      ...servers.extension.guards,
      ...messaging.guards,
    ],
    rules: fences.rules,
  };
  const tools: AnyTool[] = [startAgent, ...messaging.tools];
  const listings = openAgentListings({ book, types, forks, tell });
  /** Lists the types that an agent with these tools may start. */
  const listing = async (
    pool: ToolPool,
    agent: AgentRef = MAIN_AGENT,
  ): Promise<string | undefined> =>
    pool.resolve(AGENT_TOOL) === undefined ? undefined : await listings(agent);
  const inBackground = (): readonly AgentRun[] =>
    roster.running().filter(({ ref }) => ref.background);
  const background = new BackgroundInput(
    () => runningShells(toolRuntime().builtins.shells) + inBackground().length,
    () =>
      inBackground().length === 0
        ? BACKGROUND_WAIT_MS
        : (positive(env.CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS) ?? PATIENCE_MS),
  );
  const running: AgentRuntime = new AgentRuntime({
    ...parts,
    config,
    environment,
    memories,
    deliveries: messaging.deliveries,
    roster,
    working,
    snapshots,
    limits,
    listing,
    heard: messaging.heard,
    tellMain: background.add,
    find,
    async earlier(id) {
      await recall.spending();
      return await earlierAgent(log, id);
    },
    workspaceFor: workspaces.workspaceFor,
    serversFor: servers.serversFor,
    ...createResumeRules({
      ...typeRules,
      asks,
      toolOf: ({ id }) =>
        (snapshots.get(id)?.pool ?? toolRuntime().builtins.shared).resolve(AGENT_TOOL),
    }),
  });
  const toolsOf = async (kind: AgentDefinition, { depth }: AgentRef) =>
    agentPool(toolRuntime().builtins.shared, await memories.equip(kind), {
      maySpawn: depth + 1 < limits().depth,
    });
  return {
    book,
    extension,
    messaging,
    tools,
    runtime: running,
    teams,
    background,
    /** Requests of the running agents, by id, which their forks continue. */
    snapshots,
    runFork: forkRunner({ book, runtime: running, words, toolsOf, forbids: types.forbids, hooks }),
    stops: stopsAgents(running, teams),
    /** The tools of a running agent; undefined stands for the session's. */
    poolOf: (agent: AgentRef | undefined) =>
      agent === undefined ? undefined : working.get(agent.id)?.pool,
    /** The workspace of a running agent; undefined stands for the session's. */
    placeOf: (agent: AgentRef) => working.get(agent.id)?.workspace,
    /** An agent's output from its transcript; undefined when it has an output file. */
    async talkOf({ id, outputFile }: Pick<AgentRun, 'id' | 'outputFile'>) {
      if (outputFile !== log.store.transcriptPath(sessionId, id)) return undefined;
      return outputOf((await log.store.read(sessionId, id))?.entries ?? []);
    },
    /** Whether the agent's definition disallows the tools that write files. */
    onlyReads(agent: AgentRef): boolean {
      const definition = agent.depth === 0 ? config.runsAs : roster.find(agent.id)?.definition;
      const taken = definition?.disallowedTools ?? [];
      return taken.includes('Edit') && taken.includes('Write');
    },
    listing,
    /** Whether the session can start the named type; undefined for an unknown name. */
    async startable(
      name: string,
      pool: Pick<ToolPool, 'resolve'>,
    ): Promise<Result<AgentDefinition, string> | undefined> {
      const kind = await find(name);
      if (kind === undefined) return undefined;
      if (pool.resolve(AGENT_TOOL) === undefined) return err(`there is no ${AGENT_TOOL} tool here`);
      const why = await types.forbids(MAIN_AGENT, kind);
      return why === undefined ? ok(kind) : err(why);
    },
    async resumed(): Promise<void> {
      // Only costs that are limited are needed before the first run.
      if (model.budget.isLimited) await recall.spending();
      else void recall.costs();
      await messaging.resumed();
    },
    /** Resolves when the costs of earlier processes are counted. */
    recallCosts: recall.costs,
    /** Background agents as hooks see them. */
    backgroundTasks: (): readonly BackgroundTaskFacts[] =>
      inBackground().map(({ id, description, ref }) => ({
        id,
        type: 'subagent',
        status: 'running',
        description,
        agent_type: ref.type,
      })),
    /** Applies the main agent's definition: its hooks hold for the session. Returns its memory notes. */
    async runsAs(definition: AgentDefinition): Promise<string | undefined> {
      putHooks(hooks, MAIN_AGENT, definition);
      log.recorder.runsAs(definition.name);
      return await memories.open(MAIN_AGENT, definition);
    },
    close: () => closeAll([() => running.close(), () => teams?.close(), () => messaging.close()]),
  };
}

export type OpenAgents = ReturnType<typeof openAgents>;

/** Lets an agent stop its descendants, and the main agent all agents. */
function stopsAgents(runtime: AgentRuntime, teams: OpenTeams | undefined): StopsAgents {
  return {
    stop(id, { agent }) {
      const task = runtime.roster.find(id);
      const isOwn = agent.depth === 0 || task?.ref.path.startsWith(`${agent.path}/`) === true;
      const apart = task === undefined && agent.depth === 0 ? teams?.side.stop?.(id) : undefined;
      if (apart !== undefined) return { ...apart, had: false };
      if (task === undefined || !isOwn) return undefined;
      const had = task.report() !== undefined;
      if (!had) runtime.cancel(task, 'parent', `${agent.path} stopped it`);
      return { id: task.id, description: task.description, had };
    },
  };
}

/** Counts the usage of earlier processes, once. */
function recallOnce({ emit }: SessionConfig, { log, model }: AgentParts) {
  const { store, history } = log;
  // Listed before this process starts any agents of its own.
  const earlierAgents = history.resumed ? store.agents(history.sessionId) : Promise.resolve([]);
  // The error is reported to the caller that awaits the list.
  earlierAgents.catch(() => undefined);
  let recalling: Promise<void> | undefined;
  let isTold = false;
  const spending = async (): Promise<void> => {
    if (!history.resumed) return;
    recalling ??= restoreSpending(model, { store, history, earlierAgents });
    await recalling;
  };
  return {
    /** Adds the usage of earlier processes to budgets and costs. */
    spending,
    /** The same when no limit depends on it: an unreadable transcript is reported and counts as zero. */
    async costs(): Promise<void> {
      try {
        await spending();
      } catch (thrown) {
        if (isTold) return;
        isTold = true;
        const text = `the cost of earlier parts of this session is not known: ${messageOf(thrown)}`;
        emit({ type: 'notice', level: 'warning', text });
      }
    },
  };
}
