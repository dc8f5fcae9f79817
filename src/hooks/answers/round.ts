import { own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { hookEventFacts } from '../../protocol/hook-events.js';
import type { TraceStep } from '../../protocol/permissions.js';
import { canonicalJson } from '../../settings/trust/digest.js';
import type {
  Hook,
  HookAnswer,
  HookDispatch,
  HookEventName,
  HookFailure,
  HookReport,
  HookRound,
} from '../registry/hook.js';
import { isRestraint } from './restraint.js';

/** A no, and whose it is. */
export interface Objection {
  /** The label of the hook. */
  readonly by: string;
  readonly reason: string;
  /** It gave no verdict, and that counts as a no. */
  readonly failed: boolean;
}

const NO_REASON = 'no reason given';

/** Hooks that said no in words. */
export function deniedBy(round: HookRound): readonly Objection[] {
  return blockedBy(round).filter(({ failed }) => !failed);
}

/** Everything that counts as a no: what was said, and guards that could not say anything. */
export function blockedBy(round: HookRound): readonly Objection[] {
  return round.reports.flatMap(({ hook, answer, failure, refuses }): Objection[] => {
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
  const report = round.reports.find(({ answer }) => answer.stop !== undefined);
  if (report === undefined) return undefined;
  const { stop } = report.answer;
  return isBlank(stop) ? `${report.hook.label} ended the turn` : stop;
}

/** The same, also for a model's no that ends the turn. */
export function endOf(round: HookRound): string | undefined {
  const stop = stopOf(round);
  if (stop !== undefined) return stop;
  const report = round.reports.find(
    ({ answer }) => answer.decision === 'deny' && answer.endsTurn === true,
  );
  return report === undefined ? undefined : reasonOf(report.answer);
}

/** What hooks add for the model, one text a hook. `prefix`: the event, `PostToolUse:Bash`. */
export function contextsOf(round: HookRound, prefix: string): readonly string[] {
  return round.reports.flatMap(({ answer: { context } }) =>
    isBlank(context) ? [] : [`${prefix} hook additional context: ${context}`],
  );
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

/**
 * The wish of all hooks that have one. No order between hooks may decide which one counts, so the error
 * names the first two that differ.
 */
export function agree<T>(
  wishes: readonly Wish<T>[],
  same: (a: T, b: T) => boolean = Object.is,
): Result<Wish<T> | undefined, readonly [string, string]> {
  const [first, ...others] = wishes;
  const other = others.find(({ value }) => first !== undefined && !same(first.value, value));
  return first === undefined || other === undefined ? ok(first) : err([first.by, other.by]);
}

export function isBlank(text: string | undefined): text is undefined | '' {
  return text === undefined || text.trim() === '';
}

/** What the functions of all events need. */
export interface EventDeps {
  readonly dispatch: HookDispatch;
  /**
   * A person should know this. Failures, complaints and `systemMessage` are the dispatch's to tell;
   * here it is what only the event knows, such as a no that has no effect.
   */
  tell(text: string): void;
}

/** Why one hook's answer refuses a call; undefined where it does not. */
export function refusalOf(
  report: HookReport,
): { readonly reason: string; readonly stop?: string; readonly failed?: true } | undefined {
  const { hook, answer, refuses } = report;
  const by = hook.label;
  if (answer.stop !== undefined) {
    // fail-closed: who wants the turn to end does not want the call to run.
    const stop = isBlank(answer.stop) ? `${by} ended the turn` : answer.stop;
    const ended = `${by} ended the turn: ${stop}`;
    return { stop, reason: isBlank(answer.reason) ? ended : `${answer.reason}\n${ended}` };
  }
  if (answer.decision === 'deny') {
    const reason = isBlank(answer.reason) ? `${by} said no` : answer.reason;
    return { reason, stop: answer.endsTurn === true ? reason : undefined };
  }
  // fail-closed: a guard that cannot answer refuses.
  return refuses === true ? { reason: failureText(report), failed: true } : undefined;
}

/** Why a hook says no, or, for a guard, that it could say nothing. */
export function noOf({ hook, ms, answer, failure, refuses }: HookReport): string | undefined {
  if (refuses === true) {
    // fail-closed: a guard that cannot answer refuses.
    const why = failure === undefined ? 'no-verdict' : causeText(failure);
    return `guard failed: ${hook.label} gave no verdict after ${Math.round(ms)} ms (${why})`;
  }
  if (answer.decision !== 'deny') return undefined;
  return withReason(`${hook.label} said no`, answer.reason);
}

/** A hook that leaves the decision to a person, or puts it off. */
export function questionOf({ hook, answer }: HookReport): string | undefined {
  if (answer.decision !== 'ask' && answer.decision !== 'defer') return undefined;
  const what = answer.decision === 'ask' ? 'wants a person to decide' : 'puts the decision off';
  return withReason(`${hook.label} ${what}`, answer.reason);
}

/** `continue: false`, with who said it. */
export function wishToStop({ hook, answer }: HookReport): string | undefined {
  if (answer.stop === undefined) return undefined;
  return withReason(`${hook.label} wants everything to stop`, answer.stop);
}

/** All that a gate takes for a no, in the order in which the hooks are declared. */
export function gateRefusals(round: HookRound): readonly string[] {
  return round.reports.flatMap((report) => {
    // fail-closed: who wants everything to stop, or somebody else to decide, has not said yes.
    const refusal = noOf(report) ?? wishToStop(report) ?? questionOf(report);
    return refusal === undefined ? [] : [refusal];
  });
}

/** What the hooks have for the model, in the order in which they are declared. */
export function contextsFor(event: HookEventName, round: HookRound): readonly string[] {
  const textCounts = hookEventFacts(event).textIsContext === true;
  return round.reports.flatMap((report) => {
    const { context, text } = report.answer;
    // Who reads answers may have made one of the other already.
    const given = isBlank(context) && textCounts && endedWell(report) ? text : context;
    return isBlank(given) ? [] : [given];
  });
}

/** What a program printed before it failed is no message to the model. */
function endedWell({ exitCode, answer }: HookReport): boolean {
  return answer.decision !== 'deny' && (exitCode === undefined || exitCode === 0);
}

/** For events that hooks cannot hold up: a no and a wish to stop reach the person, and no more. */
export function tellIgnored(deps: EventDeps, event: HookEventName, round: HookRound): void {
  for (const report of round.reports) {
    const said = noOf(report) ?? wishToStop(report);
    if (said !== undefined) deps.tell(`${event} hooks cannot hold anything up: ${said}`);
  }
}

/** A list of texts among the event's own fields; undefined when there is none. */
export function textsIn(fields: HookAnswer['fields'], name: string): readonly string[] | undefined {
  const value = own(fields, name);
  if (!Array.isArray(value)) return undefined;
  return value.filter((item): item is string => typeof item === 'string' && !isBlank(item));
}

/** A text among the event's own fields; undefined when there is none or it is blank. */
export function textIn(fields: HookAnswer['fields'], name: string): string | undefined {
  const value = own(fields, name);
  return typeof value === 'string' && !isBlank(value) ? value : undefined;
}

function withReason(text: string, reason: string | undefined): string {
  return isBlank(reason) ? text : `${text}: ${reason}`;
}

type Input = Readonly<Record<string, unknown>>;

/** A new input for a call that a hook gives, and whether the hook says yes to it. */
export interface Rewrite {
  /** The label of the hook. */
  readonly by: string;
  readonly input: Input;
  readonly allowed: boolean;
  /** The hooks that want it; they have seen it. */
  readonly authors: readonly string[];
}

/**
 * The one new input; a text when two hooks want different ones; undefined when the input stays. A
 * hook that gives back one of the inputs `now` (as it is, as it was shown) changes nothing.
 */
export function oneRewrite(
  wanted: readonly Rewrite[],
  now: readonly Input[],
): Rewrite | { readonly conflict: string } | undefined {
  const same = now.map((one) => canonicalJson(one));
  const wishes = wanted
    .map((rewrite) => ({ by: rewrite.by, value: { rewrite, text: canonicalJson(rewrite.input) } }))
    .filter(({ value }) => !same.includes(value.text));
  const agreed = agree(wishes, (a, b) => a.text === b.text);
  // fail-closed: no order between hooks says whose input is the safe one.
  if (!agreed.ok) return { conflict: `${agreed.error.join(' and ')} want different inputs` };
  if (agreed.value === undefined) return undefined;
  const allowing = wishes.find(({ value }) => value.rewrite.allowed);
  const authors = wishes.flatMap(({ value }) => value.rewrite.authors);
  return { ...(allowing ?? agreed.value).value.rewrite, authors };
}

/** One hook's line of a receipt. */
export function reportStep(
  report: HookReport,
  decision: TraceStep['decision'],
  reason?: string,
): TraceStep {
  const { hook, ms, failure, answer } = report;
  const { file, line } = hook;
  const place = file === undefined ? hook.source : line === undefined ? file : `${file}:${line}`;
  return {
    guard: hook.label,
    decision,
    // `PreToolUse Bash .claude/settings.json:7`
    source: `${hook.event} ${hook.matcher ?? '*'} ${place}`,
    ms,
    reason: reason ?? answer.reason ?? complaintText(report),
    failure: failure === undefined ? undefined : `${failure.cause}: ${failure.message}`,
  };
}

/** Which guard gave no verdict, why, how much time it had and took, and what to do about it. */
export function failureText({ hook, failure, ms }: HookReport): string {
  if (failure?.cause === 'cannot-start') {
    return `the guard failed: ${hook.label} gave no verdict (${causeText(failure)})`;
  }
  const why = failure === undefined ? 'no cause is known' : causeText(failure);
  const limit = `limit ${seconds(hook.timeoutMs)}, used ${seconds(ms)}`;
  return `the guard failed: ${hook.label} gave no verdict (${why}; ${limit})`;
}

/** `cannot-start: lint-guard cannot be started. Install it …`. */
export function causeText({ cause, message, remedy }: HookFailure): string {
  return `${cause}: ${message}${remedy === undefined ? '' : `. ${remedy}`}`;
}

/** What a hook that ended with an error printed last, and what that meant for what it was asked about. */
export function complaintText({
  hook,
  answer,
  complaint,
  exitCode,
}: HookReport): string | undefined {
  if (complaint === undefined) return undefined;
  const printed = complaint === NOTHING_PRINTED ? ` and ${complaint}` : `: ${complaint}`;
  return `failed with exit code ${exitCode ?? 1}${printed}${effectText(hook, answer)}`;
}

/** In place of the last lines of a hook that printed none. */
export const NOTHING_PRINTED = 'printed nothing';

function effectText({ event, role }: Hook, answer: HookAnswer): string {
  if (role === 'observe') return '';
  if (isRestraint(answer)) return '; its verdict counts';
  if (event === 'PreToolUse' || event === 'PermissionRequest') return '; the call was not blocked';
  return event === 'UserPromptSubmit' ? '; the prompt was not blocked' : '; nothing was blocked';
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1000} s`;
}
