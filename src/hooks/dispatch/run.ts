import { messageOf } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import type { Clock } from '../../platform/clock.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { readRaw } from '../answers/read.js';
import { mayRedact, replaces, restraintAnywhere } from '../answers/restraint.js';
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
import { failed, oneLine, seconds, type Timed, timeoutFailure, withTimeout } from './timeout.js';

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
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Runs one hook within its limit. Never throws; whatever goes wrong is a failure of the hook. */
export async function runHook(deps: RunDeps, run: Run): Promise<HookReport> {
  const { hook, signal, request } = run;
  const started = deps.clock.monotonic();
  const told =
    hook.handler.type === 'callback'
      ? undefined
      : { hookId: deps.clock.uuid(), name: request.name, event: hook.event };
  if (told !== undefined) tell(deps, { type: 'hook_started', ...told });
  const limit = { ms: hook.timeoutMs, signal };
  const timed = await withTimeout(limit, (own) => ask(deps, run, own));
  const elapsed = (): number => deps.clock.monotonic() - started;
  const ms = elapsed();
  if (timed.kind === 'late') {
    const told = ({ raw }: Asked): void => tellLate(deps, hook, { raw, ms: elapsed() });
    timed.result.then(told, () => undefined);
  }
  const { raw, reading } = timed.kind === 'done' ? timed.value : await failedRun(hook, timed);
  const cancelled = timed.kind === 'cancelled';
  const report = reportOf(hook, { ...reading, ms, cancelled }, raw);
  if (told !== undefined) tell(deps, finished(told, report, raw));
  return report;
}

/** A hook that failed before it could be run. */
export function notRun(hook: Hook, failure: HookFailure, ms = 0): HookReport {
  return reportOf(hook, { ...noAnswer(failure), ms });
}

/** A hook that nobody waits for any more. */
export function cancelledRun(hook: Hook): HookReport {
  return reportOf(hook, { ...noAnswer(CANCELLED), ms: 0, cancelled: true });
}

const CANCELLED: HookFailure = {
  cause: 'unavailable',
  message: 'it was cancelled before it answered',
};

/** News never decide: what the one who hears them makes of them is his own affair. */
export function tell(deps: Pick<RunDeps, 'emit'>, news: SessionNews): void {
  try {
    deps.emit(news);
  } catch {
    // Nobody is left to tell it to.
  }
}

interface Asked {
  readonly raw: HookRaw;
  readonly reading: ReadAnswer;
}

async function ask(deps: RunDeps, { hook, request }: Run, signal: AbortSignal): Promise<Asked> {
  const { read = readRaw } = deps;
  const runners = await deps.runners();
  const runner = runners[hook.handler.type] as HookRunner | undefined;
  const raw: HookRaw =
    typeof runner === 'function'
      ? await runner(hook, { ...request, signal, timeoutMs: hook.timeoutMs })
      : failed('unavailable', `there is nothing that runs ${hook.handler.type} hooks`);
  return { raw, reading: read(hook, raw) };
}

async function failedRun(
  hook: Hook,
  timed: Exclude<Timed<Asked>, { kind: 'done' }>,
): Promise<Partial<Pick<Asked, 'raw'>> & Pick<Asked, 'reading'>> {
  switch (timed.kind) {
    case 'threw':
      return { reading: noAnswer({ cause: 'threw', message: thrownText(timed.thrown) }) };
    case 'late': {
      const redacts = await meantToRedact(hook, timed.result);
      return { reading: { ...noAnswer(timeoutFailure(hook.timeoutMs)), redacts } };
    }
    case 'cancelled':
      return { reading: noAnswer(CANCELLED) };
  }
}

/** How long the end of a program is waited for that is being ended for its lateness. */
const LATE_MS = 1000;

/** Whether what a program had printed when its time was over was to hide the output of a tool. */
async function meantToRedact(hook: Hook, late: Promise<Asked>): Promise<boolean> {
  const { handler } = hook;
  const isWaitedFor =
    handler.type === 'command' && handler.persistent !== true && !runsBeside(handler);
  if (!isWaitedFor || !mayRedact(hook)) return false;
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
  const { answer, failure } = told;
  return Object.freeze({
    ...told,
    hook,
    answer: failure === undefined ? effectiveAnswer(hook, answer) : NO_ANSWER,
    ...(failure !== undefined &&
      refuses(hook, failure, told.cancelled === true, raw) && { refuses: true }),
    ...(raw?.kind === 'process' && {
      exitCode: raw.exitCode,
      stdout: raw.stdout,
      stderr: raw.stderr,
    }),
  });
}

/** Whether a failure counts as a no. */
function refuses(hook: Hook, { cause }: HookFailure, cancelled: boolean, raw?: HookRaw): boolean {
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

/** What counts of an answer: nothing of a hook that goes on by itself, no yes of one that may only restrict. */
export function effectiveAnswer(hook: Hook, answer: HookAnswer): HookAnswer {
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
  switch (raw?.kind) {
    case 'process':
      return raw.stdout;
    case 'text':
      return raw.text;
    case 'value':
      return jsonText(raw.value);
    case 'verdict':
      return jsonText({ ok: raw.ok, reason: raw.reason });
    default:
      return '';
  }
}

/** Empty for what is no JSON: people who watch are shown it, the answer has been read already. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}
