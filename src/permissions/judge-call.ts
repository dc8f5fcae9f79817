import type { Clock } from '../env/clock.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { PermissionMode } from '../protocol/permissions.js';
import type { KeepAnswer } from './answers.js';
import type { GateFacts } from './facts.js';
import { type Guard, NOTHING, type Resolver } from './guard.js';
import { STANDARD_GUARDS } from './guards.js';
import { type Judgement, judge } from './judge.js';
import type { PathFileSystem } from './paths.js';
import { examine, type Precheck } from './precheck.js';
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

/** What guards and resolvers make of a call, before anybody is asked. */
export async function judgeCall(
  deps: GateDeps,
  call: GateCall,
  { rewritten }: { readonly rewritten: boolean } = { rewritten: false },
): Promise<Judged> {
  const seen = (one: GateCall): CallView => viewOf(one, standing(deps, call.agent));
  const before = await examine(deps.precheck, seen(call), { viewOf: seen, rewritten });
  const { contexts, agentContext } = before;
  const view = current(deps, before.view);
  const all = [...before.guards, ...(deps.guards ?? []), ...STANDARD_GUARDS];
  const guards = before.answered === true ? all.map(unlessAnswered) : all;
  const resolvers = [...before.resolvers, ...(deps.resolvers ?? []), ...STANDARD_RESOLVERS];
  const { clock } = deps;
  const { outcome, trace } = await judge(view, { guards, resolvers, clock });
  return {
    view,
    outcome,
    trace: [...before.trace, ...trace],
    ...(contexts === undefined ? {} : { contexts }),
    ...(agentContext === undefined ? {} : { agentContext }),
  };
}

function standing(deps: GateDeps, agent: AgentRef): ViewDeps {
  const { fs, home, facts } = deps;
  return { fs, home, mode: deps.mode(agent), rules: deps.rules(agent), facts };
}

/** Hooks may take their time: what was lowered or forbidden meanwhile counts for this call already. */
function current(deps: GateDeps, view: CallView): CallView {
  const { agent } = view.call;
  const same = deps.mode(agent) === view.mode && deps.rules(agent) === view.rules;
  return same ? view : viewOf(view.call, standing(deps, agent));
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
