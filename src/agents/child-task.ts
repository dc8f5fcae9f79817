import type { InputMessage } from '../loop/types.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import { escapeReport } from './child-escape.js';
import type { ChildLine, ChildOrder } from './child-order.js';
import type { Cancelled } from './end-of.js';
import type { AgentReport } from './report.js';
import type { AgentTask } from './task.js';

/** A task with the ends that only the runtime holds. */
export interface ChildTask extends AgentTask {
  readonly line: ChildLine;
  /** False: it has ended, or is about to. */
  hear(message: InputMessage): boolean;
  isListening(): boolean;
  settle(report: AgentReport): void;
}

export function createChildTask(
  { ref, definition, description, output, choice, stays }: ChildOrder,
  parts: {
    readonly startedAt: number;
    uuid(): string;
    /** Whoever ends this ends the agent. */
    readonly signal: AbortSignal | undefined;
  },
): ChildTask {
  const controller = new AbortController();
  let waiting: InputMessage[] = [];
  let listening: (() => void) | undefined;
  let isOpen = true;
  let cancelled: Cancelled | undefined;
  let report: AgentReport | undefined;
  let settle: (report: AgentReport) => void = () => undefined;
  const ended = new Promise<AgentReport>((resolve) => {
    settle = resolve;
  });
  let begin = (): void => undefined;
  const atWork = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const cancel = (by: Cancelled['by'], reason: string): void => {
    if (report !== undefined || controller.signal.aborted) return;
    cancelled = { by, reason };
    controller.abort(new Error(reason));
  };
  const outer = (): void => cancel('person', 'it was interrupted');
  const { signal } = parts;
  if (signal?.aborted === true) outer();
  signal?.addEventListener('abort', outer, { once: true });
  const hear = (message: InputMessage): boolean => {
    if (!isOpen) return false;
    waiting.push(message);
    listening?.();
    return true;
  };
  return {
    id: ref.id,
    ref,
    definition,
    description,
    startedAt: parts.startedAt,
    outputFile: output.path,
    model: choice.model,
    ...(stays === undefined ? {} : { stays: true }),
    report: () => report,
    ended,
    atWork,
    hear,
    isListening: () => isOpen,
    say: (text, from) => hear(saidBy(text, from, parts.uuid())),
    cancel,
    line: {
      signal: controller.signal,
      cancelled: () => cancelled,
      atWork: begin,
      take() {
        const taken = waiting;
        waiting = [];
        return taken;
      },
      heard: (now) =>
        new Promise((resolve) => {
          const done = (): void => {
            now.removeEventListener('abort', done);
            listening = undefined;
            resolve();
          };
          listening = done;
          now.addEventListener('abort', done, { once: true });
          if (waiting.length > 0 || now.aborted) done();
        }),
      close() {
        isOpen = false;
      },
    },
    settle(made) {
      isOpen = false;
      signal?.removeEventListener('abort', outer);
      report = made;
      settle(made);
      begin();
    },
  };
}

/** What one agent says to another: neither a person's word nor the program's. */
function saidBy(text: string, from: AgentRef, uuid: string): InputMessage {
  const quoted = `<agent-message from="${from.path}">\n${escapeReport(text)}\n</agent-message>`;
  return { uuid, content: [{ type: 'text', text: quoted }], meta: true };
}
