import type { HookAnswer, HookEventName, HookReport, HookRound } from '../registry/hook.js';
import { causeText } from './report-step.js';

export type HookDecision = HookAnswer['decision'];

/** A no, and whose it is. */
export interface Objection {
  /** The label of the hook. */
  readonly by: string;
  readonly reason: string;
  /** It gave no verdict, and that counts as a no. */
  readonly failed: boolean;
}

const LADDER: readonly HookDecision[] = ['none', 'allow', 'ask', 'defer', 'deny'];
const NO_REASON = 'no reason given';

/** The hooks whose answer is known now. One that goes on by itself decides nothing any more. */
export function spoken(round: HookRound): readonly HookReport[] {
  return round.reports.filter(({ answer }) => answer.asyncMs === undefined);
}

/** The strictest of what the hooks decided: deny > defer > ask > allow > none. */
export function worst(round: HookRound): HookDecision {
  return spoken(round).reduce<HookDecision>((held, report) => {
    const decision = decisionOf(report);
    return LADDER.indexOf(decision) > LADDER.indexOf(held) ? decision : held;
  }, 'none');
}

/** What one hook's answer counts as. */
export function decisionOf({ hook, answer, refuses }: HookReport): HookDecision {
  // fail-closed: a guard without a verdict says no.
  if (refuses === true) return 'deny';
  return answer.decision === 'allow' && hook.restrictOnly === true ? 'none' : answer.decision;
}

/** Hooks that said no in words. */
export function deniedBy(round: HookRound): readonly Objection[] {
  return spoken(round)
    .filter(({ answer }) => answer.decision === 'deny')
    .map(({ hook, answer }) => ({ by: hook.label, reason: reasonOf(answer), failed: false }));
}

/** Everything that counts as a no: what was said, and guards that could not say anything. */
export function blockedBy(round: HookRound): readonly Objection[] {
  return spoken(round).flatMap(({ hook, answer, failure, refuses }): Objection[] => {
    if (answer.decision === 'deny') {
      return [{ by: hook.label, reason: reasonOf(answer), failed: false }];
    }
    if (refuses !== true) return [];
    // fail-closed: a guard without a verdict says no.
    const why = failure === undefined ? 'no-verdict' : causeText(failure);
    const reason = `guard failed: ${hook.label} gave no verdict (${why})`;
    return [{ by: hook.label, reason, failed: true }];
  });
}

function reasonOf({ reason }: HookAnswer): string {
  return isBlank(reason) ? NO_REASON : reason;
}

/** Why the turn is to end: `continue: false`, the first in declared order. */
export function stopOf(round: HookRound): string | undefined {
  const report = spoken(round).find(({ answer }) => answer.stop !== undefined);
  if (report === undefined) return undefined;
  const { stop } = report.answer;
  return isBlank(stop) ? `${report.hook.label} ended the turn` : stop;
}

/** The same, also for a model's no that ends the turn. */
export function endOf(round: HookRound): string | undefined {
  const stop = stopOf(round);
  if (stop !== undefined) return stop;
  const report = spoken(round).find(
    ({ answer }) => answer.decision === 'deny' && answer.endsTurn === true,
  );
  return report === undefined ? undefined : reasonOf(report.answer);
}

/** `PostToolUse:Bash`: what stands before a hook's words when the model reads them. */
export function prefixOf(event: HookEventName, tool?: string): string {
  return tool === undefined ? event : `${event}:${tool}`;
}

/** What hooks add for the model, one text a hook. */
export function contextsOf(round: HookRound, prefix: string): readonly string[] {
  return rawContextsOf(round).map((context) => `${prefix} hook additional context: ${context}`);
}

export function rawContextsOf(round: HookRound): readonly string[] {
  return spoken(round).flatMap(({ answer }) => (isBlank(answer.context) ? [] : [answer.context]));
}

/** Noes about what has happened already: the model reads them, nothing is undone. */
export function blockingNotes(objections: readonly Objection[], prefix: string): readonly string[] {
  return objections.map(({ by, reason }) => `${prefix} hook blocking error from ${by}: ${reason}`);
}

/** Something that a hook wants to put in the place of something else. */
export interface Wish<T> {
  readonly by: string;
  readonly value: T;
}

export type Agreement<T> =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly wish: Wish<T> }
  /** No order between hooks may decide which wish counts; the first two that differ are named. */
  | { readonly kind: 'conflict'; readonly between: readonly [string, string] };

export function agree<T>(
  wishes: readonly Wish<T>[],
  same: (a: T, b: T) => boolean = Object.is,
): Agreement<T> {
  const [first, ...others] = wishes;
  if (first === undefined) return { kind: 'none' };
  const other = others.find(({ value }) => !same(first.value, value));
  if (other !== undefined) return { kind: 'conflict', between: [first.by, other.by] };
  return { kind: 'one', wish: first };
}

export function isBlank(text: string | undefined): text is undefined | '' {
  return text === undefined || text.trim() === '';
}
