import { escapeReservedTags } from '../../lib/text/reserved-tags.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { InputMessage } from '../../loop/types.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { BackgroundShell, BackgroundShells } from '../../tools/bash/shells.js';

/**
 * How long the end of a headless run waits for background work. Client libraries end a program that still
 * runs 5 s after the end of its input, so this leaves time to close.
 */
export const BACKGROUND_WAIT_MS = 4_000;

/** Queues results of background work for the agent that started it. */
export class BackgroundInput {
  readonly #running: () => number;
  readonly #patienceMs: () => number;
  #waiting: InputMessage[] = [];
  #listeners: (() => void)[] = [];
  /** Waiting timed out; only a new result allows another wait. */
  #gaveUp = false;

  constructor(running: () => number, patienceMs: () => number = () => BACKGROUND_WAIT_MS) {
    this.#running = running;
    this.#patienceMs = patienceMs;
  }

  /** Called when work has finished. */
  readonly add = (message: InputMessage): void => {
    this.#waiting.push(message);
    this.#gaveUp = false;
    for (const listener of this.#listeners.splice(0)) listener();
  };

  readonly take = (): readonly InputMessage[] => this.#waiting.splice(0);

  /** All queued results as one message, for an agent that is about to end its run. */
  readonly next = (): InputMessage | undefined => {
    const [first, ...rest] = this.take();
    if (first === undefined) return undefined;
    return { ...first, content: [first, ...rest].flatMap((message) => message.content) };
  };

  readonly onArrival = (listener: () => void): void => {
    if (this.#waiting.length > 0) listener();
    else this.#listeners.push(listener);
  };

  /** Waits for running work, for a bounded time; true when there is a result to take. */
  readonly wait = async (): Promise<boolean> => {
    if (this.#waiting.length > 0) return true;
    if (this.#running() === 0 || this.#gaveUp) return false;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#gaveUp = true;
        resolve(false);
      }, this.#patienceMs());
      this.#listeners.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  };
}

export interface BackgroundParts {
  emit(news: SessionNews): void;
  uuid(): string;
  tell(agentId: string, message: InputMessage): void;
}

/** How many commands of the main agent run in the background. */
export function runningShells(shells: Pick<BackgroundShells, 'list'>): number {
  const isMain = (id: string | undefined): boolean => id === undefined || id === MAIN_AGENT.id;
  return shells.list().filter(({ status, agentId }) => status === 'running' && isMain(agentId))
    .length;
}

/** Notifies the agent and the host when background commands end. */
export function watchShells(
  shells: Pick<BackgroundShells, 'onFinished'>,
  { emit, uuid, tell }: BackgroundParts,
): void {
  shells.onFinished((shell) => {
    emit({
      type: 'task_finished',
      taskId: shell.id,
      toolUseId: shell.toolUseId ?? '',
      status: shellStatus(shell),
      outputFile: shell.outputFile,
      summary: shell.description ?? shell.command,
    });
    // An agent's commands end with it, so a missing receiver loses nothing.
    tell(shell.agentId ?? MAIN_AGENT.id, shellNotice(shell, uuid()));
  });
}

/** The message to an agent whose background command has ended. */
export function shellNotice(shell: BackgroundShell, uuid: string): InputMessage {
  const how =
    shell.exitCode === null ? (shell.signal ?? 'no exit code') : `exit code ${shell.exitCode}`;
  const name = escapeReservedTags(shell.description ?? sliceWhole(shell.command, 0, 80));
  const text = [
    '<task-notification>',
    `<task-id>${shell.id}</task-id>`,
    `<status>${shell.status}</status>`,
    `<summary>Background command "${name.replaceAll('<', '&lt;')}" ${shell.status} (${how})</summary>`,
    `<output-file>${shell.outputFile}</output-file>`,
    '</task-notification>',
  ].join('\n');
  return { uuid, content: [{ type: 'text', text }], meta: true };
}

/** The status in the terms of the wire. */
function shellStatus(shell: BackgroundShell): 'completed' | 'failed' | 'stopped' {
  if (shell.status === 'completed') return 'completed';
  return shell.status === 'killed' ? 'stopped' : 'failed';
}
