import { orAbort } from '../../lib/abort.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { type HookEventName, hookEventFacts } from '../../protocol/hooks/hook-events.js';
import { complaintText } from '../answers/round.js';
import {
  type CapturedHook,
  type HookSet,
  type HookSnapshot,
  joinHooks,
  type OccasionKey,
  runsBeside,
  type ScopedHooks,
} from '../registry/captured.js';
import {
  type Hook,
  type HookDispatch,
  type HookReport,
  type HookRound,
  NO_ANSWER,
  NO_ROUND,
  type Occasion,
} from '../registry/hook.js';
import { type HookFacts, requestFor, type SharedRequest } from './input.js';
import { cancelledRun, notRun, type RunDeps, runHook, tell, thrownText } from './run.js';
import { oneLine, seconds, settlesWithin, timeoutFailure, withTimeout } from './timeout.js';

/** The result of a hook that ran beside the session. */
export interface BackgroundResult {
  readonly hook: Hook;
  readonly agent: AgentRef;
  readonly toolUseId?: string;
  /** For the model, with its next request. */
  readonly context?: string;
  /** For the model, at once. */
  readonly rewake?: string;
}

/** Milliseconds: enough for an audit hook of the last call to write its line. */
const BESIDE_CLOSE_MS = 1000;

export interface DispatchDeps extends RunDeps {
  facts(): HookFacts;
  background?(result: BackgroundResult): void;
  /** False once the host cannot be asked: its callbacks that only watch are left alone then. */
  hostIsOpen?(): boolean;
  /** Where command hooks of an event may leave variables. Asked only for events that take them. */
  envFile?(): string;
  /** Command hooks that may have left variables have ended. */
  takeVariables?(): Promise<void>;
  /** Milliseconds that the close waits for hooks beside the session. */
  readonly besideCloseMs?: number;
}

/** A hook that is asked, with the ids of its copies in other files. */
interface Asked extends Pick<CapturedHook, 'hook' | 'broken'> {
  readonly ids: readonly string[];
}

/** Asks the hooks in force, counts their runs and tells people what they should know of them. */
export class HookDispatcher implements HookDispatch {
  readonly #deps: DispatchDeps;
  /** Hooks that run once, by id: true when one has run, else the end of the run under way. */
  readonly #once = new Map<string, true | Promise<void>>();
  readonly #stats = new Map<string, HookStat>();
  readonly #scoped = new Map<string, ScopedHooks>();
  readonly #closing = new AbortController();
  readonly #beside = new Map<Promise<void>, Hook>();
  /** Hooks whose missing program was reported with its remedy; from then on one short line reports it. */
  readonly #missing = new Set<string>();
  #snapshot: HookSnapshot;
  #inForce: HookSet;

  constructor(deps: DispatchDeps, first: HookSnapshot) {
    this.#deps = deps;
    this.#snapshot = first;
    this.#inForce = first;
  }

  has(event: HookEventName, occasion: OccasionKey): boolean {
    const hooks = this.#inForce.hooks[event];
    return hooks?.some((one) => this.#mayAsk(one) && one.matches(occasion)) === true;
  }

  async fire(event: HookEventName, occasion: Occasion): Promise<HookRound> {
    const asked = this.#asked(event, occasion);
    if (asked.length === 0) return NO_ROUND;
    const { facts, envFile, takeVariables } = this.#deps;
    const setsEnvironment = hookEventFacts(event).setsEnvironment === true;
    /** A text when there is nothing that hooks could be asked with. */
    let request: SharedRequest | string;
    try {
      const file = setsEnvironment ? envFile?.() : undefined;
      request = requestFor(event, occasion, { facts: facts(), envFile: file });
    } catch (thrown) {
      request = thrownText(thrown);
    }
    const answers = asked.map(async (one) => {
      const report = await this.#ask(one, occasion, request);
      if (report === undefined) return [];
      // A hook that runs beside the session is counted when it ends.
      const isRunning = report.failure === undefined && runsBeside(report.hook.handler);
      return [isRunning ? report : this.#conclude(report, occasion)];
    });
    const reports = (await Promise.all(answers)).flat();
    if (reports.length > 0 && setsEnvironment) await takeVariables?.();
    return Object.freeze({ reports: Object.freeze(reports) });
  }

  /** Other hooks are in force from now on. Between turns; what runs goes on as it began. */
  replace(snapshot: HookSnapshot): void {
    this.#snapshot = snapshot;
    this.#rejoin();
  }

  /** All that is in force, with the hooks of skills and agents. */
  snapshot(): HookSet {
    return this.#inForce;
  }

  /** Puts hooks of a skill or agent in force, in place of earlier ones of the same. Returns what ends it. */
  addScoped(scoped: ScopedHooks): () => void {
    const key = `${scoped.kind}\n${scoped.name}\n${scoped.agentId ?? ''}`;
    this.#scoped.set(key, scoped);
    this.#rejoin();
    const { skipped, notes } = this.#snapshot.capture(scoped);
    for (const { label, origin, why } of skipped) {
      this.#warn('hook_skipped', `${label} (${origin}) is not run: ${why}`);
    }
    for (const note of notes) this.#warn('hook_skipped', note);
    return () => {
      if (this.#scoped.get(key) !== scoped) return;
      this.#scoped.delete(key);
      this.#rejoin();
    };
  }

  stats(): readonly HookStat[] {
    return [...this.#stats.values()];
  }

  /** Gives what runs beside the session a moment to come to its end, then ends it and says so. */
  async close(): Promise<void> {
    const { besideCloseMs = BESIDE_CLOSE_MS } = this.#deps;
    const areDone = await settlesWithin(Promise.all(this.#beside.keys()), besideCloseMs);
    for (const { event, label } of areDone ? [] : this.#beside.values()) {
      const text = `${event}: ${label} was still running when the session ended, and was ended too`;
      this.#warn('hook_ended', text);
    }
    this.#closing.abort(new Error('the session is over'));
    await Promise.all(this.#beside.keys());
  }

  #rejoin(): void {
    const scoped = [...this.#scoped.values()].map((one) => this.#snapshot.capture(one));
    this.#inForce = scoped.length === 0 ? this.#snapshot : joinHooks([this.#snapshot, ...scoped]);
  }

  #mayAsk({ hook }: CapturedHook): boolean {
    const watches = hook.role === 'observe' && hook.handler.type === 'callback';
    if (watches && this.#deps.hostIsOpen?.() === false) return false;
    return this.#once.get(hook.id) !== true;
  }

  /** The hooks that match, the first of identical ones in several settings files for all of them. */
  #asked(event: HookEventName, occasion: Occasion): readonly Asked[] {
    const found = new Map<string, { captured: CapturedHook; ids: string[] }>();
    for (const one of this.#inForce.hooks[event] ?? []) {
      if (!this.#mayAsk(one) || !one.matches(occasion)) continue;
      const { id } = one.hook;
      const key = one.copyOf ?? id;
      const copies = found.get(key);
      copies?.ids.push(id);
      if (copies === undefined) found.set(key, { captured: one, ids: [id] });
    }
    const { except = [], agent } = occasion;
    return [...found.values()]
      .filter(({ ids }) => !ids.some((id) => except.includes(id)))
      .map(({ captured: { hook, broken, inherits }, ids }) => ({
        hook: inherits?.(agent) === true ? { ...hook, restrictOnly: true } : hook,
        broken,
        ids,
      }));
  }

  /** Asks one hook; undefined when its `if` does not fit, or it has run once. Never throws. */
  async #ask(
    asked: Asked,
    occasion: Occasion,
    request: SharedRequest | string,
  ): Promise<HookReport | undefined> {
    const { signal } = occasion;
    const { hook, broken } = asked;
    try {
      if (signal.aborted) return cancelledRun(hook);
      const rule = hook.handler.if?.trim() ?? '';
      const fits = rule === '' || (await ifFits(rule, hook, occasion));
      if (fits !== true) return fits === false ? undefined : fits;
      if (broken !== undefined) return notRun(hook, broken);
      if (typeof request === 'string') {
        const message = oneLine(`its input could not be made: ${request}`);
        return notRun(hook, { cause: 'threw', message });
      }
      const run = async (): Promise<HookReport> =>
        runsBeside(hook.handler)
          ? this.#runBeside(hook, occasion, request)
          : await runHook(this.#deps, { hook, request, signal });
      return await (hook.handler.once === true ? this.#askOnce(asked, signal, run) : run());
    } catch (thrown) {
      if (signal.aborted) return cancelledRun(hook);
      // fail-closed: whatever went wrong, the hook gave no verdict.
      return notRun(hook, { cause: 'threw', message: thrownText(thrown) });
    }
  }

  async #askOnce(
    { hook, ids }: Asked,
    signal: AbortSignal,
    run: () => Promise<HookReport>,
  ): Promise<HookReport | undefined> {
    for (;;) {
      const state = ids.map((id) => this.#once.get(id)).find((one) => one !== undefined);
      if (state === true) return undefined;
      if (state === undefined) break;
      await orAbort(state, signal);
    }
    const running = run();
    const settle = (failed: boolean): void => {
      for (const id of ids) {
        // fail-closed: a guard that gave no verdict has not had its one say.
        if (failed && hook.role === 'gate') this.#once.delete(id);
        else this.#once.set(id, true);
      }
    };
    const settled = running.then(
      ({ failure }) => settle(failure !== undefined),
      () => settle(true),
    );
    for (const id of ids) this.#once.set(id, settled);
    return await running;
  }

  /** Starts a hook without waiting for it. Its decision is void; its texts arrive later. */
  #runBeside(hook: Hook, occasion: Occasion, request: SharedRequest): HookReport {
    const { signal } = this.#closing;
    const started = { hook, ms: 0, answer: { ...NO_ANSWER, asyncMs: hook.timeoutMs } };
    if (signal.aborted) return started;
    const running = runHook(this.#deps, { hook, request, signal })
      .then((report) => this.#deliver(this.#conclude(report, occasion), occasion))
      .catch((thrown: unknown) => {
        this.#warn('hook_failed', `${hook.event}: ${hook.label}: ${thrownText(thrown)}`, hook);
      })
      .finally(() => this.#beside.delete(running));
    this.#beside.set(running, hook);
    return started;
  }

  #deliver({ hook, answer, ...ended }: HookReport, { agent, toolUseId }: Occasion): void {
    const { context } = answer;
    const rewake = wakeCall(hook, ended);
    if (context === undefined && rewake === undefined) return;
    this.#deps.background?.({ hook, agent, toolUseId, context, rewake });
  }

  /** Counts a run and tells people what they should know of it. */
  #conclude(first: HookReport, occasion: Occasion): HookReport {
    const { hook, ms, answer, refuses, cancelled } = first;
    let { failure } = first;
    if (failure?.repeated === undefined) this.#missing.delete(hook.id);
    else if (this.#missing.has(hook.id)) {
      failure = { cause: failure.cause, message: failure.repeated };
    } else this.#missing.add(hook.id);
    const report = failure === first.failure ? first : { ...first, failure };
    this.#count(report);
    const who = `${hook.event}: ${hook.label}`;
    if (failure !== undefined && refuses !== true && cancelled !== true) {
      const tag = hook.handler.type === 'callback' ? 'hook_callback_failed' : 'hook_failed';
      const why = `${failure.cause}: ${failure.message}`;
      this.#warn(tag, `${who} failed after ${seconds(ms)} (${why}) and was passed over`, hook);
    }
    const complaint = report.complaint === undefined ? undefined : complaintText(report);
    if (complaint !== undefined) this.#warn('hook_error', `${who} ${complaint}`, hook);
    if (answer.systemMessage !== undefined) {
      const tool = occasion.fields.tool_name;
      const about = typeof tool === 'string' ? `${hook.event}:${tool}` : hook.event;
      const text = `${about}: ${answer.systemMessage}`;
      tell(this.#deps, { type: 'notice', level: 'notice', text, hookId: hook.id });
    }
    return report;
  }

  #count({ hook: { id, label, event }, ms, failure }: HookReport): void {
    const before = this.#stats.get(id) ?? { runs: 0, failures: 0, totalMs: 0, maxMs: 0 };
    this.#stats.set(id, {
      id,
      label,
      event,
      runs: before.runs + 1,
      failures: before.failures + (failure === undefined ? 0 : 1),
      totalMs: before.totalMs + ms,
      maxMs: Math.max(before.maxMs, ms),
      lastMs: ms,
    });
  }

  #warn(tag: string, text: string, hook?: Hook): void {
    tell(this.#deps, { type: 'notice', level: 'warning', text, tag, hookId: hook?.id });
  }
}

/** Whether the `if` of a hook fits. The check takes no longer than the hook itself may. */
async function ifFits(
  rule: string,
  hook: Hook,
  { fits, signal }: Occasion,
): Promise<boolean | HookReport> {
  if (fits === undefined) return true;
  const ms = hook.timeoutMs;
  const timed = await withTimeout({ ms, signal }, () => fits(rule));
  if (timed.kind === 'cancelled') return cancelledRun(hook);
  if (timed.kind === 'late') return notRun(hook, timeoutFailure(ms), ms);
  // fail-closed: a call that could not be looked at may be one that is meant.
  return timed.kind === 'threw' || timed.value;
}

/** What wakes the model: exit code 2 of a hook that may do so. */
function wakeCall(
  { handler, label }: Hook,
  { exitCode, stdout = '', stderr = '' }: Pick<HookReport, 'exitCode' | 'stdout' | 'stderr'>,
): string | undefined {
  const wakes = handler.type === 'command' && handler.asyncRewake === true && exitCode === 2;
  return wakes ? stderr.trim() || stdout.trim() || `${label} wants attention` : undefined;
}

/** How often a hook ran in this session, and how long it took. Milliseconds. */
export interface HookStat {
  readonly id: string;
  readonly label: string;
  readonly event: HookEventName;
  readonly runs: number;
  /** Runs that gave no verdict. */
  readonly failures: number;
  readonly totalMs: number;
  readonly maxMs: number;
  readonly lastMs: number;
}
