import { messageOf } from '../../errors.js';
import type { Clock } from '../../platform/clock.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { type PermissionMode, strictest, type TraceStep } from '../../protocol/permissions.js';
import type { KeepAnswer } from '../grants/updates.js';
import { STANDARD_GUARDS } from '../guards/guards.js';
import { withLinkedPlaces } from '../paths/linked-places.js';
import type { PathFileSystem } from '../paths/paths.js';
import type { Rule, RuleSet } from '../rules/rule.js';
import {
  type Approval,
  ASKS_PERSON,
  type Finding,
  type Guard,
  NOTHING,
  type Resolver,
  unrendered,
} from './guard.js';
import { examine, type Precheck } from './precheck.js';
import { STANDARD_RESOLVERS } from './resolvers.js';
import type { Asker, GateCall } from './types.js';
import type { Progress } from './verdict.js';
import { type CallView, type GateFacts, viewOf } from './view.js';

export interface GateDeps {
  readonly fs: PathFileSystem;
  readonly home: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Asked at every call, as all three may change during a session. */
  mode(agent: AgentRef): PermissionMode;
  rules(agent: AgentRef): RuleSet;
  /** Undefined when no person or hook can be asked, which means no. */
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

/** The guards and resolvers that a call passes, in order. */
interface Pipeline {
  readonly guards: readonly Guard[];
  readonly resolvers: readonly Resolver[];
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The question that the tool puts to a person has its answer; what else a guard holds stays. */
  readonly answered?: boolean | undefined;
}

export type Outcome =
  | { readonly kind: 'held'; readonly by: string; readonly finding: Finding }
  | { readonly kind: 'allowed'; readonly by: string; readonly approval: Approval }
  /** No guard holds the call and no resolver allows it. */
  | { readonly kind: 'open'; readonly reason?: string | undefined };

interface Evaluation {
  readonly outcome: Outcome;
  readonly trace: readonly TraceStep[];
}

export interface EvaluatedCall extends Evaluation, Progress {
  /** The call under the mode and rules in force now; undefined where they are the same. Hooks are not asked again. */
  renewed(): Promise<EvaluatedCall | undefined>;
}

export type Evaluate = (
  call: GateCall,
  options?: { readonly rewritten: boolean },
) => Promise<EvaluatedCall>;

/** Asks hooks, guards and resolvers about a call; people are asked later, by the gate. */
export function createEvaluate(gate: GateDeps): Evaluate {
  const { clock, guards = [], resolvers = [] } = gate;
  const allGuards = [...guards, ...STANDARD_GUARDS];
  const allResolvers = [...resolvers, ...STANDARD_RESOLVERS];
  return async (call, { rewritten } = { rewritten: false }) => {
    const how = { viewOf: (one: GateCall) => currentView(gate, one), rewritten };
    const examined = await examine(gate.precheck, await currentView(gate, call), how);
    const { guard, resolver, answered, contexts, agentContext } = examined;
    // The findings of the precheck come before those of the guards.
    const pipeline: Pipeline = {
      guards: guard === undefined ? allGuards : [guard, ...allGuards],
      resolvers: resolver === undefined ? allResolvers : [resolver, ...allResolvers],
      clock,
      answered,
    };
    const evaluate = async (
      start: CallView,
      before: readonly TraceStep[],
    ): Promise<EvaluatedCall> => {
      const { view, outcome, trace } = await evaluateUntilStable(gate, start, pipeline);
      const renewed = async () => {
        const now = await ifUnchanged(gate, view);
        return now === view ? undefined : await evaluate(now, []);
      };
      return { view, outcome, trace: [...before, ...trace], contexts, agentContext, renewed };
    };
    return await evaluate(examined.view, examined.trace);
  };
}

/** A mode or rules that still change after this many rounds decide nothing. */
const MOST_ROUNDS = 4;

/** Hooks and guards take their time: a call counts as judged only under the mode and rules in force at the end. */
async function evaluateUntilStable(
  gate: GateDeps,
  examined: CallView,
  pipeline: Pipeline,
): Promise<Evaluation & { readonly view: CallView }> {
  let view = await ifUnchanged(gate, examined);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { outcome, trace } = await holdUnrendered(view, await runPipeline(view, pipeline));
    const now = await ifUnchanged(gate, view);
    if (now === view) return { view, outcome, trace };
    view = now;
  }
  const by = 'mode and rules';
  // fail-closed: it is not known under which of them the call would be judged.
  const reason = 'the mode or the rules kept changing while the call was judged';
  const finding = { decision: 'ask', reason } as const;
  return { view, outcome: { kind: 'held', by, finding }, trace: [{ guard: by, ...finding }] };
}

/** fail-closed: what is allowed runs in its canonical form; code that has none waits for a person. */
async function holdUnrendered(view: CallView, evaluation: Evaluation): Promise<Evaluation> {
  const { outcome, trace } = evaluation;
  if (outcome.kind !== 'allowed' || outcome.approval.verbatim === true) return evaluation;
  const finding = await unrendered(view);
  if (finding === undefined) return evaluation;
  const by = ASKS_PERSON.shellText;
  const { decision, reason, source } = finding;
  const step = { guard: by, decision, reason, source };
  return { outcome: { kind: 'held', by, finding }, trace: [...trace, step] };
}

/** The view itself while its mode and rules are in force, else a new one. */
async function ifUnchanged(gate: GateDeps, view: CallView): Promise<CallView> {
  const { agent } = view.call;
  // A set that was put together anew may hold the same rules.
  const all = ({ deny, ask, allow }: RuleSet): readonly Rule[] => [...deny, ...ask, ...allow];
  const [before, after] = [all(view.rules), all(gate.rules(agent))];
  const isSame = before.length === after.length && before.every((rule, at) => rule === after[at]);
  return isSame && gate.mode(agent) === view.mode ? view : await currentView(gate, view.call);
}

async function currentView(gate: GateDeps, call: GateCall): Promise<CallView> {
  const { fs, home, facts } = gate;
  const { agent } = call;
  const rules = gate.rules(agent);
  const trees = await withLinkedPlaces(facts?.trees, rules, fs);
  return viewOf(call, { fs, home, mode: gate.mode(agent), rules, facts: { ...facts, trees } });
}

/** Asks all guards; if none holds the call, asks the resolvers until one allows it. */
export async function runPipeline(view: CallView, pipeline: Pipeline): Promise<Evaluation> {
  const { guards, resolvers, clock, answered } = pipeline;
  const trace: TraceStep[] = [];
  let before = clock.monotonic();
  const note = (guard: string, step: Omit<TraceStep, 'guard' | 'ms'>): void => {
    const now = clock.monotonic();
    const { decision, reason, source, failure } = step;
    // To the microsecond: receipts are not to be filled with digits.
    const ms = Math.round((now - before) * 1000) / 1000;
    before = now;
    trace.push({ guard, decision, ms, reason, source, failure });
  };
  let held: { readonly by: string; readonly finding: Finding } | undefined;
  for (const guard of guards) {
    const { finding: found, failure } = await askGuard(guard, view);
    const finding = answered === true && found.settledByAnswer === true ? NOTHING : found;
    note(guard.name, { ...finding, failure });
    if (finding.decision !== 'none' && outweighs(finding, held?.finding)) {
      held = { by: guard.name, finding };
    }
  }
  if (held !== undefined) return { outcome: { kind: 'held', ...held }, trace };
  let reason: string | undefined;
  for (const resolver of resolvers) {
    const { name } = resolver;
    try {
      const approval = await resolver.decide(view);
      view.judge.budget.spend(0);
      note(name, { decision: 'pass', ...approval });
      if (approval?.decision === 'allow') {
        return { outcome: { kind: 'allowed', by: name, approval }, trace };
      }
      reason ??= approval?.reason;
    } catch (thrown) {
      // fail-closed: a resolver that fails allows nothing.
      note(name, { decision: 'pass', failure: messageOf(thrown) });
    }
  }
  return { outcome: { kind: 'open', reason }, trace };
}

/** fail-closed: a guard that fails decides what its `onFailure` says. */
async function askGuard(
  guard: Guard,
  view: CallView,
): Promise<{ readonly finding: Finding; readonly failure?: string }> {
  try {
    return { finding: await guard.decide(view) };
  } catch (thrown) {
    const failure = messageOf(thrown);
    const reason = `the guard "${guard.name}" failed: ${failure}`;
    return { finding: { decision: guard.onFailure, refusal: 'guard-failed', reason }, failure };
  }
}

/** The strictest holds the call; among equals the one that people must read, else the first. */
function outweighs(one: Finding, held: Finding | undefined): boolean {
  if (held === undefined) return true;
  if (one.decision === held.decision) return one.foremost === true && held.foremost !== true;
  return strictest([held.decision, one.decision]) === one.decision;
}
