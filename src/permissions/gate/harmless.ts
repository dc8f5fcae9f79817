import { type Coverage, coverageOf } from '../grants/shell-grants.js';
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
  const { tool, subject, workspace } = view.call;
  if (subject.command === undefined) {
    return tool.kind !== 'edit' && tool.kind !== 'execute';
  }
  const reading = await view.shell();
  // fail-closed: what nobody could read may do anything.
  if (reading === undefined) return false;
  const coverage = await coverageOf(reading, {
    judge: view.judge,
    cwd: workspace.cwd,
    roots: workspace.roots,
    home: view.home,
    allow: [],
    names: view.names,
    own: view.facts.own,
    exported: view.facts.exported?.(),
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
