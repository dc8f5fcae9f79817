import type { RewindResult } from '../../project/changes.js';
import { pointsText, rewindPlanText } from '../../project/changes-text.js';
import { targetOf } from '../../project/rewind-target.js';
import type { CommandCall, CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { SESSION_OPTION } from './changes.js';
import { inspectProject, JSON_OPTION, textOption } from './project-call.js';

export const command: CommandSpec = {
  summary: 'List the points of a session, or restore the files of one.',
  arguments: [
    {
      name: '[point]',
      description: 'A number of the list, a message id, `points` (the list) or `redo`.',
    },
  ],
  options: [
    { flags: '--call <id>', description: 'Undo one tool call.' },
    { flags: '--agent <name>', description: 'Undo the work of one agent, after the point.' },
    SESSION_OPTION,
    { flags: '--dry-run', description: 'Show what would be restored.' },
    { flags: '--overwrite', description: 'Also restore files that others changed since.' },
    JSON_OPTION,
  ],
  run: (call) =>
    inspectProject(call, async (project) => {
      const { options, output } = call;
      const { sessionId, checkpoints } = await project.changes(textOption(options, 'session'));
      const [what = 'points'] = call.args;
      const named = { call: textOption(options, 'call'), agent: textOption(options, 'agent') };
      const points = checkpoints.points();
      if (what === 'points' && named.call === undefined && named.agent === undefined) {
        const state = checkpoints.state();
        if (options.json === true) printLine(call, { session: sessionId, state, points });
        else output.out(`session ${sessionId}\n${pointsText(points)}`);
        return EXIT.done;
      }
      const how = { overwriteConflicts: options.overwrite === true };
      if (what === 'redo') return report(call, await checkpoints.redo(how));
      const listedBy = 'portcullis rewind points';
      const word = what === 'points' ? undefined : what;
      const target = targetOf(word, named, { points, listedBy });
      if (options.dryRun !== true) return report(call, await checkpoints.rewind(target, how));
      const plan = await checkpoints.preview(target);
      const isPossible = 'restored' in plan;
      if (options.json === true) printLine(call, plan);
      else output.out(isPossible ? rewindPlanText(plan, 'planned') : `! ${plan.why}\n`);
      return isPossible ? EXIT.done : EXIT.error;
    }),
};

function printLine({ output }: CommandCall, value: unknown): void {
  output.out(`${JSON.stringify(value)}\n`);
}

/** fail-closed: a rewind that left something as it was did not succeed. */
function report(call: CommandCall, result: RewindResult): number {
  const { output } = call;
  // Others changed since what would have been restored, so it was kept.
  const isKept =
    result.kind === 'done' && result.plan.restored.length === 0 && result.plan.conflicts.length > 0;
  if (call.options.json === true) printLine(call, result);
  else if (result.kind === 'refused') output.warn(result.why);
  else {
    output.out(rewindPlanText(result.plan, 'done'));
    for (const { path, why } of result.failed) output.warn(`${path} was not restored: ${why}`);
    if (isKept)
      output.warn('nothing was restored; --overwrite also restores what others changed since');
  }
  const isDone = result.kind === 'done' && result.failed.length === 0 && !isKept;
  return isDone ? EXIT.done : EXIT.error;
}
