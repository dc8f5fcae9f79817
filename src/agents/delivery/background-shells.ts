import type { InputMessage } from '../../loop/types.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { BackgroundShells } from '../../tools/bash/shells.js';
import {
  BACKGROUND_WAIT_MS,
  type BackgroundInput,
  createBackgroundInput,
} from './background-input.js';
import { shellNotice, shellStatus } from './shell-notice.js';

export interface BackgroundParts {
  emit(news: SessionNews): void;
  uuid(): string;
  readonly agents?: BackgroundAgents;
}

/** Agents that nobody waits for. */
export interface BackgroundAgents {
  /** Those that run, and those whose report is on its way. */
  running(): number;
  /** How long the end of a headless run waits for them. */
  patienceMs(): number;
  tell(id: string, message: InputMessage): boolean;
}

function isMain(agentId: string | undefined): boolean {
  return agentId === undefined || agentId === MAIN_AGENT.id;
}

/** Background commands tell the agent when they end; the host hears of it too. */
export function backgroundShells(
  shells: BackgroundShells,
  { emit, uuid, agents }: BackgroundParts,
): BackgroundInput {
  const ofMain = (): number =>
    shells.list().filter(({ status, agentId }) => status === 'running' && isMain(agentId)).length;
  const background = createBackgroundInput(
    () => ofMain() + (agents?.running() ?? 0),
    () => ((agents?.running() ?? 0) > 0 ? agents?.patienceMs() : undefined) ?? BACKGROUND_WAIT_MS,
  );
  shells.onFinished((shell) => {
    emit({
      type: 'task_finished',
      taskId: shell.id,
      toolUseId: shell.toolUseId ?? '',
      status: shellStatus(shell),
      outputFile: shell.outputFile,
      summary: shell.description ?? shell.command,
    });
    const notice = shellNotice(shell, uuid());
    if (isMain(shell.agentId)) background.add(notice);
    // One that has ended took its commands with it, and nobody waits for them.
    else agents?.tell(shell.agentId ?? '', notice);
  });
  return background;
}
