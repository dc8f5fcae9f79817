import { messageOf } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import type { Clock } from '../../platform/clock.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { readRaw } from '../answers/read.js';
import { mayRedact, replaces, saysNo } from '../answers/restraint.js';
import { holdsNo } from '../answers/search.js';
import { runsBeside } from '../registry/captured.js';
import {
  type Hook,
  type HookAnswer,
  type HookFailure,
  type HookRaw,
  type HookReport,
  type HookRunner,
  type HookRunners,
  NO_ANSWER,
  noAnswer,
  type ReadAnswer,
} from '../registry/hook.js';
import type { SharedRequest } from './input.js';
import { failed, oneLine, seconds, timeoutFailure, withTimeout } from './timeout.js';

export interface RunDeps {
  /** Loaded when the first hook is asked. */
  runners(): Promise<HookRunners>;
  /** Default: `readRaw`. */
  read?(hook: Hook, raw: HookRaw): ReadAnswer;
  readonly clock: Pick<Clock, 'monotonic' | 'uuid'>;
  emit(news: SessionNews): void;
}

export interface Run {
  readonly hook: Hook;
  readonly request: SharedRequest;
  /** Aborts when the answer is not waited for any more. */
  readonly signal: AbortSignal;
}

/** What a runner gave, and what was read of it. */
interface Asked {
  readonly raw?: HookRaw;
  readonly reading: ReadAnswer;
}

/** Runs one hook within its limit. Never throws; whatever goes wrong is a failure of the hook. */
export async function runHook(deps: RunDeps, run: Run): Promise<HookReport> {
  const { hook, signal, request } = run;
  const started = deps.clock.monotonic();
  const isCallback = hook.handler.type === 'callback';
  const about = { hookId: deps.clock.uuid(), name: request.name, event: hook.event };
  if (!isCallback) tell(deps, { type: 'hook_started', ...about });
  const limit = { ms: hook.timeoutMs, signal };
  const timed = await withTimeout(limit, (own) => ask(deps, run, own));
  const ms = deps.clock.monotonic() - started;
  let asked: Asked;
  if (timed.kind === 'done') asked = timed.value;
  else if (timed.kind === 'cancelled') asked = { reading: noAnswer(CANCELLED) };
  else if (timed.kind === 'threw') {
    asked = { reading: noAnswer({ cause: 'threw', message: thrownText(timed.thrown) }) };
  } else {
    timed.result.then(
      ({ raw }) => tellLate(deps, hook, { raw, ms: deps.clock.monotonic() - started }),
      () => undefined,
    );
    const redacts = await meantToRedact(hook, timed.result);
    asked = { reading: { ...noAnswer(timeoutFailure(hook.timeoutMs)), redacts } };
  }
  const { raw, reading } = asked;
  const report = reportOf(hook, { ...reading, ms, cancelled: timed.kind === 'cancelled' }, raw);
  if (!isCallback) tell(deps, finished(about, report, raw));
  return report;
}

/** A hook that failed before it could be run. */
export function notRun(hook: Hook, failure: HookFailure, ms = 0): HookReport {
  return reportOf(hook, { ...noAnswer(failure), ms });
}

/** A hook whose answer is not waited for any more. */
export function cancelledRun(hook: Hook): HookReport {
  return reportOf(hook, { ...noAnswer(CANCELLED), ms: 0, cancelled: true });
}

const CANCELLED: HookFailure = {
  cause: 'unavailable',
  message: 'it was cancelled before it answered',
};

/** News never decide, so a listener that throws changes nothing. */
export function tell(deps: Pick<RunDeps, 'emit'>, news: SessionNews): void {
  try {
    deps.emit(news);
  } catch {
    // There is no other listener that could be told.
  }
}

async function ask(
  deps: RunDeps,
  { hook, request }: Run,
  signal: AbortSignal,
): Promise<Asked & { readonly raw: HookRaw }> {
  const { read = readRaw } = deps;
  const runners = await deps.runners();
  const runner = runners[hook.handler.type] as HookRunner | undefined;
  const raw: HookRaw =
    typeof runner === 'function'
      ? await runner(hook, { ...request, signal, timeoutMs: hook.timeoutMs })
      : failed('unavailable', `there is nothing that runs ${hook.handler.type} hooks`);
  return { raw, reading: read(hook, raw) };
}

/** How long the end of a program is waited for that is being ended for its lateness. */
const LATE_MS = 1000;

/** Whether what a program had printed when its time was over was to hide the output of a tool. */
async function meantToRedact(hook: Hook, late: Promise<Asked>): Promise<boolean> {
  const { handler } = hook;
  const isProcess = handler.type === 'command' && handler.persistent !== true;
  if (!isProcess || runsBeside(handler) || !mayRedact(hook)) return false;
  const signal = new AbortController().signal;
  const timed = await withTimeout({ ms: LATE_MS, signal }, () => late);
  if (timed.kind !== 'done') return false;
  const { redacts, answer } = timed.value.reading;
  return redacts === true || replaces(answer);
}

/** A text even for what has none. */
export function thrownText(thrown: unknown): string {
  try {
    return oneLine(messageOf(thrown));
  } catch {
    // An object without a way to become a text.
    return 'something was thrown that says nothing';
  }
}

function reportOf(
  hook: Hook,
  told: Omit<HookReport, 'hook' | 'refuses'>,
  raw?: HookRaw,
): HookReport {
  const { answer, failure, cancelled } = told;
  const isRefusal = failure !== undefined && refuses(hook, failure, cancelled === true, raw);
  return Object.freeze({
    ...told,
    hook,
    answer: failure === undefined ? effectiveAnswer(hook, answer) : NO_ANSWER,
    ...(isRefusal && { refuses: true }),
    ...(raw?.kind === 'process' && {
      exitCode: raw.exitCode,
      stdout: raw.stdout,
      stderr: raw.stderr,
    }),
  });
}

/** Whether a failure counts as a refusal. */
function refuses(hook: Hook, { cause }: HookFailure, cancelled: boolean, raw?: HookRaw): boolean {
  if (hook.role === 'observe' || runsBeside(hook.handler)) return false;
  if (hook.onFailure === 'block') return true;
  if (hook.role !== 'gate') return false;
  // fail-closed: it was not waited for long enough to be told a refusal.
  if (cancelled) return true;
  // fail-closed: what a host lets pass is an error. Silence, be it of a host that is gone, and an answer
  // to another question are not.
  const isSilent = cause === 'timeout' || cause === 'unavailable' || cause === 'wrong-event';
  return (hook.handler.type === 'callback' && isSilent) || rawSaysNo(raw);
}

/** fail-closed: a hook that failed, and had said no before or in words that do not count, has not agreed. */
function rawSaysNo(raw: HookRaw | undefined): boolean {
  switch (raw?.kind) {
    case 'value':
      return saysNo(raw.value);
    case 'process':
      return holdsNo(raw.stdout);
    case 'text':
      return holdsNo(raw.text);
    case 'failed':
      return holdsNo(raw.printed ?? '');
    default:
      return false;
  }
}

/** What counts of an answer: nothing of a hook that goes on by itself, no yes of one that may only restrict. */
export function effectiveAnswer(hook: Hook, answer: HookAnswer): HookAnswer {
  const { asyncMs, systemMessage } = answer;
  // What it says before it goes on by itself is not its answer.
  if (asyncMs !== undefined) return { ...NO_ANSWER, asyncMs, systemMessage };
  if (hook.restrictOnly !== true) return answer;
  // A new input stays, as it is judged like any other.
  const { decision, ...fields } = answer.fields;
  const isNo = isRecord(decision) && decision.behavior === 'deny';
  return {
    ...answer,
    decision: answer.decision === 'allow' ? 'none' : answer.decision,
    fields: isNo ? answer.fields : fields,
  };
}

function tellLate(
  deps: RunDeps,
  hook: Hook,
  { raw, ms }: { readonly raw: HookRaw | undefined; readonly ms: number },
): void {
  const isSilent = raw?.kind === 'failed' && (raw.printed ?? '').trim() === '';
  if (isSilent || (raw?.kind === 'process' && raw.exitCode === null)) return;
  const text = `${hook.event}: ${hook.label} answered after ${seconds(ms)}, after its limit, so its answer was discarded`;
  tell(deps, { type: 'notice', level: 'notice', text, tag: 'hook_late' });
}

type Finished = Extract<SessionNews, { type: 'hook_finished' }>;

function finished(
  run: Pick<Finished, 'hookId' | 'name' | 'event'>,
  { failure, complaint, exitCode, stderr, cancelled }: HookReport,
  raw: HookRaw | undefined,
): Finished {
  const endedBadly = failure !== undefined || complaint !== undefined || (exitCode ?? 0) !== 0;
  const timedOut = failure?.cause === 'timeout';
  return {
    type: 'hook_finished',
    ...run,
    stdout: outputOf(raw),
    stderr: stderr ?? failure?.message ?? '',
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
    outcome: cancelled || timedOut ? 'cancelled' : endedBadly ? 'error' : 'success',
  };
}

function outputOf(raw: HookRaw | undefined): string {
  if (raw?.kind === 'process') return raw.stdout;
  if (raw?.kind === 'text') return raw.text;
  if (raw?.kind !== 'value' && raw?.kind !== 'verdict') return '';
  try {
    return (
      JSON.stringify(raw.kind === 'value' ? raw.value : { ok: raw.ok, reason: raw.reason }) ?? ''
    );
  } catch {
    // It is no JSON: the answer has been read already, and a listener is shown nothing of it.
    return '';
  }
}
