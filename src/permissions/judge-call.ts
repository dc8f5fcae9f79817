import type { Clock } from '../env/clock.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { PermissionMode } from '../protocol/permissions.js';
import { type AtOnce, isLater } from '../util/at-once.js';
import type { KeepAnswer } from './answers.js';
import type { GateFacts } from './facts.js';
import { type Guard, NOTHING, type Resolver } from './guard.js';
import { STANDARD_GUARDS } from './guards.js';
import { type Judgement, judge, type Panel } from './judge.js';
import type { PathFileSystem } from './paths.js';
import { type Examination, examine, type Precheck } from './precheck.js';
import { STANDARD_RESOLVERS } from './resolvers.js';
import type { RuleSet } from './rules.js';
import type { Asker, GateCall } from './types.js';
import type { Progress } from './verdict.js';
import { type CallView, type ViewDeps, viewOf } from './view.js';

export interface GateDeps {
  readonly fs: PathFileSystem;
  readonly home: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Asked at every call, as all three may change during a session. */
  mode(agent: AgentRef): PermissionMode;
  rules(agent: AgentRef): RuleSet;
  /** Undefined when nobody can be asked, which means no. */
  asker(call: GateCall): Asker | undefined;
  readonly facts?: GateFacts;
  /** Guards beside the standard ones: banned tools. */
  readonly guards?: readonly Guard[];
  /** Resolvers beside the standard ones: answers that were given before. */
  readonly resolvers?: readonly Resolver[];
  /** Looks at every call first and may give it another input: hooks. */
  readonly precheck?: Precheck;
  /** Keeps what an answer says beyond the call it was given for. */
  readonly keep?: KeepAnswer;
}

export type Judged = Judgement & Progress;

/** A gate with those who are asked about every call. */
export interface PanelledGate extends GateDeps {
  readonly panel: Panel;
}

export function panelOf({ guards = [], resolvers = [], clock }: GateDeps): Panel {
  return {
    guards: [...guards, ...STANDARD_GUARDS],
    resolvers: [...resolvers, ...STANDARD_RESOLVERS],
    clock,
  };
}

/** What guards and resolvers make of a call, before anybody is asked. */
export function judgeCall(
  gate: PanelledGate,
  call: GateCall,
  { rewritten }: { readonly rewritten: boolean } = { rewritten: false },
): AtOnce<Judged> {
  const seen = (one: GateCall): CallView => viewOf(one, standing(gate, call.agent));
  const examined = examine(gate.precheck, seen(call), { viewOf: seen, rewritten });
  // Hooks may take their time: what was lowered or forbidden meanwhile counts for this call already. Where
  // none was waited for, that is seen when all have spoken, as every change is.
  return isLater(examined)
    ? examined.then((before) => judgeExamined(gate, before, current(gate, before.view)))
    : judgeExamined(gate, examined, examined.view);
}

function judgeExamined(gate: PanelledGate, before: Examination, view: CallView): AtOnce<Judged> {
  const panel = withExamination(gate.panel, before);
  const judging = judgeStanding({ gate, view, panel, count: 1 });
  return isLater(judging) ? joinedLater(before, judging) : joined(before, judging);
}

/** What was found before the rules were asked is said first. */
function withExamination(panel: Panel, { guard, resolver, answered }: Examination): Panel {
  if (guard === undefined && resolver === undefined && answered !== true) return panel;
  const guards = guard === undefined ? panel.guards : [guard, ...panel.guards];
  return {
    guards: answered === true ? guards.map(unlessAnswered) : guards,
    resolvers: resolver === undefined ? panel.resolvers : [resolver, ...panel.resolvers],
    clock: panel.clock,
  };
}

function joined({ trace, contexts, agentContext }: Examination, judged: JudgedView): Judged {
  if (trace.length === 0 && contexts === undefined && agentContext === undefined) return judged;
  return {
    view: judged.view,
    outcome: judged.outcome,
    trace: [...trace, ...judged.trace],
    ...(contexts === undefined ? {} : { contexts }),
    ...(agentContext === undefined ? {} : { agentContext }),
  };
}

async function joinedLater(before: Examination, judging: Promise<JudgedView>): Promise<Judged> {
  return joined(before, await judging);
}

/** What changes without end while a call is judged is nobody's word. */
const MOST_ROUNDS = 4;

type JudgedView = Judgement & { readonly view: CallView };

/** Guards may take their time too, as they ask servers: what stands when all have spoken is what counts. */
function judgeStanding(round: Round): AtOnce<JudgedView> {
  const { view, panel, count } = round;
  if (count > MOST_ROUNDS) return heldAsUnsteady(view);
  const judging = judge(view, panel);
  return isLater(judging) ? ifStandingLater(judging, round) : ifStanding(judging, round);
}

/** A call as it is put before those who are asked. */
interface Round {
  readonly gate: GateDeps;
  readonly view: CallView;
  readonly panel: Panel;
  readonly count: number;
}

function ifStanding({ outcome, trace }: Judgement, round: Round): AtOnce<JudgedView> {
  const { gate, view, panel, count } = round;
  const now = current(gate, view);
  if (now === view) return { view, outcome, trace };
  return judgeStanding({ gate, view: now, panel, count: count + 1 });
}

async function ifStandingLater(judging: Promise<Judgement>, round: Round): Promise<JudgedView> {
  return await ifStanding(await judging, round);
}

function heldAsUnsteady(view: CallView): JudgedView {
  const by = 'mode and rules';
  // fail-closed: nobody can say by which of them the call was judged.
  const reason = 'the mode or the rules kept changing while the call was judged';
  const finding = { decision: 'ask', reason } as const;
  return { view, outcome: { kind: 'held', by, finding }, trace: [{ guard: by, ...finding }] };
}

function standing(deps: GateDeps, agent: AgentRef): ViewDeps {
  const { fs, home, facts } = deps;
  return { fs, home, mode: deps.mode(agent), rules: deps.rules(agent), facts };
}

/** The view, made anew where another mode or other rules stand by now. */
function current(deps: GateDeps, view: CallView): CallView {
  const { agent } = view.call;
  const same = deps.mode(agent) === view.mode && isSameSet(deps.rules(agent), view.rules);
  return same ? view : viewOf(view.call, standing(deps, agent));
}

/** A set that was put together anew may hold the same rules. */
function isSameSet(one: RuleSet, other: RuleSet): boolean {
  if (one === other) return true;
  return (['deny', 'ask', 'allow'] as const).every(
    (kind) =>
      one[kind] === other[kind] ||
      (one[kind].length === other[kind].length &&
        one[kind].every((rule, at) => rule === other[kind][at])),
  );
}

/** The question that the tool puts to a person has its answer; what else a guard holds stays. */
function unlessAnswered(guard: Guard): Guard {
  return {
    ...guard,
    async decide(view) {
      const finding = await guard.decide(view);
      return finding.settledByAnswer === true ? NOTHING : finding;
    },
  };
}
