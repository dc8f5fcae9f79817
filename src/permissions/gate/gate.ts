import { suggestFor } from '../grants/suggest.js';
import { createEvaluate, type Evaluate, type EvaluatedCall, type GateDeps } from './evaluate.js';
import { commandToRun, unrendered } from './guard.js';
import { takePermitIssuer } from './permit.js';
import { fixedCall } from './precheck.js';
import { createQuestions, type PutQuestion, refusalText } from './questions.js';
import { type Passed, rejudge, underRulesNow } from './rejudge.js';
import type { AskAnswer, Gate, GateVerdict } from './types.js';
import { type Allowing, joinHookContext, type Progress, receiptOf, refuse } from './verdict.js';

const issuePermit = takePermitIssuer();

interface GateState extends GateDeps {
  readonly evaluate: Evaluate;
  readonly putQuestion: PutQuestion;
}

/** The one way in: the function that every tool call passes, and the only maker of permits. */
export function createGate(deps: GateDeps): Gate {
  const evaluate = createEvaluate(deps);
  const state: GateState = { ...deps, evaluate, putQuestion: createQuestions() };
  return async (call) => verdictOn(state, await evaluate(fixedCall(call)));
}

async function verdictOn(state: GateState, judged: EvaluatedCall): Promise<GateVerdict> {
  const { view, outcome } = judged;
  if (outcome.kind === 'allowed') return allow(judged, { ...outcome.approval, by: outcome.by });
  if (outcome.kind === 'open' || outcome.finding.decision === 'ask') return settle(state, judged);
  const { finding, by } = outcome;
  const message = refusalText(view.call.tool.name, finding);
  const decision = finding.decision === 'defer' ? 'defer' : 'deny';
  const { reason = by, reasonForModel, stop } = finding;
  return refuse(judged, { by, reason, reasonForModel, message, decision, stop });
}

/** Asks a person or hook about what is still open; without an asker the answer is no. */
async function settle(state: GateState, judged: EvaluatedCall): Promise<GateVerdict> {
  const { view, outcome, trace } = judged;
  const { call, mode } = view;
  const finding = outcome.kind === 'held' ? outcome.finding : undefined;
  const heldBy = outcome.kind === 'held' ? outcome.by : undefined;
  const open = outcome.kind === 'open' ? outcome.reason : undefined;
  const reason = finding?.reason ?? open ?? `nothing allows ${call.subject.summary}`;
  const forPerson = (await unrendered(view)) !== undefined;
  // What a guard holds, or what only a person opens, no allow rule opens.
  const offered = finding === undefined && !forPerson ? await suggestFor(view) : {};
  const { suggestion } = offered;
  const dontAsk = mode === 'dontAsk';
  const unanswered = (progress: Progress, note?: string): GateVerdict => {
    const text = refusalText(call.tool.name, finding, { reason, suggestion, dontAsk });
    const by = dontAsk ? 'mode dontAsk' : (heldBy ?? 'nobody to ask');
    const message = note ? `${note} ${text}` : text;
    const words = { reason, reasonForModel: finding?.reasonForModel, message };
    return refuse(progress, { by, ...words, suggestion, unanswered: true });
  };
  const asker = dontAsk ? undefined : state.asker(call);
  if (asker === undefined) return unanswered(judged);
  const { blockedPath, rule } = finding ?? {};
  const request = { call, mode, trace, reason, ...offered, blockedPath, heldBy, rule, forPerson };
  const { given, decision, text } = await state.putQuestion(request, asker);
  const { by = 'asker', trace: others = [] } = given ?? {};
  const asked = { ...judged, trace: [...trace, ...others] };
  if (given?.behavior === 'deny' && given.unanswered) return unanswered(asked, given.message);
  const steps = [...asked.trace, { guard: 'asker', decision, reason: text, source: given?.by }];
  if (given?.behavior !== 'allow') {
    const interrupt = call.signal.aborted || given?.interrupt === true;
    const refusal = { by, reason: text, message: text, interrupt, stop: given?.stop };
    return refuse({ ...judged, trace: steps }, refusal);
  }
  const { updatedInput } = given;
  const ending = { by, reason: text, verbatim: !given.byHook, held: finding?.reason };
  const passed = { ...judged, trace: steps, ...ending, question: finding };
  const isSame =
    updatedInput === undefined || JSON.stringify(updatedInput) === JSON.stringify(call.input);
  const final = isSame
    ? await underRulesNow(judged, passed)
    : await rejudge(state.evaluate, passed, updatedInput);
  return 'kind' in final ? final : conclude(state, final, given);
}

/** What else the answer says takes effect before the call runs. */
async function conclude(
  state: GateState,
  passed: Passed,
  answer: Extract<AskAnswer, { behavior: 'allow' }>,
): Promise<GateVerdict> {
  const { view, trace, by, held } = passed;
  const kept = await state.keep?.({ view, answer, held });
  const progress = { ...passed, trace: [...trace, ...(kept?.steps ?? [])] };
  if (kept?.refused === undefined) return allow(progress, passed);
  const message = `${view.call.tool.name} was refused: ${kept.refused}.`;
  return refuse(progress, { by, reason: kept.refused, message });
}

async function allow(
  progress: Progress,
  { by, reason, verbatim = false }: Allowing,
): Promise<GateVerdict> {
  const { view } = progress;
  const { input, subject } = view.call;
  const command = await commandToRun(view, { verbatim });
  const runs = command === subject.command ? undefined : command;
  const receipt = { ...receiptOf(progress, { by, reason, decision: 'allow' }), runs };
  const permit = issuePermit({ receipt, input, command });
  const hookContext = joinHookContext(progress, {});
  return { kind: 'allowed', permit, input, receipt, judged: view, ...hookContext };
}
