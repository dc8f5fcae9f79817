import type { Checkpoints, RewindTarget } from '../../checkpoint/types.js';
import { PortcullisError } from '../../errors.js';
import { planText, pointsText } from '../../project/changes-text.js';
import { targetOf } from '../../project/rewind-target.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { journalHere } from './changes-here.js';

export const USAGE =
  'portcullis rewind [points | redo | <number or message id>] [--call id] [--agent name] [--session id] [--dry-run] [--overwrite] [--json]';

/** Shows the points of a session, previews a way back, or goes it. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'dry-run', 'overwrite'],
    values: ['session', 'call', 'agent'],
  });
  const { sessionId, journal } = await journalHere(values.get('session'), output);
  const json = (value: unknown): void => output.out(`${JSON.stringify(value)}\n`);
  try {
    const [what = 'points', ...others] = words;
    if (others.length > 0) {
      throw new PortcullisError('usage', `one point at a time: ${words.join(' ')}`, {
        remedy: `usage: ${USAGE}`,
      });
    }
    const named = { call: values.get('call'), agent: values.get('agent') };
    if (what === 'points' && named.call === undefined && named.agent === undefined) {
      const points = journal.points();
      if (switches.has('json')) json({ session: sessionId, state: journal.state(), points });
      else output.out(`session ${sessionId}\n${pointsText(points)}`);
      return EXIT.done;
    }
    const options = { overwriteConflicts: switches.has('overwrite') };
    if (what === 'redo') return told(await journal.redo(options), switches.has('json'), output);
    const target = targetOf(what === 'points' ? undefined : what, named, {
      points: journal.points(),
      listedBy: 'portcullis rewind points',
    });
    if (switches.has('dry-run'))
      return await preview(journal, target, switches.has('json'), output);
    return told(await journal.rewind(target, options), switches.has('json'), output);
  } finally {
    await journal.close();
  }
}

async function preview(
  journal: Checkpoints,
  target: RewindTarget,
  asJson: boolean,
  output: Output,
): Promise<number> {
  const plan = await journal.preview(target);
  if (asJson) output.out(`${JSON.stringify(plan)}\n`);
  else output.out('restored' in plan ? planText(plan, 'planned') : `! ${plan.why}\n`);
  return 'restored' in plan ? EXIT.done : EXIT.error;
}

/** fail-closed: a rewind that left something as it is did not succeed. */
function told(
  result: Awaited<ReturnType<Checkpoints['rewind']>>,
  asJson: boolean,
  output: Output,
): number {
  if (asJson) output.out(`${JSON.stringify(result)}\n`);
  else if (result.kind === 'refused') output.warn(result.why);
  else {
    output.out(planText(result.plan, 'done'));
    for (const { path, why } of result.failed) output.warn(`${path} was not restored: ${why}`);
    if (isKept(result))
      output.warn('nothing was restored; --overwrite also restores what others changed since');
  }
  const isDone = result.kind === 'done' && result.failed.length === 0 && !isKept(result);
  return isDone ? EXIT.done : EXIT.error;
}

/** Everything that would have been restored was changed by others since and kept. */
function isKept(result: Awaited<ReturnType<Checkpoints['rewind']>>): boolean {
  if (result.kind !== 'done') return false;
  const { restored, conflicts } = result.plan;
  return restored.length === 0 && conflicts.length > 0;
}
