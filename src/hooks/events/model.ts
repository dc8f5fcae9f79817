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

export interface BeforeSwitch {
  /** Set when the model stays. */
  readonly refusal?: string;
}

/** Hooks around a change of the model. */
export interface ModelHooks {
  /** `confirm` puts a question to a person; without it, what hooks want asked is refused. */
  before(
    change: ModelSwitch,
    scene: Scene,
    options?: { readonly confirm?: (question: string) => Promise<boolean> },
  ): Promise<BeforeSwitch>;
  /** What the model that takes over should know. */
  after(change: ModelSwitched, scene: Scene): Promise<readonly string[]>;
}

const NO_OBJECTION: BeforeSwitch = Object.freeze({});

export function createModelHooks(deps: EventDeps): ModelHooks {
  const { dispatch } = deps;
  return {
    async before(change, scene, { confirm } = {}) {
      const round = await ask(dispatch, 'PreModelSwitch', { scene, fields: { ...change } });
      const refusals = collect(round, (report) => noOf(report) ?? wishToStop(report));
      // fail-closed: a change of the model cannot wait for a later decision.
      refusals.push(...collect(round, (report) => putOff(report)));
      if (refusals.length > 0) return { refusal: refusals.join('\n') };
      const questions = collect(round, questionOf);
      if (questions.length === 0) return NO_OBJECTION;
      return confirmed(questions.join('\n'), confirm, scene.signal);
    },
    async after(change, scene) {
      const round = await ask(dispatch, 'PostModelSwitch', { scene, fields: { ...change } });
      tellIgnored(deps, 'PostModelSwitch', round);
      return contextsFor('PostModelSwitch', round);
    },
  };
}

type Report = HookRound['reports'][number];

function collect(round: HookRound, read: (report: Report) => string | undefined): string[] {
  return round.reports.flatMap((report) => read(report) ?? []);
}

function putOff(report: Report): string | undefined {
  return report.answer.decision === 'defer' ? questionOf(report) : undefined;
}

async function confirmed(
  question: string,
  confirm: ((question: string) => Promise<boolean>) | undefined,
  signal: AbortSignal,
): Promise<BeforeSwitch> {
  // fail-closed: a question that nobody hears is answered with no.
  if (confirm === undefined) return { refusal: `${question}; nobody is here to be asked` };
  try {
    if ((await orAbort(confirm(question), signal)) === true) return NO_OBJECTION;
    return { refusal: `${question}; the answer was no` };
  } catch (thrown) {
    // fail-closed: no answer is no yes.
    return { refusal: `${question}; there was no answer (${messageOf(thrown)})` };
  }
}
