import { messageOf } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import type { Clock } from '../../platform/clock.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { ReadAnswer } from '../answers/report-step.js';
import { restraintAnywhere } from '../answers/restraint.js';
import { runsBeside } from '../registry/handler.js';
import {
  type Hook,
  type HookAnswer,
  type HookFailure,
  type HookHandler,
  type HookRaw,
  type HookReport,
  type HookRequest,
  type HookRunner,
  type HookRunners,
  NO_ANSWER,
} from '../registry/hook.js';
import type { SharedRequest } from './request.js';
import { oneLine, seconds, type Timed, timeoutFailure, withTimeout } from './timeout.js';

export interface RunDeps {
  /** Loaded when the first hook is asked. */
  runners(): Promise<HookRunners>;
  /** Absent: as hooks are read everywhere, loaded with the first answer. */
  read?(hook: Hook, raw: HookRaw): ReadAnswer;
  readonly clock: Pick<Clock, 'monotonic' | 'uuid'>;
  emit(news: SessionNews): void;
}

export interface Run {
  readonly hook: Hook;
  readonly request: SharedRequest;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** What the event is about: `PreToolUse:Bash`. */
  readonly name: string;
}

/** One hook's run: what is reported, and what it put out. */
export interface Ended {
  readonly report: HookReport;
  /** Nobody waited for its end. */
  readonly cancelled: boolean;
  readonly raw?: HookRaw;
}

/** Runs one hook within its limit. Never throws; whatever goes wrong is a failure of the hook. */
export async function runHook(deps: RunDeps, run: Run): Promise<Ended> {
  const { hook, signal, name } = run;
  const started = deps.clock.monotonic();
  const told =
    hook.handler.type === 'callback'
      ? undefined
      : { hookId: deps.clock.uuid(), name, event: hook.event };
  if (told !== undefined) tell(deps, { type: 'hook_started', ...told });
  let comesLate: (reading: ReadAnswer) => void = () => {};
  const late = new Promise<ReadAnswer>((resolve) => {
    comesLate = resolve;
  });
  const timed = await withTimeout(
    { ms: hook.timeoutMs, signal },
    (own) => ask(deps, run, own),
    ({ raw, reading }) => {
      tellLate(deps, hook, { raw, ms: deps.clock.monotonic() - started });
      comesLate(reading);
    },
  );
  const ms = deps.clock.monotonic() - started;
  const redacts = timed.kind === 'late' && (await meantToRedact(hook, late));
  const ended = endedAs(hook, timed, { ms, redacts });
  if (told !== undefined) tell(deps, finished(told, ended));
  return ended;
}

/** A hook that failed before it could be run. */
export function notRun(hook: Hook, failure: HookFailure, ms = 0): Ended {
  const reading = { answer: NO_ANSWER, failure };
  return { cancelled: false, report: reportOf(hook, { ms, reading, cancelled: false }) };
}

/** A hook that nobody waits for any more. */
export function cancelledRun(hook: Hook): Ended {
  return endedAs(hook, { kind: 'cancelled' }, { ms: 0, redacts: false });
}

/** News never decide: what the one who hears them makes of them is his own affair. */
export function tell(deps: Pick<RunDeps, 'emit'>, news: SessionNews): void {
  try {
    deps.emit(news);
  } catch {
    // Nobody is left to tell it to.
  }
}

async function ask(
  deps: RunDeps,
  { hook, request }: Run,
  signal: AbortSignal,
): Promise<{ readonly raw: HookRaw; readonly reading: ReadAnswer }> {
  const raw = await rawOf(deps, hook, { ...request, signal, timeoutMs: hook.timeoutMs });
  if (raw.kind === 'failed' && raw.printed === undefined) {
    return { raw, reading: { answer: NO_ANSWER, failure: raw.failure } };
  }
  const read = deps.read ?? (await import('../answers/read.js')).readRaw;
  return { raw, reading: read(hook, raw) };
}

async function rawOf(deps: RunDeps, hook: Hook, request: HookRequest): Promise<HookRaw> {
  const runners = await deps.runners();
  const runner = runners[hook.handler.type] as HookRunner<HookHandler> | undefined;
  if (typeof runner !== 'function') {
    const message = `there is nothing that runs ${hook.handler.type} hooks`;
    return { kind: 'failed', failure: { cause: 'unavailable', message } };
  }
  return await runner(hook, request);
}

function endedAs(
  hook: Hook,
  timed: Timed<{ readonly raw: HookRaw; readonly reading: ReadAnswer }>,
  { ms, redacts }: { readonly ms: number; readonly redacts: boolean },
): Ended {
  if (timed.kind === 'done') {
    const { raw, reading } = timed.value;
    return {
      raw,
      cancelled: false,
      report: reportOf(hook, { ms, reading, raw, cancelled: false }),
    };
  }
  const cancelled = timed.kind === 'cancelled';
  const reading = { answer: NO_ANSWER, failure: failureOf(hook, timed), redacts };
  return { cancelled, report: reportOf(hook, { ms, reading, cancelled }) };
}

/** How long the end of a program is waited for that is being ended for its lateness. */
const LATE_MS = 1000;

/** Whether what a program had printed when its time was over was to hide the output of a tool. */
async function meantToRedact(hook: Hook, late: Promise<ReadAnswer>): Promise<boolean> {
  const { handler } = hook;
  if (handler.type !== 'command' || handler.persistent === true || runsBeside(handler))
    return false;
  const { mayRedact, replaces } = await import('../answers/redaction.js');
  if (!mayRedact(hook)) return false;
  const signal = new AbortController().signal;
  const timed = await withTimeout({ ms: LATE_MS, signal }, () => late);
  if (timed.kind !== 'done') return false;
  return timed.value.redacts === true || replaces(timed.value.answer);
}

function failureOf(hook: Hook, timed: Exclude<Timed<unknown>, { kind: 'done' }>): HookFailure {
  switch (timed.kind) {
    case 'threw':
      return { cause: 'threw', message: thrownText(timed.thrown) };
    case 'late':
      return timeoutFailure(hook.timeoutMs);
    case 'cancelled':
      return { cause: 'unavailable', message: 'it was cancelled before it answered' };
  }
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

interface Result {
  readonly ms: number;
  readonly reading: ReadAnswer;
  readonly raw?: HookRaw;
  readonly cancelled: boolean;
}

function reportOf(hook: Hook, result: Result): HookReport {
  const { ms, reading, raw } = result;
  const { failure, complaint } = reading;
  return Object.freeze({
    hook,
    ms,
    answer: failure === undefined ? answerOf(hook, reading.answer) : NO_ANSWER,
    failure,
    ...(failure !== undefined && refuses(hook, failure, result) ? { refuses: true } : {}),
    complaint,
    ...(reading.redacts === true ? { redacts: true } : {}),
    ...(raw?.kind === 'process'
      ? { exitCode: raw.exitCode, stdout: raw.stdout, stderr: raw.stderr }
      : {}),
  });
}

/** Whether a failure counts as a no. */
function refuses(hook: Hook, { cause }: HookFailure, { raw, cancelled }: Result): boolean {
  if (hook.role === 'observe' || runsBeside(hook.handler)) return false;
  if (hook.onFailure === 'block') return true;
  if (hook.role !== 'gate') return false;
  // fail-closed: nobody waited long enough to hear a no.
  if (cancelled) return true;
  if (hook.handler.type !== 'callback') return false;
  // fail-closed: what a host lets pass is an error. Silence, be it of a host that is gone, an answer
  // to another question and one with a no in it are not.
  if (cause === 'timeout' || cause === 'unavailable' || cause === 'wrong-event') return true;
  return raw?.kind === 'value' && restraintAnywhere(raw.value) !== 'none';
}

/** What counts of an answer. */
function answerOf(hook: Hook, answer: HookAnswer): HookAnswer {
  const { asyncMs, systemMessage } = answer;
  if (asyncMs !== undefined) {
    // What it says before it goes on by itself is not its answer.
    return { ...NO_ANSWER, asyncMs, systemMessage };
  }
  return hook.restrictOnly === true ? withoutYes(answer) : answer;
}

/** A new input stays, as it is judged like any other. */
function withoutYes(answer: HookAnswer): HookAnswer {
  const { decision, ...fields } = answer.fields;
  const isYes = isRecord(decision) && decision.behavior !== 'deny';
  return {
    ...answer,
    decision: answer.decision === 'allow' ? 'none' : answer.decision,
    fields: decision === undefined || isYes ? fields : answer.fields,
  };
}

function tellLate(
  deps: RunDeps,
  hook: Hook,
  { raw, ms }: { readonly raw: HookRaw; readonly ms: number },
): void {
  const isAnswer =
    raw.kind === 'failed'
      ? (raw.printed ?? '').trim() !== ''
      : raw.kind !== 'process' || raw.exitCode !== null;
  if (!isAnswer) return;
  const text = `${hook.event}: ${hook.label} answered after ${seconds(ms)}, when nobody waited any more; what it said was discarded`;
  tell(deps, { type: 'notice', level: 'notice', text, tag: 'hook_late' });
}

type Finished = Extract<SessionNews, { type: 'hook_finished' }>;

function finished(
  run: Pick<Finished, 'hookId' | 'name' | 'event'>,
  { report, raw, cancelled }: Ended,
): Finished {
  const { failure, complaint, exitCode } = report;
  const endedBadly = failure !== undefined || complaint !== undefined || (exitCode ?? 0) !== 0;
  const timedOut = failure?.cause === 'timeout';
  return {
    type: 'hook_finished',
    ...run,
    stdout: outputOf(raw),
    stderr: report.stderr ?? failure?.message ?? '',
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
    outcome: cancelled || timedOut ? 'cancelled' : endedBadly ? 'error' : 'success',
  };
}

function outputOf(raw: HookRaw | undefined): string {
  switch (raw?.kind) {
    case 'process':
      return raw.stdout;
    case 'text':
      return raw.text;
    case 'value':
      return jsonOf(raw.value);
    case 'verdict':
      return jsonOf({ ok: raw.ok, reason: raw.reason });
    default:
      return '';
  }
}

/** Empty for what is no JSON. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // For people who watch; the answer itself has been read already.
    return '';
  }
}
