import type { TraceStep } from '../protocol/permissions.js';
import type { Finding } from './guard.js';
import { type GateDeps, type Judged, judgeCall } from './judge-call.js';
import { refusalText } from './messages.js';
import { Permit } from './permit.js';
import { createQuestions, type Questions } from './questions.js';
import { suggestFor } from './suggest.js';
import type { AskAnswer, Gate, GateVerdict } from './types.js';
import { type Ending, receiptOf, refuse } from './verdict.js';
import type { CallView } from './view.js';

interface GateState extends GateDeps {
  readonly questions: Questions;
}

/** The one way in: the function that every tool call passes, and the only maker of permits. */
export function createGate(deps: GateDeps): Gate {
  const state: GateState = { ...deps, questions: createQuestions() };
  return async (call) => {
    const { view, outcome, trace } = await judgeCall(state, call);
    if (outcome.kind === 'allowed') {
      return allow(view, trace, { by: outcome.by, reason: outcome.opening.reason });
    }
    const isQuestion = outcome.kind === 'open' || outcome.finding.decision === 'ask';
    if (isQuestion) return settle(state, { view, outcome, trace });
    const { finding, by } = outcome;
    const message = refusalText(view.call.tool.name, finding);
    const decision = finding.decision === 'defer' ? 'defer' : 'deny';
    const { reason = by, stop } = finding;
    return refuse(view, trace, { by, reason, message, decision, stop });
  };
}

/** What is still open is a question; without anybody to answer it, the answer is no. */
async function settle(state: GateState, { view, outcome, trace }: Judged): Promise<GateVerdict> {
  const { call, mode } = view;
  const finding = outcome.kind === 'held' ? outcome.finding : undefined;
  const open = outcome.kind === 'open' ? outcome.reason : undefined;
  const reason = finding?.reason ?? open ?? `nothing allows ${call.subject.summary}`;
  // What a guard holds, no allow rule opens.
  const offered = finding === undefined ? await suggestFor(view) : {};
  const { suggestion } = offered;
  const asker = state.asker(call);
  const dontAsk = mode === 'dontAsk';
  if (dontAsk || asker === undefined) {
    const message = refusalText(call.tool.name, finding, { reason, suggestion, dontAsk });
    const by = dontAsk ? 'mode dontAsk' : outcome.kind === 'held' ? outcome.by : 'nobody to ask';
    return refuse(view, trace, { by, reason, message, suggestion });
  }
  const heldBy = outcome.kind === 'held' ? outcome.by : undefined;
  const { blockedPath, rule } = finding ?? {};
  const request = { call, mode, trace, reason, ...offered, blockedPath, heldBy, rule };
  const answer = await state.questions.put(request, asker);
  const { decision, text } = answer;
  const steps = [...trace, { guard: 'asker', decision, reason: text }];
  if (answer.given?.behavior !== 'allow') {
    const interrupt = call.signal.aborted || answer.given?.interrupt === true;
    return refuse(view, steps, { by: 'asker', reason: text, message: text, interrupt });
  }
  const { updatedInput } = answer.given;
  const passed = { view, trace: steps, reason: text, held: finding?.reason, question: finding };
  const isSame =
    updatedInput === undefined || JSON.stringify(updatedInput) === JSON.stringify(call.input);
  const final = isSame ? passed : await rejudge(state, passed, updatedInput);
  return 'kind' in final ? final : conclude(state, final, answer.given);
}

/** A call that an answer lets through, with what holds it back whenever it comes. */
interface Passed {
  readonly view: CallView;
  readonly trace: readonly TraceStep[];
  readonly reason: string;
  readonly held: string | undefined;
  /** What was asked about. */
  readonly question?: Finding | undefined;
}

/** What else the answer says takes effect before the call runs. */
async function conclude(
  state: GateState,
  { view, trace, reason, held }: Passed,
  answer: Extract<AskAnswer, { behavior: 'allow' }>,
): Promise<GateVerdict> {
  const kept = await state.keep?.({ view, answer, held });
  const steps = [...trace, ...(kept?.steps ?? [])];
  if (kept?.refused === undefined) return allow(view, steps, { by: 'asker', reason });
  const message = `${view.call.tool.name} was refused: ${kept.refused}.`;
  return refuse(view, steps, { by: 'asker', reason: kept.refused, message });
}

/** An answer's own input is new input: judged like the first, and nobody is asked a second time. */
async function rejudge(
  state: GateState,
  before: Passed,
  input: Readonly<Record<string, unknown>>,
): Promise<Passed | GateVerdict> {
  const { call } = before.view;
  const problems = await call.tool.validate(input);
  if (problems.length > 0) {
    const reason = `the input that came with the answer is not valid: ${problems.map((one) => `${one.path} ${one.message}`.trim()).join('; ')}`;
    return refuse(before.view, before.trace, {
      by: 'input check',
      reason,
      message: `${call.tool.name}: ${reason}.`,
    });
  }
  const subject = call.tool.subject(input, call.workspace);
  const { view, outcome, trace } = await judgeCall(
    state,
    { ...call, input, subject },
    { rewritten: true },
  );
  const steps = [...before.trace, ...trace];
  if (outcome.kind !== 'held' || isAnswered(outcome.finding, before.question)) {
    const held = outcome.kind === 'held' ? outcome.finding.reason : undefined;
    return { view, trace: steps, reason: 'allowed when asked, with new input', held };
  }
  const { finding, by } = outcome;
  const reason = `the input that came with the answer is held back: ${finding.reason ?? by}`;
  const message =
    finding.decision === 'deny'
      ? refusalText(call.tool.name, finding)
      : `${call.tool.name}: ${reason}.`;
  return refuse(view, steps, { by, reason, message });
}

/** The very question that was just answered needs no second answer; another one was never put. */
function isAnswered(finding: Finding, question: Finding | undefined): boolean {
  if (finding.settledByAnswer === true) return true;
  return (
    finding.decision === 'ask' &&
    question?.decision === 'ask' &&
    finding.source !== undefined &&
    finding.source === question.source &&
    finding.blockedPath === question.blockedPath
  );
}

function allow(view: CallView, trace: readonly TraceStep[], ending: Ending): GateVerdict {
  const { input } = view.call;
  const receipt = receiptOf(view, trace, { ...ending, decision: 'allow' });
  return { kind: 'allowed', permit: Permit.issue(receipt, input), input, receipt };
}
