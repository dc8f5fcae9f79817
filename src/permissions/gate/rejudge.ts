import type { Evaluate, EvaluatedCall } from './evaluate.js';
import type { Finding } from './guard.js';
import { withInput } from './precheck.js';
import { isAnswered, refusalText } from './questions.js';
import type { GateVerdict } from './types.js';
import { type Allowing, joinHookContext, type Progress, refuse } from './verdict.js';

/** A call that an answer lets through, with what holds it back whenever it comes. */
export interface Passed extends Progress, Allowing {
  readonly held: string | undefined;
  /** What was asked about. */
  readonly question?: Finding | undefined;
}

/** An answer's own input is new input: judged like the first, without a second question. */
export async function rejudge(
  evaluate: Evaluate,
  before: Passed,
  wanted: Readonly<Record<string, unknown>>,
): Promise<Passed | GateVerdict> {
  const { call } = before.view;
  const renewed = await withInput(call, wanted);
  if ('invalid' in renewed) {
    const reason = `the input that came with the answer is not valid: ${renewed.invalid}`;
    const message = `${call.tool.name}: ${reason}.`;
    return refuse(before, { by: 'input check', reason, message });
  }
  const again = await evaluate(renewed, { rewritten: true });
  const { outcome } = again;
  const passed = { ...before, reason: 'allowed when asked, with new input' };
  if (outcome.kind !== 'held' || isAnswered(outcome.finding, before.question)) {
    return passedAgain(passed, again);
  }
  return heldAgain(before, again, {
    ...outcome,
    held: 'the input that came with the answer is held back',
  });
}

/** fail-closed: a yes is no answer to rules or a mode that came while the question was open. */
export async function underRulesNow(
  judged: EvaluatedCall,
  passed: Passed,
): Promise<Passed | GateVerdict> {
  const again = await judged.renewed();
  if (again === undefined) return passed;
  const { outcome } = again;
  const before = judged.outcome;
  if (outcome.kind !== 'held') return passedAgain(passed, again);
  const { finding, by } = outcome;
  const isSame =
    finding.decision === 'ask' &&
    before.kind === 'held' &&
    before.by === by &&
    before.finding.reason === finding.reason;
  if (isSame || isAnswered(finding, passed.question)) return passedAgain(passed, again);
  const held = 'the rules or the mode changed while the question was open';
  return heldAgain(passed, again, { ...outcome, held });
}

function passedAgain(before: Passed, again: EvaluatedCall): Passed {
  const { outcome } = again;
  const held = outcome.kind === 'held' ? outcome.finding.reason : undefined;
  return { ...before, ...progressOf(before, again), held };
}

function progressOf(before: Progress, again: EvaluatedCall): Progress {
  const trace = [...before.trace, ...again.trace];
  return { view: again.view, trace, ...joinHookContext(before, again) };
}

/** What an answer let through, and a guard then holds. */
function heldAgain(
  before: Passed,
  again: EvaluatedCall,
  { finding, by, held }: { finding: Finding; by: string; held: string },
): GateVerdict {
  const { call } = before.view;
  const progress = progressOf(before, again);
  const { reason = by, reasonForModel, stop } = finding;
  const message =
    finding.decision === 'deny'
      ? refusalText(call.tool.name, finding)
      : `${call.tool.name}: ${held}: ${reasonForModel ?? reason}.`;
  return refuse(progress, { by, reason: `${held}: ${reason}`, reasonForModel, message, stop });
}
