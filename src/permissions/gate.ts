import type { Clock } from '../env/clock.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { PermissionMode, TraceStep } from '../protocol/permissions.js';
import type { Guard } from './guard.js';
import { STANDARD_GUARDS } from './guards.js';
import { type Judgement, judge } from './judge.js';
import { refusalText } from './messages.js';
import type { PathFileSystem } from './paths.js';
import { Permit } from './permit.js';
import { createQuestions, type Questions } from './questions.js';
import { STANDARD_RESOLVERS } from './resolvers.js';
import type { RuleSet } from './rules.js';
import { suggestRule } from './suggest.js';
import type { Asker, Gate, GateCall, GateVerdict } from './types.js';
import { type Ending, receiptOf, refuse } from './verdict.js';
import { type CallView, viewOf } from './view.js';

export interface GateDeps {
  readonly fs: PathFileSystem;
  readonly home: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Asked at every call, as all three may change during a session. */
  mode(agent: AgentRef): PermissionMode;
  rules(agent: AgentRef): RuleSet;
  /** Undefined when nobody can be asked, which means no. */
  asker(agent: AgentRef): Asker | undefined;
  /** Guards beside the standard ones: banned tools, hooks. */
  readonly guards?: readonly Guard[];
}

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
    return refuse(view, trace, { by, reason: finding.reason ?? by, message, decision });
  };
}

type Judged = Judgement & { readonly view: CallView };

async function judgeCall(state: GateState, call: GateCall): Promise<Judged> {
  const mode = state.mode(call.agent);
  const rules = state.rules(call.agent);
  const view = viewOf(call, { fs: state.fs, home: state.home, mode, rules });
  const guards = [...(state.guards ?? []), ...STANDARD_GUARDS];
  const { clock } = state;
  return { view, ...(await judge(view, { guards, resolvers: STANDARD_RESOLVERS, clock })) };
}

/** What is still open is a question; without anybody to answer it, the answer is no. */
async function settle(state: GateState, { view, outcome, trace }: Judged): Promise<GateVerdict> {
  const { call, mode } = view;
  const finding = outcome.kind === 'held' ? outcome.finding : undefined;
  const open = outcome.kind === 'open' ? outcome.reason : undefined;
  const reason = finding?.reason ?? open ?? `nothing allows ${call.subject.summary}`;
  // What a guard holds, no allow rule opens.
  const suggestion = finding === undefined ? await suggestRule(view) : undefined;
  const asker = state.asker(call.agent);
  const dontAsk = mode === 'dontAsk';
  if (dontAsk || asker === undefined) {
    const message = refusalText(call.tool.name, finding, { reason, suggestion, dontAsk });
    const by = dontAsk ? 'mode dontAsk' : outcome.kind === 'held' ? outcome.by : 'nobody to ask';
    return refuse(view, trace, { by, reason, message, suggestion });
  }
  const request = { call, mode, trace, reason, suggestion, blockedPath: finding?.blockedPath };
  const answer = await state.questions.put(request, asker);
  const { decision, text } = answer;
  const steps = [...trace, { guard: 'asker', decision, reason: text }];
  if (answer.given?.behavior !== 'allow') {
    const interrupt = call.signal.aborted || answer.given?.interrupt === true;
    return refuse(view, steps, { by: 'asker', reason: text, message: text, interrupt });
  }
  const { updatedInput } = answer.given;
  if (updatedInput === undefined || JSON.stringify(updatedInput) === JSON.stringify(call.input)) {
    return allow(view, steps, { by: 'asker', reason: text });
  }
  return rejudge(state, { view, trace: steps }, updatedInput);
}

/** An answer's own input is new input: judged like the first, and nobody is asked a second time. */
async function rejudge(
  state: GateState,
  before: { readonly view: CallView; readonly trace: readonly TraceStep[] },
  input: Readonly<Record<string, unknown>>,
): Promise<GateVerdict> {
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
  const { view, outcome, trace } = await judgeCall(state, { ...call, input, subject });
  const steps = [...before.trace, ...trace];
  if (outcome.kind !== 'held' || outcome.finding.settledByAnswer === true) {
    return allow(view, steps, { by: 'asker', reason: 'allowed when asked, with new input' });
  }
  const { finding, by } = outcome;
  const reason = `the input that came with the answer is held back: ${finding.reason ?? by}`;
  const message =
    finding.decision === 'deny'
      ? refusalText(call.tool.name, finding)
      : `${call.tool.name}: ${reason}.`;
  return refuse(view, steps, { by, reason, message });
}

function allow(view: CallView, trace: readonly TraceStep[], ending: Ending): GateVerdict {
  const { input } = view.call;
  const receipt = receiptOf(view, trace, { ...ending, decision: 'allow' });
  return { kind: 'allowed', permit: Permit.issue(receipt, input), input, receipt };
}
