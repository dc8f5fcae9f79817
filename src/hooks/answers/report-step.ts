import type { TraceStep } from '../../protocol/permissions.js';
import {
  type Hook,
  type HookAnswer,
  type HookFailure,
  type HookFailureCause,
  type HookReport,
  NO_ANSWER,
} from '../registry/hook.js';
import { isRestraint } from './restraint.js';
import { firstLine } from './text.js';

/** One hook's line of a receipt. */
export function reportStep(
  report: HookReport,
  decision: TraceStep['decision'],
  reason?: string,
): TraceStep {
  const { hook, ms, failure, answer } = report;
  const why = reason ?? answer.reason ?? complaintText(report);
  return {
    guard: hook.label,
    decision,
    source: placeOf(hook),
    ms,
    reason: why,
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

/** `PreToolUse Bash .claude/settings.json:7`. */
function placeOf({ event, matcher, source, file, line }: Hook): string {
  const place = file === undefined ? source : line === undefined ? file : `${file}:${line}`;
  return `${event} ${matcher ?? '*'} ${place}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1000} s`;
}

/** What was read of a hook's answer: the part of its report that the answer decides. */
export type ReadAnswer = Pick<HookReport, 'answer' | 'failure' | 'complaint' | 'redacts'>;

/** Parts of the message may be the hook's own words, so it is made fit to be shown. */
export function failure(cause: HookFailureCause, message: string): HookFailure {
  return { cause, message: firstLine(message) };
}

/** A program that is not there or may not be run, with what a person can do about it. */
export function cannotStart(
  message: string,
  { program, kind }: { readonly program: string; readonly kind: 'missing' | 'not-executable' },
): HookFailure {
  const name = firstLine(program);
  const repair =
    kind === 'missing'
      ? `Install ${name} or correct its path`
      : `Make ${name} executable (chmod +x)`;
  return {
    ...failure('cannot-start', message),
    remedy: `${repair}, or switch this hook off there with "enabled": false.`,
    repeated: `${name} still cannot be started`,
  };
}

export function noAnswer(failed: HookFailure): ReadAnswer {
  return { answer: NO_ANSWER, failure: failed };
}
