import { messageOf } from '../../errors.js';
import { orAbort } from '../../lib/abort.js';
import {
  contextsFor,
  type EventDeps,
  noOf,
  questionOf,
  tellIgnored,
  wishToStop,
} from '../answers/round.js';
import { ask, type HookFields, type Scene } from '../dispatch/scene.js';
import type { HookRound } from '../registry/hook.js';

export type ModelSwitch = HookFields<'PreModelSwitch'>;
export type ModelSwitched = HookFields<'PostModelSwitch'>;

/** PreModelSwitch: why the model stays; undefined when nobody objects. */
export async function beforeModelSwitch(
  { dispatch }: EventDeps,
  change: ModelSwitch,
  scene: Scene,
  /** Puts a question to a person; without it, what hooks want asked is refused. */
  confirm?: (question: string) => Promise<boolean>,
): Promise<string | undefined> {
  const round = await ask(dispatch, 'PreModelSwitch', { scene, fields: { ...change } });
  const refusals = [
    ...collect(round, (report) => noOf(report) ?? wishToStop(report)),
    // fail-closed: a change of the model cannot wait for a later decision.
    ...collect(round, (report) => putOff(report)),
  ];
  if (refusals.length > 0) return refusals.join('\n');
  const questions = collect(round, questionOf);
  return questions.length === 0
    ? undefined
    : await unconfirmed(questions.join('\n'), confirm, scene.signal);
}

/** PostModelSwitch: what the model that takes over should know. */
export async function afterModelSwitch(
  deps: EventDeps,
  change: ModelSwitched,
  scene: Scene,
): Promise<readonly string[]> {
  const round = await ask(deps.dispatch, 'PostModelSwitch', { scene, fields: { ...change } });
  tellIgnored(deps, 'PostModelSwitch', round);
  return contextsFor('PostModelSwitch', round);
}

type Report = HookRound['reports'][number];

function collect(round: HookRound, read: (report: Report) => string | undefined): string[] {
  return round.reports.flatMap((report) => read(report) ?? []);
}

function putOff(report: Report): string | undefined {
  return report.answer.decision === 'defer' ? questionOf(report) : undefined;
}

async function unconfirmed(
  question: string,
  confirm: ((question: string) => Promise<boolean>) | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  // fail-closed: a question that nobody hears is answered with no.
  if (confirm === undefined) return `${question}; nobody is here to be asked`;
  try {
    if ((await orAbort(confirm(question), signal)) === true) return undefined;
    return `${question}; the answer was no`;
  } catch (thrown) {
    // fail-closed: no answer is no yes.
    return `${question}; there was no answer (${messageOf(thrown)})`;
  }
}
