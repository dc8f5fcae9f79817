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

/** A request to have work done by another agent. */
export interface SpawnRequest {
  readonly definition: AgentDefinition;
  /** Three to five words. */
  readonly description: string;
  readonly prompt: string;
  /** Follows the prompt, in the same message. */
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

/** All that is decided about an agent before it starts. */
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
  /** What those above it are held to, the highest first. */
  readonly above: readonly AgentLimits[];
  /** The same with its own limits: what holds those that it starts. */
  readonly below: readonly AgentLimits[];
  /** Hooks of those above it that judge its calls too. */
  readonly guards: readonly GuardHooks[];
  /** Those and its own: what judges the calls of those that it starts. */
  readonly guardsBelow: readonly GuardHooks[];
  readonly startedAt: number;
  /** Set when an ended agent is resumed. */
  readonly earlier?: EarlierTalk;
  /** Set for a copy: what it has of its original. Messages up to the call that made it, none when it is resumed. */
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

/** An agent that was started: it runs, or has ended and can be asked for its report. */
export class AgentRun {
  readonly plan: AgentRunPlan;
  /** It has ended, and this is its report. */
  readonly ended: Promise<AgentReport>;
  /** It has asked its model for the first time, or has ended before. */
  readonly atWork: Promise<void>;
  /** False once it has decided to leave: whatever is said from then on is said too late. */
  isListening = true;
  /** Why it was made to stop from outside. */
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

  /** `a` and hexadecimal digits. */
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
  /** What it says and does, as text, while it runs. */
  get outputFile(): string {
    return this.plan.output.path;
  }
  get model(): string {
    return this.plan.choice.model;
  }
  /** Aborts when it is made to stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  /** It works under restrictions that cannot be put up again: it ends for good. */
  get once(): boolean {
    const { admit, stays } = this.plan.request;
    return admit !== undefined || stays !== undefined;
  }

  /** Undefined while it runs. */
  report(): AgentReport | undefined {
    return this.#report;
  }

  /** It asks its model for the first time; said again it means nothing. */
  begin(): void {
    this.#begin();
  }

  /** Said to it between two of its turns. False: it has ended, or is about to. */
  hear(message: InputMessage): boolean {
    if (!this.isListening) return false;
    this.#waiting.push(message);
    this.#onMessage?.();
    return true;
  }

  /** What was said to it since it last listened. */
  take(): readonly InputMessage[] {
    return this.#waiting.splice(0);
  }

  /** Resolves once something was said that it has not listened to, or the signal aborts. */
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

/** What one agent says to another: neither a person's word nor the program's. */
export function agentMessage(text: string, from: AgentRef): string {
  return `<agent-message from="${from.path}">\n${escapeReport(text)}\n</agent-message>`;
}

/** Where an agent works. */
export interface ChildPlace {
  readonly workspace: Workspace;
  /** What it has seen of the files there; absent: what its parent has. */
  readonly readState?: CloneableReadState;
  readonly isolation?: 'worktree' | 'scratch';
  /** What the agent's reference says about it: what keeps it there goes by this. */
  readonly ref?: Pick<AgentRef, 'isolation' | 'workspace'>;
  /** What the agent is told about the place. */
  readonly notes?: readonly string[];
  /** The agent has ended: what it left there. `text`: its last answer. */
  finish(text?: string): Promise<Pick<AgentReport, 'worktree' | 'strays'>>;
}

/** Where to look at what an agent does while it runs. */
export interface ChildOutput {
  readonly path: string;
  /** A file that grows with what the agent says. Absent: the path is that of its transcript, which says it all. */
  readonly log?: { append(text: string): void; close(): void };
}
