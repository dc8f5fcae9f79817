import type { SessionBudget } from '../../budget/session-budget.js';
import type { OpenHow } from '../../budget/tree.js';
import type { CompactEnvironment } from '../../context/compaction/trigger.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import type { StopHooks } from '../../hooks/events/stop.js';
import type { HookNotes } from '../../hooks/session/hook-notes.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { InputMessage, LoopDeps, LoopEvent, StopReason } from '../../loop/types.js';
import type { ModelClient, SystemBlock } from '../../model/client.js';
import type { Permissions } from '../../permissions/gate/open.js';
import type { GateVerdict } from '../../permissions/gate/types.js';
import type { Clock } from '../../platform/clock.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { ToolUseBlock } from '../../protocol/content.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { Recorder } from '../../session/recorder.js';
import type { CloneableReadState } from '../../tools/files/read-state.js';
import type { Invoke } from '../../tools/invocation.js';
import type { ToolPool } from '../../tools/pool.js';
import type { AnyTool, Workspace } from '../../tools/tool.js';
import { createWorkspace } from '../../tools/workspace.js';
import type { Agent } from '../core/agent.js';
import type { CompactionHooks } from '../core/compaction.js';
import type { ModelChoices } from '../core/model-choice.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { GuardHooks } from '../limits/inherited-hooks.js';
import type { ToolRestrictions } from '../limits/tool-restrictions.js';
import type { ConversationSnapshot } from './fork.js';
import type { ChildBudget, ChildOutput, ChildPlace, SpawnRequest } from './run.js';

/** The servers that an agent brings. */
export interface ChildServers {
  readonly tools: readonly AnyTool[];
  /** For people: what could not be connected. */
  readonly notes: readonly string[];
  close(): Promise<void>;
}

/** Whose calls they are, and how they are to be made. */
export interface ChildTools {
  readonly ref: AgentRef;
  readonly pool: ToolPool;
  readonly workspace: Workspace;
  readonly readState: CloneableReadState;
  /** Nobody is asked about its calls. */
  readonly unattended: boolean;
  onVerdict(verdict: GateVerdict): void;
}

/** All that a session lends to the agents that work in it. */
export interface AgentHost {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The environment as compaction goes by it, with what settings say now. */
  compactEnv(): CompactEnvironment;
  readonly provider: string;
  readonly choices: Pick<ModelChoices, 'other' | 'current'>;
  client(ref: AgentRef): ModelClient;
  /** What it has cost by itself; undefined where a price is not known. */
  costOf(ref: AgentRef): number | undefined;
  pool(): ToolPool;
  /** Of the agents that run, the main one too, by their ids. */
  readonly snapshots: Map<string, ConversationSnapshot>;
  invoke(toolRuntime: ChildTools): Invoke;
  /** Whether a call of an agent surely changes nothing. */
  readsOnly(
    agent: AgentRef,
    workspace: Workspace,
    pool: ToolPool,
  ): (call: ToolUseBlock) => Promise<boolean>;
  /** Its transcript, ready for the first line. */
  record(ref: AgentRef, place: RecordPlace): Promise<Recorder>;
  output(ref: AgentRef): ChildOutput;
  readonly permissions: Pick<Permissions, 'admit' | 'stuck' | 'nextAnswer' | 'mode'>;
  readonly fences: ToolRestrictions;
  /** The main agent's place. */
  readonly workspace: Workspace;
  readonly readState: CloneableReadState;
  /** What ends everybody: the budget of the session. */
  sessionEnds(): StopReason | undefined;
  system(child: ChildFacts): Promise<readonly SystemBlock[]>;
  /** What stands before the task; of one that is gone on with, nothing more. */
  opening(child: ChildFacts, how: { readonly again: boolean }): Promise<readonly InputMessage[]>;
  readonly hooks: ChildHooks;
  emit(event: LoopEvent | SessionNews): void;
  tell(text: string): void;
  /** Ends and forgets all that is kept for an agent elsewhere: shells, lists, files. */
  release(ref: AgentRef): Promise<void>;
  /** The definition as it is to be used here. */
  equip(definition: AgentDefinition): Promise<AgentDefinition>;
  /** Absent: it works where its parent does. */
  workspaceFor?(
    request: SpawnRequest,
    ref: AgentRef,
    parent: Workspace,
  ): Promise<Result<ChildPlace, string> | undefined>;
  budgetFor?(ref: AgentRef, definition: AgentDefinition, how: OpenHow): Result<ChildBudget, string>;
  serversFor?(
    ref: AgentRef,
    definition: AgentDefinition,
    signal: AbortSignal,
  ): Promise<ChildServers | undefined>;
}

export interface RecordPlace {
  readonly cwd: () => string;
  /** Of a conversation that is gone on with. */
  readonly parentUuid?: string | null;
  readonly usedUuids?: Iterable<string>;
}

/** A new agent, before its first word. */
export interface ChildFacts {
  readonly ref: AgentRef;
  readonly definition: AgentDefinition;
  readonly pool: ToolPool;
  readonly place: ChildPlace;
  readonly model: string;
  readonly contextWindow: number;
  readonly signal: AbortSignal;
}

/** What hooks see and do around an agent. */
export interface ChildHooks {
  start(scene: Scene): Promise<{ readonly contexts: readonly string[] }>;
  /** The stop hooks of one agent. */
  stop(): StopHooks;
  /** Puts the hooks of a definition in force, and those of agents above it. Returns what ends it. */
  scoped(ref: AgentRef, definition: AgentDefinition, above: readonly GuardHooks[]): () => void;
  /** Those of the main agent that judge the calls of all. */
  guards(): readonly GuardHooks[];
  afterBatch(scene: (signal: AbortSignal) => Scene): NonNullable<LoopDeps['afterBatch']>;
  compaction(scene: (signal: AbortSignal) => Scene, child: ChildFacts): CompactionHooks;
  readonly notes: HookNotes;
  transcriptOf(ref: AgentRef): string;
}

/** A workspace of its own at the place where the parent is, or one that is made for it. */
export async function placeFor(
  host: Pick<AgentHost, 'workspaceFor'>,
  { request, ref, workspace }: { request: SpawnRequest; ref: AgentRef; workspace: Workspace },
): Promise<Result<ChildPlace, string>> {
  const made = await host.workspaceFor?.(request, ref, workspace);
  if (made !== undefined) return made;
  const { isolation, definition, reopen } = request;
  const wanted = reopen ?? isolation ?? definition.isolation ?? definition.workspace.kind;
  // fail-closed: work that was to be kept apart is not done in the midst of everything.
  if (wanted !== 'inherit') return err(`its workspace (${wanted}) cannot be made here`);
  const own = createWorkspace(workspace.roots);
  own.setCwd(workspace.cwd);
  return ok({ workspace: own, finish: async () => ({}) });
}

/** The main agent, whose time counts while it runs. */
export function heldTo(budget: SessionBudget | undefined, agent: Agent): Agent {
  if (budget === undefined) return agent;
  return {
    ...agent,
    run: (start, signal) => budget.main.runAgent(() => agent.run(start, signal)),
  };
}

/** The budget of each agent, under those of everybody above it. */
export function childBudgets(budget: SessionBudget): NonNullable<AgentHost['budgetFor']> {
  return (ref, definition, how) => {
    const opened = budget.open(ref, definition.budget, how);
    if (!opened.ok) return opened;
    const { signal: over } = opened.value;
    if (over === undefined) return opened;
    return ok({ ...opened.value, until: (signal) => AbortSignal.any([signal, over]) });
  };
}
