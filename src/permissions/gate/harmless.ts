import { type Coverage, coverageOf, type GrantPlace } from '../grants/shell-grants.js';
import type { ShellReading } from '../shell/model.js';
import { TooComplexError } from './budget.js';
import type { CallView } from './view.js';

/** Whether a command may run beside others: it is harmless, and leaves the shell where it is. */
export async function runsBeside(view: CallView): Promise<boolean> {
  const reading = await view.shell();
  const moves = reading?.commands.some(({ words }) => words.some(({ value }) => value === 'cd'));
  return moves === false && (await isHarmless(view));
}

/** Whether a call surely leaves files and programs as they are, so that what was seen stays true. */
export async function isHarmless(view: CallView): Promise<boolean> {
  const { tool, subject } = view.call;
  if (subject.command === undefined) {
    return tool.kind !== 'edit' && tool.kind !== 'execute';
  }
  const reading = await view.shell();
  // fail-closed: what nobody could read may do anything.
  if (reading === undefined) return false;
  const coverage = await coverageIn(view, reading, {
    allow: [],
    looking: true,
    fileCommands: false,
  }).catch(notJudged);
  return coverage.covered && coverage.writes.length === 0;
}

/** fail-closed: what takes too many steps to judge is not known to be harmless. */
function notJudged(thrown: unknown): Coverage {
  if (thrown instanceof TooComplexError) return { covered: false, reason: thrown.message };
  throw thrown;
}

/** What covers the commands of a call, where it is made. */
export function coverageIn(
  { judge, home, names, facts, call }: CallView,
  reading: ShellReading,
  by: Pick<GrantPlace, 'allow' | 'looking' | 'fileCommands'>,
): Promise<Coverage> {
  const { cwd, roots } = call.workspace;
  const { own } = facts;
  const exported = facts.exported?.();
  return coverageOf(reading, { judge, cwd, roots, home, names, own, exported, ...by });
}
