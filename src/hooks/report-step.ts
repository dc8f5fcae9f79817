import type { TraceStep } from '../protocol/permissions.js';
import type { Hook, HookReport } from './hook.js';

/** One hook's line of a receipt. */
export function reportStep(
  report: HookReport,
  decision: TraceStep['decision'],
  reason?: string,
): TraceStep {
  const { hook, ms, failure, complaint, answer } = report;
  const why = reason ?? answer.reason ?? complaint;
  return {
    guard: hook.label,
    decision,
    source: placeOf(hook),
    ms,
    ...(why === undefined ? {} : { reason: why }),
    ...(failure === undefined ? {} : { failure: `${failure.cause}: ${failure.message}` }),
  };
}

/** Which guard gave no verdict, why, and how much time it had and took. */
export function failureText({ hook, failure, ms }: HookReport): string {
  const why = failure === undefined ? 'no cause is known' : `${failure.cause}: ${failure.message}`;
  const limit = `limit ${seconds(hook.timeoutMs)}, used ${seconds(ms)}`;
  return `the guard failed: ${hook.label} gave no verdict (${why}; ${limit})`;
}

/** `PreToolUse Bash .claude/settings.json:7`. */
function placeOf({ event, matcher, source, file, line }: Hook): string {
  const place = file === undefined ? source : line === undefined ? file : `${file}:${line}`;
  return `${event} ${matcher ?? '*'} ${place}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1000} s`;
}
