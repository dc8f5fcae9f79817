import type { InputMessage } from '../../loop/types.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { escapeReport } from './escape-tags.js';
import type { Cancelled } from './outcome.js';
import type { AgentReport } from './report.js';
import type { AgentMailbox, AgentRunPlan } from './run-plan.js';
import type { AgentTask } from './task.js';

/** A task with the ends that only the runtime holds. */
export interface ChildTask extends AgentTask {
  readonly line: AgentMailbox;
  /** False: it has ended, or is about to. */
  hear(message: InputMessage): boolean;
  isListening(): boolean;
  settle(report: AgentReport): void;
}

export interface TaskParts {
  readonly startedAt: number;
  uuid(): string;
  /** Whoever ends this ends the agent. */
  readonly signal: AbortSignal | undefined;
}

export function createChildTask(order: TaskOrder, parts: TaskParts): ChildTask {
  return new RunningTask(order, parts);
}

type TaskOrder = Pick<
  AgentRunPlan,
  'ref' | 'definition' | 'description' | 'output' | 'choice' | 'stays'
>;

class RunningTask implements ChildTask {
  readonly ref: AgentRef;
  readonly definition: AgentTask['definition'];
  readonly description: string;
  readonly startedAt: number;
  readonly outputFile: string;
  readonly model: string;
  readonly stays?: boolean;
  readonly ended: Promise<AgentReport>;
  readonly line: TaskLine;
  readonly #parts: TaskParts;
  readonly #leave: (() => void) | undefined;
  #report: AgentReport | undefined;
  #settle: (report: AgentReport) => void = () => undefined;

  constructor(
    { ref, definition, description, output, choice, stays }: TaskOrder,
    parts: TaskParts,
  ) {
    this.ref = ref;
    this.definition = definition;
    this.description = description;
    this.startedAt = parts.startedAt;
    this.outputFile = output.path;
    this.model = choice.model;
    if (stays !== undefined) this.stays = true;
    this.line = new TaskLine();
    this.#parts = parts;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const { signal } = parts;
    const outer = (): void => this.cancel('person', 'it was interrupted');
    if (signal?.aborted === true) outer();
    else if (signal !== undefined) this.#leave = onAbort(signal, outer);
  }

  get id(): string {
    return this.ref.id;
  }

  get atWork(): Promise<void> {
    return this.line.begun;
  }

  report(): AgentReport | undefined {
    return this.#report;
  }

  hear(message: InputMessage): boolean {
    return this.line.hear(message);
  }

  isListening(): boolean {
    return this.line.isOpen;
  }

  say(text: string, from: AgentRef): boolean {
    return this.hear(saidBy(text, from, this.#parts.uuid()));
  }

  cancel(by: Cancelled['by'], reason: string): void {
    if (this.#report === undefined) this.line.cancel({ by, reason });
  }

  settle(report: AgentReport): void {
    this.line.close();
    this.#leave?.();
    this.#report = report;
    this.#settle(report);
    this.line.atWork();
  }
}

/** What is said and done to an agent that runs. */
class TaskLine implements AgentMailbox {
  isOpen = true;
  readonly #controller = new AbortController();
  #waiting: InputMessage[] = [];
  #listening: (() => void) | undefined;
  #cancelled: Cancelled | undefined;
  #isAtWork = false;
  /** Who waits for its beginning; mostly nobody does. */
  #begin: { readonly promise: Promise<void>; resolve(): void } | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get begun(): Promise<void> {
    if (this.#begin === undefined) {
      let resolve = (): void => undefined;
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#begin = { promise, resolve };
      if (this.#isAtWork) resolve();
    }
    return this.#begin.promise;
  }

  atWork(): void {
    this.#isAtWork = true;
    this.#begin?.resolve();
  }

  cancel(cancelled: Cancelled): void {
    if (this.signal.aborted) return;
    this.#cancelled = cancelled;
    this.#controller.abort(new Error(cancelled.reason));
  }

  cancelled(): Cancelled | undefined {
    return this.#cancelled;
  }

  hear(message: InputMessage): boolean {
    if (!this.isOpen) return false;
    this.#waiting.push(message);
    this.#listening?.();
    return true;
  }

  take(): readonly InputMessage[] {
    if (this.#waiting.length === 0) return NOTHING_SAID;
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  heard(now: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        now.removeEventListener('abort', done);
        this.#listening = undefined;
        resolve();
      };
      this.#listening = done;
      now.addEventListener('abort', done, { once: true });
      if (this.#waiting.length > 0 || now.aborted) done();
    });
  }

  close(): void {
    this.isOpen = false;
  }
}

const NOTHING_SAID: readonly InputMessage[] = Object.freeze([]);

/** By signal: those that end with it. Agents of one answer share a signal, and one listener to it. */
const ending = new WeakMap<AbortSignal, Set<() => void>>();

/** Returns what ends the waiting. */
function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const known = ending.get(signal);
  const listeners = known ?? new Set();
  if (known === undefined) {
    ending.set(signal, listeners);
    signal.addEventListener('abort', () => endAll(listeners), { once: true });
  }
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function endAll(listeners: ReadonlySet<() => void>): void {
  for (const one of listeners) one();
}

/** What one agent says to another: neither a person's word nor the program's. */
function saidBy(text: string, from: AgentRef, uuid: string): InputMessage {
  const quoted = `<agent-message from="${from.path}">\n${escapeReport(text)}\n</agent-message>`;
  return { uuid, content: [{ type: 'text', text: quoted }], meta: true };
}
