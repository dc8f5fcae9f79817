import type { Scene } from '../../hooks/dispatch/scene.js';
import type { Result } from '../../lib/result.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { UserBlock } from '../../protocol/content.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { AgentReport } from './report.js';

/** A wish to have work done by another agent. */
export interface SpawnRequest {
  readonly definition: AgentDefinition;
  /** Three to five words. */
  readonly description: string;
  readonly prompt: string;
  /** Stands behind the prompt, in the same message. */
  readonly beside?: readonly UserBlock[];
  readonly parent: AgentRef;
  /** The call that asks for it. */
  readonly toolUseId: string;
  /** By which others may address it. */
  readonly name?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly background: boolean;
  readonly isolation?: 'worktree';
  /** The directory that it had and goes back to. */
  readonly reopen?: string;
  /** It is a copy of its parent; `definition` stands for whatever that one is. */
  readonly fork?: true;
  /** Texts of hooks for the new agent. */
  readonly contexts?: readonly string[];
  /** Told of the new agent before it starts; a text: why it must not. */
  admit?(child: AgentRef): string | undefined;
  /** Known beforehand: `a` and hexadecimal digits. */
  readonly id?: string;
  /** A mode that it has in place of the session's. */
  mode?(): PermissionMode;
  /** It does not end when it has nothing to do. */
  readonly stays?: Stays;
  /** Inline agents end with it; background ones have a signal of their own. */
  readonly signal: AbortSignal;
}

/** What becomes of an agent that has nothing more to do. */
export type RestMove =
  | { readonly kind: 'go-on'; readonly text: string }
  /** It waits until somebody speaks to it. */
  | { readonly kind: 'rest' }
  /** It ends; with a reason when a hook wants it. */
  | { readonly kind: 'leave'; readonly stop?: string };

/** An agent that waits for others instead of ending. */
export interface Stays {
  beforeRest(scene: Scene, lastText: string): Promise<RestMove>;
  /** It was spoken to, and goes on. */
  woken(): void;
}

/** An agent that was started: it runs, or has ended and can be asked for its report. */
export interface AgentTask {
  /** `a` and hexadecimal digits. */
  readonly id: string;
  readonly ref: AgentRef;
  readonly definition: AgentDefinition;
  readonly description: string;
  readonly startedAt: number;
  /** What it says and does, as text, while it runs. */
  readonly outputFile: string;
  readonly model: string;
  /** It rests instead of ending: nobody can wait for its end. */
  readonly stays?: boolean;
  /** Undefined while it runs. */
  report(): AgentReport | undefined;
  readonly ended: Promise<AgentReport>;
  /** It has asked its model for the first time, or has ended before. */
  readonly atWork: Promise<void>;
  /** Said to it between two of its turns. False: it has ended. */
  say(text: string, from: AgentRef): boolean;
  cancel(by: 'person' | 'parent' | 'session', reason: string): void;
}

/** Starts an agent, or says why not: depth, number, budget, unknown tools. */
export type Spawn = (request: SpawnRequest) => Promise<Result<AgentTask, string>>;

/** All agents of a session, living and ended. */
export interface Roster {
  list(): readonly AgentTask[];
  /** By id, or by name where one living agent has it. */
  find(idOrName: string): AgentTask | undefined;
  running(): readonly AgentTask[];
  /** Agents that this one started, directly or not. */
  below(ref: AgentRef): readonly AgentTask[];
}
