import type { InputMessage } from '../../loop/types.js';
import type { SystemBlock } from '../../model/client.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Message, UserBlock } from '../../protocol/content.js';
import type { CloneableReadState } from '../../tools/files/read-state.js';
import type { ToolPool } from '../../tools/pool.js';
import type { ModelChoice } from '../core/agent.js';
import type { ModelLimits } from '../core/model-choice.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { GuardHooks } from '../limits/inherited-hooks.js';
import type { Hold } from '../limits/inherited-limits.js';
import type { ChildBudget, ChildOutput, ChildPlace } from './agent-host.js';
import type { Cancelled } from './outcome.js';
import type { Stays } from './task.js';

/** All that is decided about an agent before it starts. */
export interface AgentRunPlan {
  readonly ref: AgentRef;
  readonly definition: AgentDefinition;
  readonly description: string;
  readonly prompt: string;
  /** Stands behind the prompt, in the same message. */
  readonly beside: readonly UserBlock[];
  readonly contexts: readonly string[];
  readonly place: ChildPlace;
  readonly readState: CloneableReadState;
  readonly pool: ToolPool;
  readonly choice: ModelChoice;
  readonly limits: ModelLimits;
  readonly budget: ChildBudget | undefined;
  readonly output: ChildOutput;
  /** What those above it are held to, the highest first. */
  readonly above: readonly Hold[];
  /** Hooks of those above it that judge its calls too. */
  readonly guards: readonly GuardHooks[];
  /** It works under restrictions that nobody could put up again: it ends for good. */
  readonly once: boolean;
  /** Set for one that waits to be spoken to instead of ending. */
  readonly stays?: Stays;
  /** Set when an ended agent is gone on with. */
  readonly earlier?: EarlierTalk;
  /** Set for a copy of another agent. */
  readonly fork?: ForkedMind;
}

/** What a copy has of its original. */
export interface ForkedMind {
  readonly system: readonly SystemBlock[];
  /** Up to the call that made it, its result included; empty where an earlier talk takes its place. */
  readonly messages: readonly Message[];
}

export interface EarlierTalk {
  readonly messages: readonly Message[];
  readonly parentUuid: string | null;
  readonly usedUuids: Iterable<string>;
}

/** What others do to a running agent. */
export interface AgentMailbox {
  /** It asks its model for the first time; said again it means nothing. */
  atWork(): void;
  readonly signal: AbortSignal;
  cancelled(): Cancelled | undefined;
  /** What was said to it since it last listened. */
  take(): readonly InputMessage[];
  /** Resolves once something was said that it has not listened to, or the signal aborts. */
  heard(signal: AbortSignal): Promise<void>;
  /** It has decided to leave: whatever is said from now on is said too late. */
  close(): void;
}
