import type { TraceStep } from '../protocol/permissions.js';
import { NO_OPINION, type Opinion, readPreToolUse } from './callback-answer.js';
import { type Asked, callbacksFor, hear, toolInput } from './callback-call.js';
import type { CallbackDeps } from './callbacks.js';
import { type Finding, type Guard, NOTHING, type Resolver } from './guard.js';
import type { Examination, Precheck } from './precheck.js';
import type { CallView } from './view.js';

const EVENT = 'PreToolUse';
const NAME = `${EVENT} callbacks`;

type Input = Readonly<Record<string, unknown>>;

/** One look of all callbacks at one input. */
interface Round {
  readonly finding: Finding;
  /** The callback that said yes, when nobody said less. */
  readonly allowed?: { readonly by: string; readonly reason: string };
  readonly rewrite?: {
    readonly input: Input;
    readonly by: string;
    /** Its author also said yes to it. */
    readonly allowed: boolean;
  };
  readonly trace: readonly TraceStep[];
}

/**
 * Asks the host's PreToolUse callbacks, all at once. The strictest answer wins; a yes opens what no
 * rule holds. A new input is shown to all of them once more, and must then stay as it is.
 */
export function createCallbackPrecheck(deps: CallbackDeps): Precheck {
  return async (view, { retarget, rewritten }) => {
    if (callbacksFor(deps, EVENT, view.names).length === 0) return { view, trace: [] };
    const first = await ask(deps, view);
    const { rewrite } = first;
    if (rewrite === undefined || first.finding.decision === 'deny') return conclude(view, first);
    if (rewritten) return conclude(view, refused(first, secondRewrite(rewrite.by)));
    const next = await retarget(rewrite.input);
    if ('invalid' in next) {
      const reason = `the input that ${rewrite.by} gave is not valid: ${next.invalid}`;
      return conclude(view, refused(first, reason));
    }
    const again = await ask(deps, next);
    const trace = [...first.trace, ...again.trace];
    if (again.rewrite !== undefined) {
      return conclude(next, refused({ ...again, trace }, secondRewrite(again.rewrite.by)));
    }
    const allowed =
      again.allowed ??
      (rewrite.allowed && deps.restrictOnly?.() !== true
        ? { by: rewrite.by, reason: 'allowed with its own input' }
        : undefined);
    const finding = stricter(first.finding, again.finding);
    return conclude(next, { finding, trace, ...(allowed === undefined ? {} : { allowed }) });
  };
}

async function ask(deps: CallbackDeps, view: CallView): Promise<Round> {
  const asked = callbacksFor(deps, EVENT, view.names);
  if (asked.length === 0) return { finding: NOTHING, trace: [] };
  const { signal, toolUseId } = view.call;
  const input = toolInput(deps, EVENT, view);
  const question = { input, toolUseId, signal, read: readPreToolUse };
  const said = await Promise.all(
    asked.map(async (one) => hearing(deps, view, { one, heard: await hear(deps, one, question) })),
  );
  const trace = said.map((one) => one.step);
  const conflict = rewriteConflict(said, view.call.input);
  if (typeof conflict === 'string') return refused({ trace }, conflict);
  const worst = said.reduce<Said | undefined>(
    (held, one) => (held === undefined || rank(one) > rank(held) ? one : held),
    undefined,
  );
  const yes =
    deps.restrictOnly?.() === true
      ? undefined
      : said.find((one) => one.opinion.decision === 'allow');
  return {
    finding: worst?.finding ?? NOTHING,
    trace,
    ...(yes === undefined
      ? {}
      : { allowed: { by: yes.by, reason: yes.opinion.reason ?? 'allowed' } }),
    ...(conflict === undefined ? {} : { rewrite: conflict }),
  };
}

interface Said {
  readonly by: string;
  readonly opinion: Opinion;
  readonly finding: Finding;
  readonly step: TraceStep;
}

function hearing(
  deps: CallbackDeps,
  { call }: CallView,
  { one, heard }: { one: Asked; heard: Awaited<ReturnType<typeof hear<Opinion>>> },
): Said {
  const by = `the callback ${one.id}`;
  const source = `${EVENT} ${one.entry.matcher ?? '*'} ${one.id}`;
  const opinion = heard.kind === 'answer' ? heard.value : NO_OPINION;
  const finding = findingOf(by, heard);
  if (opinion.systemMessage !== undefined) {
    const text = `${EVENT}:${call.tool.name}: ${opinion.systemMessage}`;
    deps.emit({ type: 'notice', level: 'notice', text });
  }
  const decision =
    finding.decision === 'none' && opinion.decision === 'allow' ? 'allow' : finding.decision;
  const reason = finding.reason ?? opinion.reason;
  return {
    by,
    opinion,
    finding: finding === NOTHING ? NOTHING : { ...finding, source },
    step: {
      guard: by,
      decision: decision === 'none' ? 'pass' : decision,
      source,
      ms: heard.ms,
      ...(reason === undefined ? {} : { reason }),
      ...(heard.kind === 'failed' ? { failure: heard.message } : {}),
    },
  };
}

function findingOf(by: string, heard: Awaited<ReturnType<typeof hear<Opinion>>>): Finding {
  if (heard.kind === 'failed') {
    if (heard.passes) return NOTHING;
    // fail-closed: a guard that cannot answer refuses.
    const reason = `the guard failed: ${by} gave no verdict (${heard.message})`;
    return { decision: 'deny', refusal: 'guard-failed', reason };
  }
  const { decision, reason, stop } = heard.value;
  if (stop !== undefined) {
    // fail-closed: who wants the turn to end does not want the call to run.
    return { decision: 'deny', refusal: 'hook', reason: `${by} ended the turn: ${stop}`, stop };
  }
  switch (decision) {
    case 'none':
    case 'allow':
      return NOTHING;
    case 'deny':
      return { decision, refusal: 'hook', reason: reason ?? `${by} said no` };
    case 'ask':
      return { decision, reason: reason ?? `${by} wants a person to decide` };
    case 'defer':
      return { decision, refusal: 'hook', reason: reason ?? `${by} put it off` };
  }
}

/** The one new input; a text when two callbacks want different ones; undefined when the input stays. */
function rewriteConflict(said: readonly Said[], input: Input): Round['rewrite'] | string {
  let found: Round['rewrite'];
  const now = canonical(input);
  for (const { by, opinion } of said) {
    const { updatedInput } = opinion;
    if (updatedInput === undefined || canonical(updatedInput) === now) continue;
    const allowed = opinion.decision === 'allow';
    if (found === undefined) found = { input: updatedInput, by, allowed };
    else if (canonical(found.input) !== canonical(updatedInput)) {
      return `${found.by} and ${by} want different inputs`;
    } else if (allowed) found = { ...found, allowed };
  }
  return found;
}

/** The same text for the same value, whatever the order of its keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function secondRewrite(by: string): string {
  return `${by} changed an input that had been changed already; it must leave its own output as it is`;
}

function refused(round: Pick<Round, 'trace'>, reason: string): Round {
  return { finding: { decision: 'deny', refusal: 'hook', reason }, trace: round.trace };
}

const ORDER = ['none', 'ask', 'defer', 'deny'];

/** A wish to end the turn outranks a mere no: it does more. */
function rank({ finding }: { readonly finding: Finding }): number {
  return ORDER.indexOf(finding.decision) * 2 + (finding.stop === undefined ? 0 : 1);
}

function stricter(a: Finding, b: Finding): Finding {
  return rank({ finding: b }) > rank({ finding: a }) ? b : a;
}

function conclude(view: CallView, { finding, allowed, trace }: Round): Examination {
  const guard: Guard = { name: NAME, onFailure: 'deny', decide: () => finding };
  if (allowed === undefined) return { view, guard, trace };
  const { by, reason } = allowed;
  const resolver: Resolver = {
    name: NAME,
    decide: () => ({ decision: 'allow', reason: `${by}: ${reason}`, source: by }),
  };
  return { view, guard, resolver, trace };
}
