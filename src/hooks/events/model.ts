import { messageOf } from '../../errors.js';
import { orAbort } from '../../lib/abort.js';
import { contextsOf, type EventDeps, noOf, questionOf, wishToStop } from '../answers/round.js';
import { ask, askObservers, type HookFields, type Scene } from '../dispatch/scene.js';

export type ModelSwitch = HookFields<'PreModelSwitch'>;
export type ModelSwitched = HookFields<'PostModelSwitch'>;

/** Puts a question to a person. */
type Confirm = (question: string) => Promise<boolean>;

/** PreModelSwitch: why the model stays; undefined when no hook objects. */
export async function beforeModelSwitch(
  { dispatch }: EventDeps,
  change: ModelSwitch,
  scene: Scene,
  /** Absent: what hooks want asked is refused. */
  confirm?: Confirm,
): Promise<string | undefined> {
  const { reports } = await ask(dispatch, 'PreModelSwitch', { scene, fields: { ...change } });
  // fail-closed: a change of the model cannot wait for a later decision.
  const putOff = reports.filter(({ answer }) => answer.decision === 'defer');
  const refusals = [
    ...reports.flatMap((report) => noOf(report) ?? wishToStop(report) ?? []),
    ...putOff.flatMap((report) => questionOf(report) ?? []),
  ];
  if (refusals.length > 0) return refusals.join('\n');
  const question = reports.flatMap((report) => questionOf(report) ?? []).join('\n');
  if (question === '') return undefined;
  // fail-closed: without a person to ask, the answer is no.
  if (confirm === undefined) return `${question}; no person can be asked`;
  try {
    if ((await orAbort(confirm(question), scene.signal)) === true) return undefined;
    return `${question}; the answer was no`;
  } catch (thrown) {
    // fail-closed: no answer is no yes.
    return `${question}; there was no answer (${messageOf(thrown)})`;
  }
}

/** PostModelSwitch: what the model that takes over should know. */
export async function afterModelSwitch(
  deps: EventDeps,
  change: ModelSwitched,
  scene: Scene,
): Promise<readonly string[]> {
  const round = await askObservers(deps, 'PostModelSwitch', { scene, fields: { ...change } });
  return contextsOf(round);
}
