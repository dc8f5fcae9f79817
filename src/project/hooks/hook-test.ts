import type { BackgroundResult } from '../../hooks/dispatch/dispatcher.js';
import { requestFor } from '../../hooks/dispatch/input.js';
import { type CapturedHook, matchingOf } from '../../hooks/registry/captured.js';
import type {
  HookAnswer,
  HookDispatch,
  HookEventName,
  HookReport,
  HookRound,
  Occasion,
} from '../../hooks/registry/hook.js';
import type { ProbeReport } from '../../hooks/testing/probe.js';
import { orAbort } from '../../lib/abort.js';
import { isRecord } from '../../lib/own.js';
import type { Precheck } from '../../permissions/gate/precheck.js';
import { findRepositoryRoot, homeDirectory } from '../../platform/fs/paths.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { Project } from '../project.js';
import type { SessionParts } from '../session-parts.js';
import { type HookOutcome, hookOutcome, toModel } from './hook-outcome.js';
import type { HookTestCase } from './hook-outcome-calls.js';
import { type HookTest, hookTestCase } from './hook-test-case.js';
import { type HookText, hookTexts, ignoredKeys } from './hook-texts.js';

export { seconds } from '../../hooks/dispatch/timeout.js';
export { type ProbedHook, type ProbeReport, probeFailed } from '../../hooks/testing/probe.js';
export type { HookTest } from './hook-test-case.js';
export type { HookText } from './hook-texts.js';

type Fields = Readonly<Record<string, unknown>>;
type Notice = Extract<SessionNews, { type: 'notice' }>;

/** One hook that was asked, and what it answered. */
export interface TestedHook {
  readonly hook: string;
  readonly id: string;
  readonly kind: string;
  /** 2: asked again, about the input that hooks gave. */
  readonly round: number;
  /** Null: it gave none. */
  readonly verdict: HookAnswer['decision'] | null;
  readonly ms: number;
  readonly limitMs: number;
  readonly exitCode?: number | null | undefined;
  readonly failure?: { readonly cause: string; readonly message: string } | undefined;
  /** What its failure means. */
  readonly failureMeans?: 'refuses' | 'passes' | undefined;
  /** An error that blocks nothing: exit code 1. */
  readonly error?: string | undefined;
  /** It runs in the background and decides nothing. */
  readonly background?: true | undefined;
  readonly texts: readonly HookText[];
  /** The input that it gives in place of the call's own. */
  readonly updatedInput?: unknown;
  /** The other fields of its answer that the event knows. */
  readonly fields: Fields;
  /** Keys of its answer without effect at this event. */
  readonly ignored: readonly string[];
  readonly stdout?: string | undefined;
  readonly stderr?: string | undefined;
}

/** What `portcullis hooks test --json` prints. */
export interface HookTestReport {
  readonly event: HookEventName;
  /** What matchers were compared with. */
  readonly matched: readonly string[];
  /** What the hooks read. */
  readonly input: unknown;
  readonly asked: readonly TestedHook[];
  readonly notAsked: readonly { readonly hook: string; readonly why: string }[];
  readonly outcome: HookOutcome;
  /** Names of variables that the hooks left for shell commands. */
  readonly variables: readonly string[];
  /** What the user would have been told besides. */
  readonly notices: readonly string[];
  readonly notes: readonly string[];
  /** Hooks were asked, and each gave a verdict. */
  readonly worked: boolean;
}

/** The hooks, tools and gate of a session without a conversation. */
export interface HookTestHost {
  readonly precheck: Precheck;
  /** Runs the hooks of an event really; what they decide is only reported. */
  run(test: HookTest, signal: AbortSignal): Promise<HookTestReport>;
  /** Asks every guard once whether it answers in time. */
  probe(options: { readonly all: boolean; readonly signal: AbortSignal }): Promise<ProbeReport>;
}

/** Opens what a session here would ask hooks with. Throws where no session would start. It is closed with the project. */
export async function openHookTestHost(
  project: Project,
  warn: (text: string) => void,
): Promise<HookTestHost> {
  const collector = new NoticeCollector();
  collector.warn = warn;
  const session = await project.sessionParts({
    entrypoint: 'portcullis-hooks',
    asksModel: true,
    emit: collector.emit,
  });
  collector.warn = undefined;
  const { hooks } = session.parts;
  return {
    precheck: hooks.precheck,
    run: (test, signal) => runHookTest(session, collector, { test, signal }),
    probe: (options) => hooks.probeGuards(options),
  };
}

async function runHookTest(
  { environment, parts }: SessionParts,
  collector: NoticeCollector,
  { test, signal }: { readonly test: HookTest; readonly signal: AbortSignal },
): Promise<HookTestReport> {
  const { hooks, toolRuntime, log } = parts;
  const { workspace, fs } = environment;
  const { event } = test;
  const late: BackgroundResult[] = [];
  hooks.onBackground((result) => late.push(result));
  const mode = toolRuntime.permissions.mode();
  const { pool } = toolRuntime.builtins;
  const tested = await hookTestCase(test, { pool, workspace, mode, signal, fits: hooks.fits });
  const { occasion } = tested;
  const { dispatch, rounds } = dispatchCase(hooks.dispatch, tested);
  const told: string[] = [];
  const outcome = await hookOutcome({
    ...tested,
    event,
    dispatch,
    tell: (text) => told.push(text),
    fits: hooks.fits,
    fs,
    home: homeDirectory(environment.env),
    projectDir: findRepositoryRoot(workspace.cwd) ?? workspace.cwd,
  });
  // An interrupt does not wait for background hooks.
  await orAbort(collector.idle(), signal).catch(() => undefined);
  const { notices } = collector;
  const tool = tested.call?.tool.name;
  const asked = rounds.flatMap(({ reports }, index) =>
    reports.map((report) => testedHook(report, { round: index + 1, tool, late, notices })),
  );
  const ids = asked.map(({ id }) => id);
  // What a hook that was waited for had to say is reported with it.
  const isReported = ({ hookId, tag }: Notice): boolean =>
    asked.some(({ id, background }) => id === hookId && (!background || FAILED.includes(tag)));
  const { sessionId } = log.history;
  const facts = { sessionId, transcriptPath: log.store.transcriptPath(sessionId) };
  return {
    event,
    matched: occasion.matched,
    input: requestFor(event, occasion, { facts }).input,
    asked,
    notAsked: notAsked(hooks.snapshot().hooks[event] ?? [], occasion, ids),
    outcome,
    variables: Object.keys(hooks.variables.current()),
    notices: [...told, ...notices.filter((one) => !isReported(one)).map(({ text }) => text)],
    notes: tested.notes,
    worked:
      asked.length > 0 &&
      asked.every(({ failure, error }) => failure === undefined && error === undefined),
  };
}

/**
 * Fires the event with the input of the test, whatever the session passes on. A second round is about
 * the input that hooks gave, as in a session.
 */
function dispatchCase(real: HookDispatch, { occasion }: HookTestCase) {
  const rounds: HookRound[] = [];
  const dispatch: HookDispatch = {
    has: () => true,
    async fire(event, theirs) {
      const { signal, fits } = theirs;
      const fields = { ...occasion.fields, tool_input: theirs.fields.tool_input };
      const again = { ...occasion, fields, fits: fits ?? occasion.fits };
      const round = await real.fire(event, { ...(rounds.length === 0 ? occasion : again), signal });
      rounds.push(round);
      return round;
    },
  };
  return { dispatch, rounds };
}

/** Tags of notices about hooks that failed or reported an error. */
const FAILED: readonly (string | undefined)[] = ['hook_failed', 'hook_error'];

function testedHook(
  report: HookReport,
  at: {
    readonly round: number;
    readonly tool: string | undefined;
    readonly late: readonly BackgroundResult[];
    readonly notices: readonly Notice[];
  },
): TestedHook {
  const { hook, answer, refuses, complaint, exitCode, stdout, stderr } = report;
  const background = answer.asyncMs === undefined ? undefined : true;
  const warned = at.notices.find(({ hookId, tag }) => hookId === hook.id && FAILED.includes(tag));
  const lateFailure =
    background && warned ? { cause: 'background', message: warned.text } : undefined;
  const failure = report.failure ?? lateFailure;
  const { updatedInput, ...fields } = answer.fields;
  // PermissionRequest hooks give it with their decision.
  const { decision } = fields;
  const decided = isRecord(decision) ? decision.updatedInput : undefined;
  const later = at.late.filter((result) => result.hook.id === hook.id);
  return {
    hook: hook.label,
    id: hook.id,
    kind: hook.handler.type,
    round: at.round,
    verdict: failure === undefined ? answer.decision : null,
    ms: Math.round(report.ms),
    limitMs: hook.timeoutMs,
    exitCode,
    failure,
    failureMeans: failure && (refuses === true ? 'refuses' : 'passes'),
    error: complaint,
    background,
    texts: [...hookTexts(report, at.tool), ...later.flatMap(lateTexts)],
    updatedInput: updatedInput ?? decided,
    fields,
    ignored: ignoredKeys(report),
    stdout,
    stderr,
  };
}

function lateTexts({ context, rewake }: BackgroundResult): readonly HookText[] {
  const next = toModel('with its next request');
  const now = toModel('at once, because exit code 2 wakes it');
  return [
    { what: 'additionalContext', text: context ?? '', ...next },
    { what: 'wake-up', text: rewake ?? '', ...now },
  ].filter(({ text }) => text !== '');
}

function notAsked(hooks: readonly CapturedHook[], occasion: Occasion, asked: readonly string[]) {
  const isAsked = ({ hook }: CapturedHook): boolean => asked.includes(hook.id);
  const why = ({ hook, copyOf, matches }: CapturedHook): string => {
    const { event, matcher, agents, handler } = hook;
    if (!matchingOf({ event, matcher }).matches(occasion)) {
      return `its matcher "${matcher}" does not fit ${occasion.matched.join(' or ')}`;
    }
    if (!matches(occasion)) {
      return agents === undefined
        ? 'it is for another agent'
        : `it is for agents "${agents}", not for ${occasion.agent.path}`;
    }
    const twin = hooks.find((one) => copyOf !== undefined && one.copyOf === copyOf && isAsked(one));
    if (twin !== undefined) return `the same hook was asked: ${twin.hook.label}`;
    return handler.if === undefined ? 'it was not meant' : `its if "${handler.if}" does not fit`;
  };
  return hooks
    .filter((one) => !isAsked(one))
    .map((one) => ({ hook: one.hook.label, why: why(one) }));
}

/** Passes on the warnings of the opening; afterwards keeps notices and counts running hooks. */
class NoticeCollector {
  readonly notices: Notice[] = [];
  #running = 0;
  #waiting: (() => void)[] = [];
  /** Where warnings go while the session opens. */
  warn: ((text: string) => void) | undefined;

  readonly emit = (news: { readonly type: string } | SessionNews): void => {
    if (news.type === 'hook_started') this.#running++;
    // The notices about a hook follow its end at once.
    if (news.type === 'hook_finished' && --this.#running === 0) {
      setImmediate(() => {
        for (const resolve of this.#waiting.splice(0)) resolve();
      });
    }
    if (news.type !== 'notice' || !('text' in news)) return;
    if (this.warn === undefined) this.notices.push(news);
    else if (news.level === 'warning') this.warn(news.text);
  };

  /** Resolves when no hook runs: each ends within its own limit. */
  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
