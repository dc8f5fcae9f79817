import type { AgentSpending } from '../../budget/spending.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import type { InputMessage } from '../../loop/types.js';
import type { SystemBlock } from '../../model/client.js';
import { mayHaveManyListeners } from '../../platform/host.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Message, UserBlock } from '../../protocol/content.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { CloneableReadState } from '../../tools/files/read-state.js';
import type { ToolPool } from '../../tools/pool.js';
import type { Workspace } from '../../tools/tool.js';
import type { ModelChoice } from '../core/agent.js';
import type { ModelLimits } from '../core/model-choice.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { GuardHooks } from '../limits/inherited-hooks.js';
import type { AgentLimits } from '../limits/limits.js';
import { escapeReport } from './escape-tags.js';
import type { AgentReport, Cancelled } from './report.js';

export interface SpawnRequest {
  readonly definition: AgentDefinition;
  /** Three to five words. */
  readonly description: string;
  readonly prompt: string;
  /** Follows the prompt in the same message. */
  readonly beside?: readonly UserBlock[];
  readonly parent: AgentRef;
  /** The call that requests the agent. */
  readonly toolUseId: string;
  /** The name by which other agents may address it. */
  readonly name?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly background: boolean;
  readonly isolation?: 'worktree';
  /** The directory of its earlier workspace, opened again. */
  readonly reopen?: string;
  /** The agent is a fork of its parent; `definition` is the original's then. */
  readonly fork?: true;
  readonly contexts?: readonly string[];
  /** Called with the new agent before it starts; a text refuses it. */
  admit?(child: AgentRef): string | undefined;
  /** Set when the id is known in advance: `a` and hexadecimal digits. */
  readonly id?: string;
  /** A mode that replaces the session's. */
  mode?(): PermissionMode;
  /** Keeps the agent alive when it has nothing to do. */
  readonly stays?: Stays;
  /** Ends foreground agents; background ones have a signal of their own. */
  readonly signal: AbortSignal;
}

/** What an agent does when it has nothing left to do. */
export type RestMove =
  | { readonly kind: 'go-on'; readonly text: string }
  /** It waits for a message. */
  | { readonly kind: 'rest' }
  /** It ends, with a reason if a hook ended it. */
  | { readonly kind: 'leave'; readonly stop?: string };

/** Lets an agent wait for messages instead of ending. */
export interface Stays {
  beforeRest(scene: Scene, lastText: string): Promise<RestMove>;
  /** Called when a message arrives and the agent continues. */
  woken(): void;
}

/** Everything that is decided before an agent starts. */
export interface AgentRunPlan {
  readonly request: SpawnRequest;
  readonly ref: AgentRef;
  readonly place: ChildPlace;
  readonly readState: CloneableReadState;
  readonly pool: ToolPool;
  readonly choice: ModelChoice;
  readonly limits: ModelLimits;
  readonly budget: AgentSpending;
  readonly output: ChildOutput;
  /** The limits of its ancestors, the highest first. */
  readonly above: readonly AgentLimits[];
  /** The same with its own limits, for agents that it starts. */
  readonly below: readonly AgentLimits[];
  /** Hooks of its ancestors that judge its calls, too. */
  readonly guards: readonly GuardHooks[];
  /** The same with its own hooks, for agents that it starts. */
  readonly guardsBelow: readonly GuardHooks[];
  readonly startedAt: number;
  readonly earlier?: EarlierTalk;
  /** Set for a fork: the prompt of its original, and the messages up to the forking call (none when resumed). */
  readonly fork?: {
    readonly system: readonly SystemBlock[];
    readonly messages: readonly Message[];
  };
}

export interface EarlierTalk {
  readonly messages: readonly Message[];
  readonly parentUuid: string | null;
  readonly usedUuids: Iterable<string>;
}

/** A started agent, which runs or has ended with a report. */
export class AgentRun {
  readonly plan: AgentRunPlan;
  /** Resolves with the report when the agent ends. */
  readonly ended: Promise<AgentReport>;
  /** Resolves when the agent first calls its model, or ends before. */
  readonly atWork: Promise<void>;
  /** False once it is ending: it will not read further messages. */
  isListening = true;
  cancelled: Cancelled | undefined;
  readonly #controller = new AbortController();
  readonly #outer = (): void => this.cancel('person', 'it was interrupted');
  #report: AgentReport | undefined;
  #settle: (report: AgentReport) => void = () => undefined;
  #begin: () => void = () => undefined;
  #waiting: InputMessage[] = [];
  #onMessage: (() => void) | undefined;

  constructor(plan: AgentRunPlan) {
    this.plan = plan;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.atWork = new Promise((resolve) => {
      this.#begin = resolve;
    });
    if (plan.ref.background) return;
    const { signal } = plan.request;
    if (signal.aborted) this.#outer();
    mayHaveManyListeners(signal);
    signal.addEventListener('abort', this.#outer, { once: true });
  }

  get id(): string {
    return this.plan.ref.id;
  }
  get ref(): AgentRef {
    return this.plan.ref;
  }
  get definition(): AgentDefinition {
    return this.plan.request.definition;
  }
  get description(): string {
    return this.plan.request.description;
  }
  /** A file with the agent's output while it runs. */
  get outputFile(): string {
    return this.plan.output.path;
  }
  get model(): string {
    return this.plan.choice.model;
  }
  /** Aborts when the agent is cancelled. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  /** It runs under restrictions that cannot be restored, so it cannot be resumed. */
  get once(): boolean {
    const { admit, stays } = this.plan.request;
    return admit !== undefined || stays !== undefined;
  }

  report(): AgentReport | undefined {
    return this.#report;
  }

  /** Called when it first calls its model; later calls have no effect. */
  begin(): void {
    this.#begin();
  }

  /** Queues a message for its next turn; false when it has ended or is ending. */
  hear(message: InputMessage): boolean {
    if (!this.isListening) return false;
    this.#waiting.push(message);
    this.#onMessage?.();
    return true;
  }

  take(): readonly InputMessage[] {
    return this.#waiting.splice(0);
  }

  /** Resolves when a message is queued or the signal aborts. */
  heard(now: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        now.removeEventListener('abort', done);
        this.#onMessage = undefined;
        resolve();
      };
      this.#onMessage = done;
      now.addEventListener('abort', done, { once: true });
      if (this.#waiting.length > 0 || now.aborted) done();
    });
  }

  cancel(by: Cancelled['by'], reason: string): void {
    if (this.#report !== undefined || this.signal.aborted) return;
    this.cancelled = { by, reason };
    this.#controller.abort(new Error(reason));
  }

  settle(report: AgentReport): void {
    this.isListening = false;
    this.plan.request.signal.removeEventListener('abort', this.#outer);
    this.#report = report;
    this.#settle(report);
    this.#begin();
  }
}

/** Wraps a message of another agent, so that it is not mistaken for a person's or the program's. */
export function agentMessage(text: string, from: AgentRef): string {
  return `<agent-message from="${from.path}">\n${escapeReport(text)}\n</agent-message>`;
}

export interface ChildPlace {
  readonly workspace: Workspace;
  /** The files it has read there; absent when it shares its parent's record. */
  readonly readState?: CloneableReadState;
  readonly isolation?: 'worktree' | 'scratch';
  /** The fields of the agent's reference that confine it to the workspace. */
  readonly ref?: Pick<AgentRef, 'isolation' | 'workspace'>;
  /** Notes for the agent about the workspace. */
  readonly notes?: readonly string[];
  /** Called at the agent's end with its last answer; returns what it left behind. */
  finish(text?: string): Promise<Pick<AgentReport, 'worktree' | 'outsideWrites'>>;
}

/** Where the agent's output can be read while it runs. */
export interface ChildOutput {
  readonly path: string;
  /** A file that grows with the agent's output; absent when the path is its transcript. */
  readonly log?: { append(text: string): void; close(): void };
}
