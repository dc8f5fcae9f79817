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
  isBlank,
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

export interface PreToolUseDeps {
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
 * Asks the PreToolUse hooks of all kinds, all at once. The strictest answer wins; a yes opens what
 * no rule holds. A new input is shown to all but its authors once more, and must then stay as it is.
 */
export function createHookPrecheck(dispatch: HookDispatch, deps: PreToolUseDeps): HookPrecheck {
  const ask = async (view: CallView, except: readonly string[] = []): Promise<Round> => {
    const occasion = toolOccasion(EVENT, view, { fits: deps.ifRule(view) });
    return roundOf(view, await dispatch.fire(EVENT, { ...occasion, except }));
  };
  const ahead = new Map<string, { readonly asked: string; readonly round: Promise<Round> }>();
  /** What was asked ahead counts as long as the hooks were told what is still true. */
  const first = (view: CallView): Promise<Round> => {
    const { toolUseId } = view.call;
    const early = ahead.get(toolUseId);
    ahead.delete(toolUseId);
    const isValid = early !== undefined && early.asked === questionText(view);
    return isValid ? early.round : ask(view);
  };
  return Object.assign(
    precheck(dispatch, { ask, first, isAhead: ({ call }) => ahead.has(call.toolUseId) }),
    {
      askAhead(view: CallView): () => void {
        const { agent, toolUseId } = view.call;
        if (!dispatch.has(EVENT, { agent, matched: view.names })) return () => undefined;
        const entry = { asked: questionText(view), round: ask(view) };
        ahead.set(toolUseId, entry);
        return () => {
          if (ahead.get(toolUseId) === entry) ahead.delete(toolUseId);
        };
      },
    },
  );
}

/** What hooks are told about a call, as far as it may change before its turn comes. */
function questionText({ call, mode }: CallView): string {
  const { tool, workspace, agent } = call;
  return JSON.stringify([tool.name, absoluteInput(call), workspace.cwd, mode, agent.path]);
}

function precheck(
  dispatch: HookDispatch,
  how: {
    ask(view: CallView, except?: readonly string[]): Promise<Round>;
    first(view: CallView): Promise<Round>;
    isAhead(view: CallView): boolean;
  },
): Precheck {
  const { ask } = how;
  return async (view, { retarget, rewritten }) => {
    const { agent } = view.call;
    // What was asked ahead counts, whatever became of the hooks since.
    const isAsked = how.isAhead(view) || dispatch.has(EVENT, { agent, matched: view.names });
    if (!isAsked) return { view, trace: [] };
    const first = await how.first(view);
    const { rewrite } = first;
    if (rewrite === undefined || first.finding.decision === 'deny') return conclude(view, first);
    if (rewritten) return conclude(view, refused(first, secondRewrite(rewrite.by)));
    const next = await retarget(rewrite.input);
    if ('invalid' in next) {
      const reason = `the input that ${rewrite.by} gave is not valid: ${next.invalid}`;
      return conclude(view, refused(first, reason));
    }
    const again = joinRounds(first, await ask(next, rewrite.authors), rewrite);
    return again.rewrite === undefined
      ? conclude(next, again)
      : conclude(next, refused(again, secondRewrite(again.rewrite.by)));
  };
}

/** One look of all hooks at one input. */
interface Round {
  readonly finding: Finding;
  /** The hooks that said yes. */
  readonly allowed?: { readonly by: string; readonly reason: string };
  /** A yes came with the input that it is for, as an answer does. */
  readonly answered: boolean;
  readonly rewrite?: Rewrite;
  readonly trace: readonly TraceStep[];
  readonly hookContext: HookContext;
}

function roundOf(view: CallView, round: HookRound): Round {
  const said = round.reports.map(hear);
  const finding = findingOf(said);
  const { call } = view;
  const contexts = contextsOf(round, `${EVENT}:${call.tool.name}`);
  const forAgent = said.flatMap(({ agentContext }) => agentContext ?? []).join('\n');
  const heard = {
    trace: said.map(({ step }) => step),
    hookContext: joinHookContext({ contexts }, forAgent === '' ? {} : { agentContext: forAgent }),
  };
  if (finding.decision === 'deny') return { ...heard, finding, answered: false };
  const wanted = said.flatMap(({ rewrite }) => rewrite ?? []);
  const rewrite = oneRewrite(wanted, [call.input]);
  if (rewrite !== undefined && 'conflict' in rewrite) return refused(heard, rewrite.conflict);
  const yes = said.filter(({ allows }) => allows);
  const reasons = yes.flatMap(({ reason }) => reason ?? []);
  const by = yes.map((one) => one.by).join(', ');
  return {
    ...heard,
    finding,
    answered: wanted.some(({ allowed }) => allowed),
    ...(yes.length === 0 ? {} : { allowed: { by, reason: reasons.join('\n') || 'allowed' } }),
    rewrite,
  };
}

/** What one hook's answer comes to. */
interface Said {
  readonly by: string;
  readonly restriction: Restriction;
  readonly reason: string | undefined;
  readonly failed: boolean;
  readonly allows: boolean;
  readonly stop: string | undefined;
  readonly rewrite: Rewrite | undefined;
  readonly agentContext: string | undefined;
  readonly step: TraceStep;
}

function hear(report: HookReport): Said {
  const { hook, answer } = report;
  const by = hook.label;
  const wanted = own(answer.fields, 'updatedInput') ?? undefined;
  const given =
    wanted === undefined
      ? undefined
      : isRecord(wanted)
        ? freezeJson(wanted)
        : err('it is no object');
  const unusable = given?.ok === false ? given.error : undefined;
  const isOpen = answer.asyncMs === undefined && report.complaint === undefined;
  const { restriction, reason, stop, failed = false } = restraintOf(report, unusable);
  const allows =
    restriction === 'none' && answer.decision === 'allow' && isOpen && hook.restrictOnly !== true;
  const input = answer.asyncMs === undefined && given?.ok ? given.value : undefined;
  const decision = restriction === 'none' ? (allows ? 'allow' : 'pass') : restriction;
  return {
    by,
    restriction,
    reason: reason ?? (isBlank(answer.reason) ? undefined : answer.reason),
    failed,
    allows,
    stop,
    rewrite: input === undefined ? undefined : { by, input, allowed: allows, authors: [hook.id] },
    agentContext: textIn(answer.fields, 'agentContext'),
    step: reportStep(report, decision, reason),
  };
}

/** What holds the call; `unusable`: why the input that the hook gave is none. */
function restraintOf(
  report: HookReport,
  unusable: string | undefined,
): Pick<Said, 'restriction'> & Partial<Pick<Said, 'reason' | 'stop' | 'failed'>> {
  const { hook, answer } = report;
  const refusal = refusalOf(report);
  if (refusal !== undefined) return { restriction: 'deny', ...refusal };
  if (unusable !== undefined) {
    // fail-closed: nobody knows what the call was to become.
    const reason = `the guard failed: ${hook.label} gave an input that cannot be used: ${unusable}`;
    return { restriction: 'deny', reason, failed: true };
  }
  if (answer.decision !== 'ask' && answer.decision !== 'defer') return { restriction: 'none' };
  const what = answer.decision === 'ask' ? 'wants a person to decide' : 'put it off';
  const reason = isBlank(answer.reason) ? `${hook.label} ${what}` : answer.reason;
  return { restriction: answer.decision, reason };
}

/** The strictest of what was said, in the words of all who said it, in the order they are declared. */
function findingOf(said: readonly Said[]): Finding {
  const decision = strictest(said.map(({ restriction }) => restriction));
  if (decision === 'none') return NOTHING;
  const winners = said.filter(({ restriction }) => restriction === decision);
  const stops = winners.flatMap(({ stop }) => stop ?? []);
  const hasFailed = winners.every(({ failed }) => failed);
  return {
    decision,
    reason: winners.flatMap(({ reason }) => reason ?? []).join('\n'),
    source: winners.map(({ by }) => by).join(', '),
    ...(decision === 'ask' ? {} : { refusal: hasFailed ? 'guard-failed' : 'hook' }),
    ...(stops.length === 0 ? {} : { stop: stops.join('\n') }),
  };
}

/** What was held against the first input is not forgotten; a yes is for the input it was given to. */
function joinRounds(first: Round, again: Round, rewrite: Rewrite): Round {
  const author = rewrite.allowed
    ? { by: rewrite.by, reason: 'allowed with its own input' }
    : undefined;
  const allowed = again.allowed ?? author;
  const { allowed: _allowed, ...rest } = again;
  return {
    ...rest,
    finding: stricter(first.finding, again.finding),
    answered: rewrite.allowed || again.answered,
    trace: [...first.trace, ...again.trace],
    hookContext: joinHookContext(first.hookContext, again.hookContext),
    allowed,
  };
}

function stricter(a: Finding, b: Finding): Finding {
  return RESTRICTIONS.indexOf(b.decision) > RESTRICTIONS.indexOf(a.decision) ? b : a;
}

function secondRewrite(by: string): string {
  return `${by} changed an input that had been changed already; it must leave its own output as it is`;
}

function refused(
  { trace, hookContext }: Pick<Round, 'trace' | 'hookContext'>,
  reason: string,
): Round {
  const finding: Finding = { decision: 'deny', refusal: 'hook', reason };
  return { finding, answered: false, trace, hookContext };
}

function conclude(view: CallView, round: Round): Examination {
  const { finding, allowed, answered, trace, hookContext } = round;
  const guard: Guard = { name: PRE_TOOL_USE_HOOKS, onFailure: 'deny', decide: async () => finding };
  const seen = { view, guard, trace, ...hookContext };
  if (allowed === undefined) return seen;
  return { ...seen, answered, resolver: resolverOf(allowed) };
}

function resolverOf({ by, reason }: NonNullable<Round['allowed']>): Resolver {
  return {
    name: PRE_TOOL_USE_HOOKS,
    decide: async ({ mode }) =>
      mode === 'plan'
        ? // fail-closed: what waits for the plan waits for a person, not for a script.
          { decision: 'pass', reason: `${by} allows it, which is not enough in plan mode` }
        : { decision: 'allow', reason: `${by}: ${reason}`, source: by },
  };
}
