import { freezeJson } from '../../lib/frozen-json.js';
import { isRecord, own } from '../../lib/own.js';
import { err } from '../../lib/result.js';
import { type Finding, type Guard, NOTHING, type Resolver } from '../../permissions/gate/guard.js';
import { absoluteInput, type Examination, type Precheck } from '../../permissions/gate/precheck.js';
import type { HookContext } from '../../permissions/gate/types.js';
import { joinHookContext } from '../../permissions/gate/verdict.js';
import type { CallView } from '../../permissions/gate/view.js';
import {
  RESTRICTIONS,
  type Restriction,
  strictest,
  type TraceStep,
} from '../../protocol/permissions.js';
import {
  contextsOf,
  oneRewrite,
  type Rewrite,
  refusalOf,
  reportStep,
  textIn,
} from '../answers/round.js';
import { type FitsRule, toolOccasion } from '../dispatch/input.js';
import type { HookDispatch, HookReport, HookRound } from '../registry/hook.js';

const EVENT = 'PreToolUse';

/** What the gate calls them: the guard that holds a call for them, the resolver that opens one. */
export const PRE_TOOL_USE_HOOKS = 'PreToolUse hooks';

interface PreToolUseDeps {
  /** Whether an `if` rule fits the call. */
  readonly ifRule: (view: CallView) => FitsRule;
}

export interface HookPrecheck extends Precheck {
  /**
   * Asks about a call before its turn has come, so that the calls of one answer need not wait for
   * each other's guards. Returns what withdraws the question.
   */
  askAhead(view: CallView): () => void;
}

/**
 * Asks the PreToolUse hooks of all kinds, all at once. The strictest answer wins; a hook's yes allows
 * what no rule holds back. A new input is shown to all but its authors once more, and must then stay.
 */
export function createHookPrecheck(dispatch: HookDispatch, deps: PreToolUseDeps): HookPrecheck {
  const ask = async (view: CallView, except: readonly string[] = []): Promise<Round> => {
    const occasion = toolOccasion(EVENT, view, { fits: deps.ifRule(view) });
    return roundOf(view, await dispatch.fire(EVENT, { ...occasion, except }));
  };
  const hasHooks = ({ call, names }: CallView): boolean =>
    dispatch.has(EVENT, { agent: call.agent, matched: names });
  const ahead = new Map<string, { readonly asked: string; readonly round: Promise<Round> }>();

  const precheck: Precheck = async (view, { retarget, rewritten }) => {
    const { toolUseId } = view.call;
    const early = ahead.get(toolUseId);
    ahead.delete(toolUseId);
    if (early === undefined && !hasHooks(view)) return { view, trace: [] };
    // Early answers count as long as what the hooks were shown is still true.
    const isValid = early !== undefined && early.asked === questionText(view);
    const first = await (isValid ? early.round : ask(view));
    const { rewrite } = first;
    if (rewrite === undefined || first.finding.decision === 'deny') return conclude(view, first);
    if (rewritten) return conclude(view, refused(first, secondRewrite(rewrite)));
    const next = await retarget(rewrite.input);
    if ('invalid' in next) {
      const reason = `the input that ${rewrite.by} gave is not valid: ${next.invalid}`;
      return conclude(view, refused(first, reason));
    }
    const again = joinRounds(first, await ask(next, rewrite.authors), rewrite);
    if (again.rewrite === undefined) return conclude(next, again);
    return conclude(next, refused(again, secondRewrite(again.rewrite)));
  };
  const askAhead = (view: CallView): (() => void) => {
    if (!hasHooks(view)) return () => undefined;
    const { toolUseId } = view.call;
    const entry = { asked: questionText(view), round: ask(view) };
    ahead.set(toolUseId, entry);
    return () => {
      if (ahead.get(toolUseId) === entry) ahead.delete(toolUseId);
    };
  };
  return Object.assign(precheck, { askAhead });
}

/** What hooks are shown of a call, as far as it may change before its turn comes. */
function questionText({ call, mode }: CallView): string {
  const { tool, workspace, agent } = call;
  return JSON.stringify([tool.name, absoluteInput(call), workspace.cwd, mode, agent.path]);
}

/** What all hooks together say about one input. */
interface Round {
  readonly finding: Finding;
  readonly trace: readonly TraceStep[];
  readonly hookContext: HookContext;
  /** The hooks that allow it. */
  readonly allowed?: { readonly by: string; readonly reason: string };
  /** A yes came with the input that it is for, as an answer does. */
  readonly answered?: boolean;
  readonly rewrite?: Rewrite;
}

function roundOf({ call }: CallView, round: HookRound): Round {
  const said = round.reports.map(readReport);
  const contexts = contextsOf(round, `${EVENT}:${call.tool.name}`);
  const forAgent = round.reports.flatMap((one) => textIn(one.answer.fields, 'agentContext') ?? []);
  const trace = said.map(({ report, restriction, allows, reason }) => {
    const decision = restriction === 'none' ? (allows ? 'allow' : 'pass') : restriction;
    return reportStep(report, decision, reason);
  });
  const agentContext = forAgent.join('\n') || undefined;
  const hookContext = { contexts: contexts.length === 0 ? undefined : contexts, agentContext };
  const finding = findingOf(said);
  if (finding.decision === 'deny') return { finding, trace, hookContext };
  const wanted = said.flatMap(({ report: { hook }, input, allows }): Rewrite[] =>
    input === undefined ? [] : [{ by: hook.label, input, allowed: allows, authors: [hook.id] }],
  );
  const rewrite = oneRewrite(wanted, [call.input]);
  if (rewrite !== undefined && 'conflict' in rewrite) {
    return refused({ trace, hookContext }, rewrite.conflict);
  }
  const yes = said.filter(({ allows }) => allows).map(({ report }) => report);
  const reasons = yes.flatMap(({ answer }) => answer.reason ?? []);
  const by = yes.map(({ hook }) => hook.label).join(', ');
  return {
    finding,
    trace,
    hookContext,
    answered: wanted.some(({ allowed }) => allowed),
    allowed: yes.length === 0 ? undefined : { by, reason: reasons.join('\n') || 'allowed' },
    rewrite,
  };
}

/** What one hook's answer means for the call. */
interface ReadReport {
  readonly report: HookReport;
  readonly restriction: Restriction;
  /** Of the restriction. */
  readonly reason?: string;
  readonly stop?: string;
  readonly failed?: boolean;
  readonly allows: boolean;
  /** What the call is to run with. */
  readonly input?: Rewrite['input'];
}

function readReport(report: HookReport): ReadReport {
  const { hook, answer, complaint } = report;
  const refusal = refusalOf(report);
  if (refusal !== undefined) return { report, restriction: 'deny', allows: false, ...refusal };
  const wanted = own(answer.fields, 'updatedInput') ?? undefined;
  const given = isRecord(wanted) ? freezeJson(wanted) : err('it is not an object');
  if (wanted !== undefined && !given.ok) {
    // fail-closed: it is not known what the call was to become.
    const reason = `the guard failed: ${hook.label} gave an input that cannot be used: ${given.error}`;
    return { report, restriction: 'deny', allows: false, reason, failed: true };
  }
  const isOver = answer.asyncMs === undefined;
  const input = isOver && given.ok ? given.value : undefined;
  if (answer.decision === 'ask' || answer.decision === 'defer') {
    const what = answer.decision === 'ask' ? 'wants a person to decide' : 'put it off';
    const reason = answer.reason ?? `${hook.label} ${what}`;
    return { report, restriction: answer.decision, allows: false, reason, input };
  }
  const counts = isOver && complaint === undefined && hook.restrictOnly !== true;
  return { report, restriction: 'none', allows: counts && answer.decision === 'allow', input };
}

/** The strictest of what was said, in the words of all who said it, in the order they are declared. */
function findingOf(said: readonly ReadReport[]): Finding {
  const decision = strictest(said.map(({ restriction }) => restriction));
  if (decision === 'none') return NOTHING;
  const winners = said.filter(({ restriction }) => restriction === decision);
  const stops = winners.flatMap(({ stop }) => stop ?? []);
  const hasFailed = winners.every(({ failed }) => failed === true);
  return {
    decision,
    reason: winners.flatMap(({ reason }) => reason ?? []).join('\n'),
    source: winners.map(({ report }) => report.hook.label).join(', '),
    refusal: decision === 'ask' ? undefined : hasFailed ? 'guard-failed' : 'hook',
    stop: stops.join('\n') || undefined,
  };
}

/** What was held against the first input still counts; a yes is for the input it was given to. */
function joinRounds(first: Round, again: Round, rewrite: Rewrite): Round {
  const [a, b] = [first.finding, again.finding];
  const isStricter = RESTRICTIONS.indexOf(b.decision) > RESTRICTIONS.indexOf(a.decision);
  const ofAuthor = { by: rewrite.by, reason: 'allowed with its own input' };
  return {
    ...again,
    finding: isStricter ? b : a,
    answered: rewrite.allowed || again.answered,
    trace: [...first.trace, ...again.trace],
    hookContext: joinHookContext(first.hookContext, again.hookContext),
    allowed: again.allowed ?? (rewrite.allowed ? ofAuthor : undefined),
  };
}

function secondRewrite({ by }: Rewrite): string {
  return `${by} changed an input that had been changed already; it must leave its own output as it is`;
}

function refused(
  { trace, hookContext }: Pick<Round, 'trace' | 'hookContext'>,
  reason: string,
): Round {
  return { finding: { decision: 'deny', refusal: 'hook', reason }, trace, hookContext };
}

function conclude(view: CallView, round: Round): Examination {
  const { finding, allowed, answered, trace, hookContext } = round;
  const guard: Guard = { name: PRE_TOOL_USE_HOOKS, onFailure: 'deny', decide: async () => finding };
  const seen = { view, guard, trace, ...hookContext };
  if (allowed === undefined) return seen;
  const { by, reason } = allowed;
  const resolver: Resolver = {
    name: PRE_TOOL_USE_HOOKS,
    decide: async ({ mode }) =>
      mode === 'plan'
        ? // fail-closed: what waits for the plan waits for a person, not for a script.
          { decision: 'pass', reason: `${by} allows it, which is not enough in plan mode` }
        : { decision: 'allow', reason: `${by}: ${reason}`, source: by },
  };
  return { ...seen, answered, resolver };
}
