import { own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { TraceStep } from '../../protocol/permissions.js';
import { canonicalJson } from '../../settings/trust/digest.js';
import { seconds } from '../dispatch/timeout.js';
import type {
  HookAnswer,
  HookDispatch,
  HookEventName,
  HookFailure,
  HookReport,
  HookRound,
} from '../registry/hook.js';
import { isRestraint } from './restraint.js';

/** What the functions of all events need. */
export interface EventDeps {
  readonly dispatch: HookDispatch;
  /** Warns a person of what only the event knows; the dispatcher reports failures by itself. */
  tell(text: string): void;
}

/** A refusal of one hook. */
interface Objection {
  /** The label of the hook. */
  readonly by: string;
  readonly reason: string;
  /** The hook gave no verdict, and that counts as a refusal. */
  readonly failed: boolean;
}

/** Hooks that refused in words. */
export function deniedBy(round: HookRound): readonly Objection[] {
  return blockedBy(round).filter(({ failed }) => !failed);
}

/** Every refusal: what was said, and guards without a verdict. */
export function blockedBy({ reports }: HookRound): readonly Objection[] {
  return reports.flatMap((report): Objection[] => {
    const { hook, answer, refuses } = report;
    const by = hook.label;
    if (answer.decision === 'deny') {
      return [{ by, reason: answer.reason ?? 'no reason given', failed: false }];
    }
    // fail-closed: a guard without a verdict refuses.
    return refuses === true ? [{ by, reason: failureText(report), failed: true }] : [];
  });
}

/** Why the turn is to end: `continue: false`, the first in declared order. */
export function stopOf({ reports }: HookRound): string | undefined {
  return reports.flatMap(({ answer: { stop } }) => stop ?? [])[0];
}

/** The same, also for a model's refusal that ends the turn. */
export function endOf(round: HookRound): string | undefined {
  const isEnd = ({ answer }: HookReport) => answer.decision === 'deny' && answer.endsTurn === true;
  return stopOf(round) ?? blockedBy({ reports: round.reports.filter(isEnd) })[0]?.reason;
}

/** Why one hook's answer refuses a call; undefined where it does not. */
export function refusalOf(
  report: HookReport,
): { readonly reason: string; readonly stop?: string; readonly failed?: true } | undefined {
  const { hook, answer, refuses } = report;
  if (answer.stop !== undefined) {
    // fail-closed: a hook that ends the turn does not want the call to run.
    const { stop } = answer;
    const ended = `${hook.label} ended the turn: ${stop}`;
    return { stop, reason: answer.reason === undefined ? ended : `${answer.reason}\n${ended}` };
  }
  if (answer.decision === 'deny') {
    const reason = answer.reason ?? `${hook.label} said no`;
    return { reason, stop: answer.endsTurn === true ? reason : undefined };
  }
  // fail-closed: a guard that cannot answer refuses.
  return refuses === true ? { reason: `the ${failureText(report)}`, failed: true } : undefined;
}

/** Why a hook refuses, with its name: in words, or as a guard without a verdict. */
export function noOf(report: HookReport): string | undefined {
  const { hook, answer, refuses } = report;
  // fail-closed: a guard that cannot answer refuses.
  if (refuses === true) return failureText(report);
  return answer.decision === 'deny'
    ? withReason(`${hook.label} said no`, answer.reason)
    : undefined;
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

/** All that an event without questions takes for a refusal, in declared order. */
export function gateRefusals({ reports }: HookRound): readonly string[] {
  // fail-closed: a hook that wants everything to stop, or another one to decide, has not agreed.
  return reports.flatMap(
    (report) => noOf(report) ?? wishToStop(report) ?? questionOf(report) ?? [],
  );
}

/** For events that hooks cannot hold up: a refusal and a wish to stop reach only the person. */
export function tellIgnored(deps: EventDeps, event: HookEventName, { reports }: HookRound): void {
  for (const report of reports) {
    const said = noOf(report) ?? wishToStop(report);
    if (said !== undefined) deps.tell(`${event} hooks cannot hold anything up: ${said}`);
  }
}

/** What hooks add for the model, one text a hook. `event`: named in front of each, `PostToolUse:Bash`. */
export function contextsOf({ reports }: HookRound, event?: string): readonly string[] {
  const prefix = event === undefined ? '' : `${event} hook additional context: `;
  return reports.flatMap(({ answer: { context } }) =>
    context === undefined ? [] : [`${prefix}${context}`],
  );
}

/** Refusals of what has happened already: the model reads them, nothing is undone. */
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

type Input = Readonly<Record<string, unknown>>;

/** A new input for a call that a hook gives, and whether the hook allows it. */
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
  if (wanted.length === 0) return undefined;
  const same = now.map(canonicalJson);
  const wishes = wanted
    .map((rewrite) => ({ by: rewrite.by, value: { rewrite, text: canonicalJson(rewrite.input) } }))
    .filter(({ value }) => !same.includes(value.text));
  const agreed = agree(wishes, (a, b) => a.text === b.text);
  // fail-closed: no order between hooks says whose input is the safe one.
  if (!agreed.ok) return { conflict: `${agreed.error.join(' and ')} want different inputs` };
  if (agreed.value === undefined) return undefined;
  const chosen = wishes.find(({ value }) => value.rewrite.allowed) ?? agreed.value;
  return { ...chosen.value.rewrite, authors: wishes.flatMap(({ value }) => value.rewrite.authors) };
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
function failureText({ hook, failure, ms }: HookReport): string {
  const why = failure === undefined ? 'no cause is known' : causeText(failure);
  const limit = `; limit ${seconds(hook.timeoutMs)}, used ${seconds(Math.round(ms))}`;
  const told = failure?.cause === 'cannot-start' ? why : `${why}${limit}`;
  return `guard failed: ${hook.label} gave no verdict (${told})`;
}

/** `cannot-start: lint-guard cannot be started. Install it …`. */
function causeText({ cause, message, remedy }: HookFailure): string {
  return `${cause}: ${message}${remedy === undefined ? '' : `. ${remedy}`}`;
}

/** In place of the last lines of a hook that printed none. */
export const NOTHING_PRINTED = 'printed nothing';

/** What a hook that ended with an error printed last, and what that meant for what it was asked about. */
export function complaintText(report: HookReport): string | undefined {
  const { hook, answer, complaint, exitCode } = report;
  if (complaint === undefined) return undefined;
  const printed = complaint === NOTHING_PRINTED ? ` and ${complaint}` : `: ${complaint}`;
  const what = NOT_BLOCKED[hook.event] ?? 'nothing was blocked';
  const effect = isRestraint(answer) ? 'its verdict counts' : what;
  return `failed with exit code ${exitCode ?? 1}${printed}${hook.role === 'observe' ? '' : `; ${effect}`}`;
}

const NOT_BLOCKED: Readonly<Partial<Record<HookEventName, string>>> = {
  PreToolUse: 'the call was not blocked',
  PermissionRequest: 'the call was not blocked',
  UserPromptSubmit: 'the prompt was not blocked',
};

/** A list of texts among the event's own fields; undefined when there is none. */
export function textsIn(fields: HookAnswer['fields'], name: string): readonly string[] | undefined {
  const value = own(fields, name);
  if (!Array.isArray(value)) return undefined;
  return value.filter((item): item is string => typeof item === 'string' && item.trim() !== '');
}

/** A text among the event's own fields; undefined when there is none or it is blank. */
export function textIn(fields: HookAnswer['fields'], name: string): string | undefined {
  const value = own(fields, name);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined ? text : `${text}: ${reason}`;
}
