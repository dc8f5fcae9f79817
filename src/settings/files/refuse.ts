import { PortcullisError } from '../../errors.js';
import { originOf } from '../../lib/sourced.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { type ConfigProblem, describeProblem, type Strictness } from '../types.js';

/**
 * fail-closed: a restriction that cannot be honoured stops the start. What is only lost or different
 * is told.
 */
export function refuseBroken(
  problems: readonly ConfigProblem[],
  emit: (news: SessionNews) => void,
  strictness: Strictness = {},
): void {
  const judged = withStrictness(problems, strictness);
  const fatal = fatalOf(judged);
  if (fatal.length > 0) {
    throw new PortcullisError('config', fatal.map(describeProblem).join('\n'), {
      remedy: 'Nothing was started. Correct what is named above.',
    });
  }
  for (const problem of judged) {
    emit({
      type: 'notice',
      level: problem.severity === 'warning' ? 'warning' : 'info',
      text: describeProblem(problem),
    });
  }
}

export function fatalOf(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  return problems.filter((problem) => problem.severity === 'fatal');
}

/**
 * With `portcullis.strict` off, restrictions that cannot be honoured are warnings, and one more says
 * why. What an administrator wrote binds unless the administrator switched it off.
 */
export function withStrictness(
  problems: readonly ConfigProblem[],
  { off }: Strictness,
): readonly ConfigProblem[] {
  const lifted = ({ severity, source }: ConfigProblem): boolean =>
    severity === 'fatal' && off !== undefined && (off.source === 'managed' || source !== 'managed');
  const count = problems.filter(lifted).length;
  if (off === undefined || count === 0) return problems;
  const places = count === 1 ? 'one restriction is' : `${count} restrictions are`;
  return [
    {
      severity: 'warning',
      message: `${places} not in force, and the start goes on because \`portcullis.strict\` is false (${originOf(off)}).`,
      remedy: 'Set it to true to refuse instead.',
    },
    ...problems.map((problem) =>
      lifted(problem) ? { ...problem, severity: 'warning' as const } : problem,
    ),
  ];
}
