import type { SessionNews } from '../protocol/session-events.js';
import type { BackgroundShells } from '../tools/shells.js';
import { type BackgroundInput, createBackgroundInput } from './background-input.js';
import { shellNotice, shellStatus } from './shell-notice.js';

/** Background commands tell the agent when they end; the host hears of it too. */
export function backgroundShells(
  shells: BackgroundShells,
  { emit, uuid }: { emit(news: SessionNews): void; uuid(): string },
): BackgroundInput {
  const background = createBackgroundInput(
    () => shells.list().filter((shell) => shell.status === 'running').length,
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
    background.add(shellNotice(shell, uuid()));
  });
  return background;
}
