import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import type { OpenInstructions } from '../../context/instructions/session-instructions.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import type { Result } from '../../lib/result.js';
import type { InputMessage, LoopEvent } from '../../loop/types.js';
import type { OpenServersOfSession } from '../../mcp/session/session-servers.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { OpenSkills } from '../../skills/session-skills.js';
import type { ToolPool } from '../../tools/pool.js';
import type { Workspace } from '../../tools/tool.js';
import type { Caller } from '../core/calls.js';
import type { ModelLayer } from '../core/model-layer.js';
import type { ToolRuntime } from '../core/tool-runtime.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { Deliveries } from '../delivery/deliveries.js';
import type { ToolRestrictions } from '../limits/tool-restrictions.js';
import type { ResumeRules } from '../limits/type-rules.js';
import type { ChildServers } from './agent-servers.js';
import type { ConversationSnapshot } from './fork.js';
import type { AgentMemories } from './memory.js';
import type { EarlierAgent } from './resume.js';
import type { Roster } from './roster.js';
import type { ChildPlace, SpawnRequest } from './run.js';
import type { SpawnLimits } from './spawn-limits.js';

/** The parts of a session that agents use. */
export interface AgentHost extends ResumeRules {
  readonly config: SessionConfig;
  readonly environment: SessionEnvironment;
  readonly log: Log;
  readonly hooks: OpenHooks;
  readonly model: ModelLayer;
  readonly instructions: OpenInstructions;
  readonly skills: OpenSkills;
  readonly mcp: OpenServersOfSession | undefined;
  readonly fences: ToolRestrictions;
  readonly memories: AgentMemories;
  readonly deliveries: Pick<Deliveries, 'started' | 'ended' | 'deliver'>;
  readonly roster: Roster;
  readonly working: Map<string, Pick<Caller, 'pool' | 'workspace'>>;
  /** Request snapshots of running agents including the main agent, by id. */
  readonly snapshots: Map<string, ConversationSnapshot>;
  /** Throws before the gate is open. */
  toolRuntime(): ToolRuntime;
  limits(): SpawnLimits;
  /** Lets all features free what they keep for an ended agent. */
  release(agent: AgentRef): void;
  /** Lists the types that this agent with these tools may start. */
  listing(pool: ToolPool, agent: AgentRef): Promise<string | undefined>;
  /** Called for every event that an agent records. */
  heard(event: LoopEvent | SessionNews): void;
  tellMain(message: InputMessage): void;
  find(type: string): Promise<AgentDefinition | undefined>;
  earlier(id: string): Promise<EarlierAgent | undefined>;
  /** Undefined: the agent works where its parent does. */
  workspaceFor(
    request: SpawnRequest,
    ref: AgentRef,
    parent: Workspace,
  ): Promise<Result<ChildPlace, string> | undefined>;
  serversFor(
    ref: AgentRef,
    definition: AgentDefinition,
    signal: AbortSignal,
  ): Promise<ChildServers>;
}
