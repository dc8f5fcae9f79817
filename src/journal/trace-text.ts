import type { TraceStep } from '../protocol/permissions.js';
import { countOfLearned } from '../util/redact.js';
import { cleanText } from './clean-text.js';

/** A trace as JSON, without secrets. */
export function traceText(trace: readonly TraceStep[]): string {
  let text = '[';
  for (let at = 0; at < trace.length; at++) {
    const step = trace[at] as TraceStep;
    const said = knownText(step) ?? newText(step);
    // Each has a comma before it.
    text += at === 0 ? said.slice(1) : said;
  }
  return `${text}]`;
}

/** Texts of those who had nothing to say, by guard and then by the microseconds that they took. */
type SilentTexts = Map<string, { readonly head: string; readonly times: string[] }>;

/** The same guards have nothing to say about nearly every call, mostly within a few microseconds. */
const unobjecting: SilentTexts = new Map();
const passing: SilentTexts = new Map();
const MOST_GUARDS = 100;
const MOST_MICROSECONDS = 100;

/** How many secrets were known when these texts were made. */
let learned = countOfLearned();

/** A name that holds no secret, a word of ours and a number. */
function knownText(step: TraceStep): string | undefined {
  if (step.reason !== undefined || step.source !== undefined || step.failure !== undefined) return;
  const { decision, ms } = step;
  if (ms === undefined || (decision !== 'none' && decision !== 'pass')) return;
  const microseconds = Math.round(ms * 1000);
  // Hooks are not timed to the microsecond.
  if (microseconds / 1000 !== ms) return;
  if (learned !== countOfLearned()) forget();
  const known = decision === 'none' ? unobjecting : passing;
  return known.get(step.guard)?.times[microseconds] ?? silentText(step, known, microseconds);
}

function forget(): void {
  learned = countOfLearned();
  unobjecting.clear();
  passing.clear();
}

function silentText(
  { guard, decision, ms }: TraceStep,
  known: SilentTexts,
  microseconds: number,
): string {
  if (known.size >= MOST_GUARDS && !known.has(guard)) known.clear();
  let texts = known.get(guard);
  if (texts === undefined) {
    const said = JSON.stringify({ guard: cleanText(guard), decision });
    texts = { head: `,${said.slice(0, -1)},"ms":`, times: [] };
    known.set(guard, texts);
  }
  const text = `${texts.head}${Number.isFinite(ms) ? ms : null}}`;
  if (microseconds >= 0 && microseconds < MOST_MICROSECONDS) texts.times[microseconds] = text;
  return text;
}

function newText({ guard, decision, ms, reason, source, failure }: TraceStep): string {
  const clean: Record<keyof TraceStep, unknown> = {
    guard: cleanText(guard),
    decision,
    ms,
    reason: reason === undefined ? undefined : cleanText(reason),
    source: source === undefined ? undefined : cleanText(source),
    failure: failure === undefined ? undefined : cleanText(failure),
  };
  return `,${JSON.stringify(clean)}`;
}
