import type { InputMessage } from '../../loop/types.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { BackgroundShells } from '../../tools/bash/shells.js';
import { shellNotice, shellStatus } from './shell-notice.js';

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

/** Background commands tell the agent when they end; the host hears of it too. */
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
    // One that has ended took its commands with it, and nobody waits for them.
    tell(shell.agentId ?? MAIN_AGENT.id, shellNotice(shell, uuid()));
  });
}
