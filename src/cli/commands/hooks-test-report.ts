import type { CapturedHook } from '../../hooks/captured.js';
import type { BackgroundResult } from '../../hooks/dispatch.js';
import type { HookStat } from '../../hooks/dispatch-stats.js';
import type { HookEventName, HookReport, HookRound, Occasion } from '../../hooks/hook.js';
import { matchingOf } from '../../hooks/matching.js';
import { own } from '../../util/own.js';
import { ignoredKeys, type Passage, passagesOf } from './hooks-channels.js';
import type { Fields } from './hooks-payload.js';
import type { Outcome } from './hooks-stage.js';

/** One hook that was asked, and what it said. */
export interface TestedHook {
  readonly hook: string;
  readonly id: string;
  readonly kind: string;
  /** 2: asked again, about the input that hooks gave. */
  readonly round: number;
  /** Null: it gave none. */
  readonly verdict: 'none' | 'allow' | 'ask' | 'defer' | 'deny' | null;
  readonly ms: number;
  readonly limitMs: number;
  readonly exitCode?: number | null;
  readonly failure?: { readonly cause: string; readonly message: string };
  /** What its failure means. */
  readonly failureMeans?: 'refuses' | 'passes';
  /** It reported an error, which blocks nothing: exit code 1. */
  readonly error?: string;
  /** It runs beside the session, and its verdict counts for nothing. */
  readonly beside?: true;
  readonly passages: readonly Passage[];
  /** The input that it gives in place of the call's own. */
  readonly updatedInput?: unknown;
  /** What else it says that the event understands. */
  readonly fields: Fields;
  /** Keys that nobody looks at. */
  readonly ignored: readonly string[];
  readonly stdout?: string;
  readonly stderr?: string;
}

export interface NotAsked {
  readonly hook: string;
  readonly why: string;
}

/** What `portcullis hooks test --json` prints. */
export interface TestReport {
  readonly event: HookEventName;
  /** What the hooks were given. */
  readonly input: unknown;
  readonly asked: readonly TestedHook[];
  readonly notAsked: readonly NotAsked[];
  readonly outcome: Outcome;
  /** Names of variables that the hooks left for shell commands. */
  readonly variables: readonly string[];
  /** What a person would have been told. */
  readonly told: readonly string[];
  readonly notes: readonly string[];
  /** Hooks were asked, and each gave a verdict. */
  readonly worked: boolean;
}

/** What runs beside a session says after its event is over. */
export interface Beside {
  readonly results: readonly BackgroundResult[];
  readonly stats: readonly HookStat[];
}

export function testedHooks(
  rounds: readonly HookRound[],
  { tool, beside }: { readonly tool: string | undefined; readonly beside: Beside },
): readonly TestedHook[] {
  return rounds.flatMap(({ reports }, index) =>
    reports.map((report) => tested(report, { round: index + 1, tool, beside })),
  );
}

function tested(
  report: HookReport,
  at: { readonly round: number; readonly tool: string | undefined; readonly beside: Beside },
): TestedHook {
  const { hook, answer, failure, refuses, complaint, exitCode, stdout, stderr } = report;
  const isBeside = answer.asyncMs !== undefined;
  const late = isBeside ? at.beside.stats.find(({ id }) => id === hook.id) : undefined;
  const failed = failure ?? lateFailure(late);
  const { updatedInput, ...fields } = answer.fields;
  return {
    hook: hook.label,
    id: hook.id,
    kind: hook.handler.type,
    round: at.round,
    verdict: failed === undefined ? answer.decision : null,
    ms: Math.round(late?.lastMs ?? report.ms),
    limitMs: hook.timeoutMs,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(failed === undefined
      ? {}
      : { failure: failed, failureMeans: refuses === true ? 'refuses' : 'passes' }),
    ...(complaint === undefined ? {} : { error: complaint }),
    ...(isBeside ? { beside: true } : {}),
    passages: [...passagesOf(report, at.tool), ...latePassages(report, at.beside)],
    ...(updatedInput === undefined ? requestInput(fields) : { updatedInput }),
    fields,
    ignored: ignoredKeys(report),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
  };
}

/** PermissionRequest hooks give it with their decision. */
function requestInput({ decision }: Fields): { readonly updatedInput?: unknown } {
  const given =
    typeof decision === 'object' && decision !== null
      ? own(decision as Fields, 'updatedInput')
      : undefined;
  return given === undefined ? {} : { updatedInput: given };
}

function lateFailure(stat: HookStat | undefined): TestedHook['failure'] {
  if (stat === undefined || stat.failures === 0) return undefined;
  return { cause: 'beside', message: 'it failed beside the session; what was told says why' };
}

function latePassages({ hook }: HookReport, { results }: Beside): readonly Passage[] {
  return results
    .filter((result) => result.hook.id === hook.id)
    .flatMap(({ context, rewake }): Passage[] => [
      ...(context === undefined
        ? []
        : [late('additionalContext', context, 'with its next request')]),
      ...(rewake === undefined
        ? []
        : [late('wake-up', rewake, 'at once, as exit code 2 wakes it')]),
    ]);
}

function late(what: string, text: string, how: string): Passage {
  return { what, text, to: 'the model', how };
}

/** Hooks of the event that are not meant, each with why. */
export function notAsked(
  hooks: readonly CapturedHook[],
  occasion: Occasion,
  rounds: readonly HookRound[],
): readonly NotAsked[] {
  const reports = rounds.flatMap((round) => round.reports);
  const asked = new Set(reports.map(({ hook }) => hook.id));
  const copies = new Map(
    hooks
      .filter(({ hook }) => asked.has(hook.id))
      .map(({ copyOf, hook }) => [copyOf, hook.label] as const),
  );
  return hooks
    .filter(({ hook }) => !asked.has(hook.id))
    .map((captured) => ({
      hook: captured.hook.label,
      why: whyNotAsked(captured, occasion, copies),
    }));
}

function whyNotAsked(
  { hook, copyOf, matches }: CapturedHook,
  occasion: Occasion,
  copies: ReadonlyMap<string | undefined, string>,
): string {
  const { event, matcher, agents, handler } = hook;
  if (!matches(occasion)) {
    const fitsName = matchingOf({ event, matcher }).matches(occasion);
    if (!fitsName) return `its matcher "${matcher}" does not fit ${occasion.matched.join(' or ')}`;
    return agents === undefined
      ? 'it is for another agent'
      : `it is for agents "${agents}", not for ${occasion.agent.path}`;
  }
  const twin = copyOf === undefined ? undefined : copies.get(copyOf);
  if (twin !== undefined) return `the same hook was asked: ${twin}`;
  return handler.if === undefined ? 'it was not meant' : `its if "${handler.if}" does not fit`;
}
