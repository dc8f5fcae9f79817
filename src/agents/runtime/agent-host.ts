import type { SessionBudget } from '../../budget/session-budget.js';
import type { OpenHow } from '../../budget/tree.js';
import { createLimits } from '../../budget/units.js';
import type { SessionConfig } from '../../config/session-config.js';
import {
  type Log,
  openingFacts,
  type SessionEnvironment,
} from '../../config/session-environment.js';
import { type CompactEnvironment, compactEnvironment } from '../../context/compaction/trigger.js';
import { instructionsReminder } from '../../context/instructions/reminder.js';
import type { OpenInstructions } from '../../context/instructions/session-instructions.js';
import { reminder } from '../../context/prompt/reminders.js';
import { messageOf } from '../../errors.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { InputMessage, LoopEvent, StopReason } from '../../loop/types.js';
import type { OpenServersOfSession } from '../../mcp/session/session-servers.js';
import type { SystemBlock } from '../../model/client.js';
import type { Permissions } from '../../permissions/gate/open.js';
import type { Clock } from '../../platform/clock.js';
import { createAppendLog } from '../../platform/fs/append-log.js';
import { homeDirectory, join } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { Recorder, type RecorderOptions } from '../../session/recorder.js';
import { SKILL_TOOL } from '../../skills/grants/approval.js';
import type { OpenSkills } from '../../skills/session-skills.js';
import type { CloneableReadState } from '../../tools/files/read-state.js';
import type { Invoke } from '../../tools/invocation.js';
import type { ToolPool } from '../../tools/pool.js';
import type { Workspace } from '../../tools/tool.js';
import { createWorkspace } from '../../tools/workspace.js';
import { VERSION } from '../../version.js';
import type { Agent } from '../core/agent.js';
import type { Caller, Calls } from '../core/calls.js';
import type { ModelChoices } from '../core/model-choice.js';
import type { ModelLayer } from '../core/model-layer.js';
import type { ToolRuntime } from '../core/tool-runtime.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { AGENT_TOOL, bareName } from '../definitions/tools.js';
import type { ToolRestrictions } from '../limits/tool-restrictions.js';
import { createResumeRules, type ResumeAsks, type ResumeRules } from '../limits/type-rules.js';
import { childSystem, siblingsReminder } from './agent-context.js';
import { type ChildHooks, childHooks } from './agent-hooks.js';
import type { ChildServers } from './agent-servers.js';
import type { ConversationSnapshot } from './fork.js';
import type { AgentMemories } from './memory.js';
import type {
  AgentRun,
  ChildBudget,
  ChildFacts,
  ChildOutput,
  ChildOutputLog,
  ChildPlace,
  SpawnRequest,
} from './run.js';

export interface AgentHostParts {
  readonly log: Log;
  readonly hooks: OpenHooks;
  readonly model: ModelLayer;
  toolRuntime(): ToolRuntime;
  release(agent: AgentRef): void;
  readonly instructions: OpenInstructions;
  readonly skills: OpenSkills;
  readonly mcp: OpenServersOfSession | undefined;
  readonly fences: ToolRestrictions;
  /** What the agents that run work with, and where, by their ids. */
  readonly working: Map<string, Pick<Caller, 'pool' | 'workspace'>>;
  readonly memories: AgentMemories;
  readonly asks: Pick<ResumeAsks, 'takeAsked'>;
  /** What the agents that run send, by their ids. */
  readonly snapshots: Map<string, ConversationSnapshot>;
  /** The kinds of agents that this one with these tools may start. */
  listing(pool: ToolPool, agent: AgentRef): Promise<string | undefined>;
  /** Those that run. */
  running(): readonly AgentRun[];
  /** What an agent has recorded just now. */
  heard(event: LoopEvent | SessionNews): void;
  /** Undefined: it works where its parent does. */
  workspaceFor(
    request: SpawnRequest,
    ref: AgentRef,
    parent: Workspace,
  ): Promise<Result<ChildPlace, string> | undefined>;
  serversFor(
    ref: AgentRef,
    definition: AgentDefinition,
    signal: AbortSignal,
  ): Promise<ChildServers | undefined>;
}

/** What a session lends to the agents that work in it. */
export class AgentHost {
  readonly clock: Clock;
  readonly env: SessionEnvironment['env'];
  /** The main agent's place. */
  readonly workspace: Workspace;
  readonly provider: string;
  readonly choices: ModelChoices;
  readonly client: ModelLayer['clientFor'];
  /** Of the agents that run, the main one too, by their ids. */
  readonly snapshots: Map<string, ConversationSnapshot>;
  readonly fences: ToolRestrictions;
  readonly hooks: ChildHooks;
  readonly tell: (text: string) => void;
  /** The definition as it is to be used here. */
  readonly equip: AgentMemories['equip'];
  readonly serversFor: AgentHostParts['serversFor'];
  readonly forbidsResume: ResumeRules['forbidsResume'];
  /** What ends everybody: the budget of the session. */
  readonly sessionEnds: () => StopReason | undefined;
  readonly #config: SessionConfig;
  readonly #environment: SessionEnvironment;
  readonly #parts: AgentHostParts;
  /** Where agents write what they say; made for the first of them. */
  #outputs: string | undefined;

  constructor(config: SessionConfig, environment: SessionEnvironment, parts: AgentHostParts) {
    const { env, workspace } = environment;
    const { model, hooks, toolRuntime } = parts;
    this.#config = config;
    this.#environment = environment;
    this.#parts = parts;
    this.clock = environment.clock;
    this.env = env;
    this.workspace = workspace;
    this.provider = model.client.provider;
    this.choices = model.choices;
    this.client = model.clientFor;
    this.snapshots = parts.snapshots;
    this.fences = parts.fences;
    this.hooks = childHooks(config, environment, parts);
    this.tell = hooks.tell;
    this.equip = parts.memories.equip;
    this.serversFor = parts.serversFor;
    this.forbidsResume = createResumeRules({
      toolOf: ({ id }) => (parts.snapshots.get(id)?.pool ?? this.pool).resolve(AGENT_TOOL),
      fences: parts.fences,
      asks: parts.asks,
      fs: environment.fs,
      home: homeDirectory(env),
      workspace,
      rules: (agent) => toolRuntime().permissions.rules(agent),
      mode: (agent) => toolRuntime().permissions.mode(agent),
    }).forbidsResume;
    const spent = createLimits({
      maxTurns: undefined,
      maxBudgetUsd: config.maxBudgetUsd,
      spentUsd: () => model.ledger.sinceStart().costUsd,
      unpricedCalls: () => model.ledger.sinceStart().unpricedRequests,
      stuck: () => undefined,
    });
    this.sessionEnds = () => spent(0);
  }

  get #sessionId(): string {
    return this.#parts.log.history.sessionId;
  }
  /** What all agents choose from. */
  get pool(): ToolPool {
    return this.#parts.toolRuntime().builtins.shared;
  }
  get permissions(): Permissions {
    return this.#parts.toolRuntime().permissions;
  }
  /** What the main agent has read. */
  get readState(): CloneableReadState {
    return this.#parts.toolRuntime().calls.readState;
  }

  /** The environment as compaction goes by it, with what settings say now. */
  compactEnv(): CompactEnvironment {
    return compactEnvironment(this.env, this.#environment.settings.values);
  }

  /** What it has cost by itself; undefined where a price is not known. */
  costOf({ path }: AgentRef): number | undefined {
    const own = this.#parts.model.ledger.of(path);
    return own.unpricedRequests > 0 ? undefined : own.costUsd;
  }

  invoke(caller: Parameters<Calls['ofAgent']>[0]): Invoke {
    this.#parts.working.set(caller.agent.id, caller);
    return this.#parts.toolRuntime().calls.ofAgent(caller);
  }

  /** Whether a call of an agent surely changes nothing. */
  readsOnly(...asked: Parameters<Calls['readsOnly']>): ReturnType<Calls['readsOnly']> {
    return this.#parts.toolRuntime().calls.readsOnly(...asked);
  }

  /** Its transcript, ready for the first line. */
  record(
    ref: AgentRef,
    place: Pick<RecorderOptions, 'cwd' | 'parentUuid' | 'usedUuids'>,
  ): Recorder {
    return new Recorder({
      store: this.#parts.log.store,
      sessionId: this.#sessionId,
      clock: this.clock,
      version: VERSION,
      entrypoint: this.#config.entrypoint,
      agentId: ref.id,
      ...place,
      gitBranch: this.#environment.gitBranch,
    });
  }

  output({ id, background }: AgentRef): ChildOutput {
    const { store } = this.#parts.log;
    const { persist, store: other } = this.#config;
    // Whoever waits for an agent gets its report with the result: nobody is sent to a file meanwhile.
    if (!background && persist && other === undefined)
      return { path: store.transcriptPath(this.#sessionId, id) };
    this.#outputs ??= store.spillDirectory(this.#sessionId);
    const path = join(this.#outputs, `${id}.output`);
    return { path, log: outputLog(path, this.tell) };
  }

  system({ definition, place, model }: ChildFacts): Promise<readonly SystemBlock[]> {
    return childSystem(definition, {
      ...openingFacts(this.#environment, model),
      cwd: place.workspace.cwd,
      additionalDirectories: place.isolation === undefined ? this.workspace.roots.slice(1) : [],
    });
  }

  /** What stands before the task; of one that is gone on with, nothing more. */
  opening(child: ChildFacts, { again }: { again: boolean }): Promise<readonly InputMessage[]> {
    const { ref, pool, place } = child;
    // Skills that it is given from the start are its own, too.
    this.#parts.working.set(ref.id, { pool, workspace: place.workspace });
    return opening(this.#parts, child, { again, uuid: this.clock.uuid });
  }

  readonly emit = (event: LoopEvent | SessionNews): void => {
    this.#parts.heard(event);
    this.#config.emit(event);
  };

  /** Ends and forgets all that is kept for an agent elsewhere: shells, lists, files. */
  async release(ref: AgentRef): Promise<void> {
    const { working, memories, release, toolRuntime, log } = this.#parts;
    working.delete(ref.id);
    memories.close(ref);
    release(ref);
    const { builtins } = toolRuntime();
    await builtins.release(ref.id);
    // What becomes of a place of its own goes by what it wrote: who closes that place forgets it.
    if (ref.workspace === undefined) builtins.ledger.forget(ref.path);
    log.store.release(this.#sessionId, ref.id);
  }

  /** The budget of an agent, under those of everybody above it. Undefined: nothing is limited. */
  budgetFor(
    ref: AgentRef,
    definition: AgentDefinition,
    how: OpenHow,
  ): Result<ChildBudget, string> | undefined {
    const opened = this.#parts.model.budget?.open(ref, definition.budget, how);
    const over = opened?.ok === true ? opened.value.signal : undefined;
    if (opened?.ok !== true || over === undefined) return opened;
    return ok({ ...opened.value, until: (signal) => AbortSignal.any([signal, over]) });
  }

  /** A workspace of its own at the place where the parent is, or one that is made for it. */
  async placeFor(
    request: SpawnRequest,
    ref: AgentRef,
    parent: Workspace,
  ): Promise<Result<ChildPlace, string>> {
    const made = await this.#parts.workspaceFor(request, ref, parent);
    if (made !== undefined) return made;
    const { isolation, definition, reopen } = request;
    const wanted = reopen ?? isolation ?? definition.isolation ?? definition.workspace.kind;
    // fail-closed: work that was to be kept apart is not done in the midst of everything.
    if (wanted !== 'inherit') return err(`its workspace (${wanted}) cannot be made here`);
    const own = createWorkspace(parent.roots);
    own.setCwd(parent.cwd);
    return ok({ workspace: own, finish: async () => ({}) });
  }
}

/** The main agent, whose time counts while it runs. */
export function heldTo(budget: SessionBudget | undefined, agent: Agent): Agent {
  if (budget === undefined) return agent;
  return {
    ...agent,
    run: (start, signal) => budget.main.runAgent(() => agent.run(start, signal)),
  };
}

/** What an agent is told before its task. */
async function opening(
  { instructions, skills, hooks, mcp, listing, memories, running }: AgentHostParts,
  { definition, pool, ref, contextWindow, signal }: ChildFacts,
  { again, uuid }: { readonly again: boolean; uuid(): string },
): Promise<readonly InputMessage[]> {
  const shown = !definition.omitInstructions;
  instructions.admit(ref.id, { shown });
  const notes = await memories.open(ref, definition);
  if (again) return [];
  const loaded = shown ? await instructions.openFor(ref) : undefined;
  // Notes of the main agent for itself are not for others.
  const files = (loaded?.files ?? []).filter(({ scope }) => scope !== 'memory');
  const hasSkills = pool.resolve(SKILL_TOOL) !== undefined;
  const canSpeak = pool.resolve('SendMessage') !== undefined;
  const siblings = canSpeak ? siblingsReminder(running(), ref) : undefined;
  const texts = [
    instructionsReminder(files, { occasion: 'start' }),
    notes,
    hasSkills ? await listedSkills(skills, contextWindow, hooks.tell) : undefined,
    // Who is told by name that it may start others is told whom.
    definition.tools?.some((entry) => bareName(entry) === AGENT_TOOL) === true
      ? await listing(pool, ref)
      : undefined,
    mcp?.announcement(pool),
    siblings === undefined ? undefined : reminder(siblings),
    ...(await skills.preload(definition.skills, ref, signal)).map(reminder),
  ].filter((text) => text !== undefined);
  if (texts.length === 0) return [];
  return [{ uuid: uuid(), content: texts.map((text) => ({ type: 'text', text })), meta: true }];
}

async function listedSkills(
  skills: OpenSkills,
  contextWindow: number,
  tell: (text: string) => void,
): Promise<string | undefined> {
  try {
    return await skills.listing(contextWindow, { quiet: true });
  } catch (thrown) {
    tell(`the skills could not be listed: ${messageOf(thrown)}`);
    return undefined;
  }
}

const OUTPUT_PAUSE_MS = 50;

/** A file that grows with what an agent says. Losing it loses nothing that counts. */
function outputLog(path: string, tell: (text: string) => void): ChildOutputLog {
  const log = createAppendLog(path);
  let isLost = false;
  let waiting: string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const lines = waiting;
    waiting = [];
    if (isLost || lines.length === 0) return;
    try {
      log.append(lines);
    } catch (thrown) {
      isLost = true;
      tell(messageOf(thrown));
    }
  };
  return {
    append(text) {
      if (isLost || text === '') return;
      for (const line of text.split('\n')) waiting.push(line);
      // People do not read faster, and many agents write a lot.
      timer ??= setTimeout(flush, OUTPUT_PAUSE_MS);
    },
    close() {
      flush();
      log.close();
    },
  };
}
