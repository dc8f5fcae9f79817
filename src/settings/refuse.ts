import { PortcullisError } from '../errors.js';
import type { SessionNews } from '../protocol/session-events.js';
import { type ConfigProblem, describeProblem } from './types.js';

/**
 * fail-closed: a restriction that cannot be honoured stops the start. What is only lost or different
 * is told.
 */
export function refuseBroken(
  problems: readonly ConfigProblem[],
  emit: (news: SessionNews) => void,
): void {
  const fatal = problems.filter((problem) => problem.severity === 'fatal');
  if (fatal.length > 0) {
    throw new PortcullisError('config', fatal.map(describeProblem).join('\n'), {
      remedy: 'nothing was started, because a restriction could not be honoured',
    });
  }
  for (const problem of problems) {
    emit({
      type: 'notice',
      level: problem.severity === 'warning' ? 'warning' : 'info',
      text: describeProblem(problem),
    });
  }
}
