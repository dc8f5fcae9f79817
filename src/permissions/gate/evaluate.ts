import { messageOf } from '../../errors.js';
import type { Clock } from '../../platform/clock.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { type PermissionMode, strictest, type TraceStep } from '../../protocol/permissions.js';
import type { KeepAnswer } from '../grants/updates.js';
import { STANDARD_GUARDS } from '../guards/guards.js';
import type { PathFileSystem } from '../paths/paths.js';
import type { RuleSet } from '../rules/rules.js';
import {
  type Approval,
  ASKS_PERSON,
  type Finding,
  type Guard,
  NOTHING,
  type Resolver,
} from './guard.js';
import { type Examination, examine, type Precheck } from './precheck.js';
import { STANDARD_RESOLVERS } from './resolvers.js';
import { unrendered } from './shell-text.js';
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

/** The guards and resolvers that every call passes, in order. */
export interface Pipeline {
  readonly guards: readonly Guard[];
  readonly resolvers: readonly Resolver[];
  readonly clock: Pick<Clock, 'monotonic'>;
}

function createPipeline({ guards = [], resolvers = [], clock }: GateDeps): Pipeline {
  return {
    guards: [...guards, ...STANDARD_GUARDS],
    resolvers: [...resolvers, ...STANDARD_RESOLVERS],
    clock,
  };
}

export type Outcome =
  | { readonly kind: 'held'; readonly by: string; readonly finding: Finding }
  | { readonly kind: 'allowed'; readonly by: string; readonly approval: Approval }
  /** Nobody objects and nobody allows it. */
  | { readonly kind: 'open'; readonly reason?: string | undefined };

interface Evaluation {
  readonly outcome: Outcome;
  readonly trace: readonly TraceStep[];
}

export type EvaluatedCall = Evaluation & Progress;

export type Evaluate = (
  call: GateCall,
  options?: { readonly rewritten: boolean },
) => Promise<EvaluatedCall>;

/** Asks hooks, guards and resolvers about a call; people are asked later, by the gate. */
export function createEvaluate(gate: GateDeps): Evaluate {
  const pipeline = createPipeline(gate);
  const freshView = (call: GateCall): CallView => currentView(gate, call);
  return async (call, { rewritten } = { rewritten: false }) => {
    const how = { viewOf: freshView, rewritten };
    const examined = await examine(gate.precheck, freshView(call), how);
    const asked = withExamination(pipeline, examined);
    const { view, outcome, trace } = await evaluateUntilStable(gate, examined.view, asked);
    const { contexts, agentContext } = examined;
    return { view, outcome, trace: [...examined.trace, ...trace], contexts, agentContext };
  };
}

/** The findings of the precheck come before those of the guards. */
function withExamination(pipeline: Pipeline, { guard, resolver, answered }: Examination): Pipeline {
  const guards = guard === undefined ? pipeline.guards : [guard, ...pipeline.guards];
  return {
    guards: answered === true ? guards.map(unlessAnswered) : guards,
    resolvers: resolver === undefined ? pipeline.resolvers : [resolver, ...pipeline.resolvers],
    clock: pipeline.clock,
  };
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

/** A mode or rules that still change after this many rounds decide nothing. */
const MOST_ROUNDS = 4;

/** Hooks and guards take their time: a call counts as judged only under the mode and rules in force at the end. */
async function evaluateUntilStable(
  gate: GateDeps,
  examined: CallView,
  pipeline: Pipeline,
): Promise<Evaluation & { readonly view: CallView }> {
  let view = ifUnchanged(gate, examined);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { outcome, trace } = await holdUnrendered(view, await runPipeline(view, pipeline));
    const now = ifUnchanged(gate, view);
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
function ifUnchanged(gate: GateDeps, view: CallView): CallView {
  const { agent } = view.call;
  const same = gate.mode(agent) === view.mode && isSameSet(gate.rules(agent), view.rules);
  return same ? view : currentView(gate, view.call);
}

function currentView(gate: GateDeps, call: GateCall): CallView {
  const { fs, home, facts } = gate;
  return viewOf(call, {
    fs,
    home,
    mode: gate.mode(call.agent),
    rules: gate.rules(call.agent),
    facts,
  });
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

/** Asks all guards; if none holds the call, asks the resolvers until one allows it. */
export async function runPipeline(view: CallView, pipeline: Pipeline): Promise<Evaluation> {
  const trace = new Trace(pipeline.clock);
  let held: { readonly by: string; readonly finding: Finding } | undefined;
  for (const guard of pipeline.guards) {
    const { finding, failure } = await askGuard(guard, view);
    trace.add(guard.name, { ...finding, failure });
    if (finding.decision !== 'none' && outweighs(finding, held?.finding)) {
      held = { by: guard.name, finding };
    }
  }
  if (held !== undefined) return { outcome: { kind: 'held', ...held }, trace: trace.steps };
  let reason: string | undefined;
  for (const resolver of pipeline.resolvers) {
    const { approval, failure } = await askResolver(resolver, view);
    trace.add(resolver.name, { decision: 'pass', ...approval, failure });
    if (approval?.decision === 'allow') {
      return { outcome: { kind: 'allowed', by: resolver.name, approval }, trace: trace.steps };
    }
    reason ??= approval?.reason;
  }
  return { outcome: { kind: 'open', reason }, trace: trace.steps };
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

/** fail-closed: a resolver that fails allows nothing. */
async function askResolver(
  resolver: Resolver,
  view: CallView,
): Promise<{ readonly approval?: Approval | undefined; readonly failure?: string }> {
  try {
    return { approval: await resolver.decide(view) };
  } catch (thrown) {
    return { failure: messageOf(thrown) };
  }
}

/** The steps of a receipt, each with the time since the one before. */
class Trace {
  readonly steps: TraceStep[] = [];
  readonly #clock: Pick<Clock, 'monotonic'>;
  #before: number;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#before = clock.monotonic();
  }

  add(guard: string, { decision, reason, source, failure }: Omit<TraceStep, 'guard' | 'ms'>): void {
    const now = this.#clock.monotonic();
    // To the microsecond: receipts are not to be filled with digits.
    const ms = Math.round((now - this.#before) * 1000) / 1000;
    this.#before = now;
    this.steps.push({ guard, decision, ms, reason, source, failure });
  }
}

/** The strictest holds the call; among equals the one that people must read, else the first. */
function outweighs(one: Finding, held: Finding | undefined): boolean {
  if (held === undefined) return true;
  if (one.decision === held.decision) return one.foremost === true && held.foremost !== true;
  return strictest([held.decision, one.decision]) === one.decision;
}
