import { HOOK_SAMPLES } from '../../../build/generated/hook-samples.js';
import { join } from '../../platform/fs/paths.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import { hookEventFacts } from '../../protocol/hooks/hook-events.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import { type HookFacts, requestFor } from '../dispatch/input.js';
import { notRun, type RunDeps, runHook, thrownText } from '../dispatch/run.js';
import { seconds } from '../dispatch/timeout.js';
import { type CapturedHook, EVENTS, type HookSet, runsBeside } from '../registry/captured.js';
import type { Hook, HookAnswer, HookFailure, HookReport, Occasion } from '../registry/hook.js';

export interface ProbeDeps extends RunDeps {
  /** The hooks in force. */
  readonly hooks: HookSet;
  facts(): HookFacts;
}

export interface ProbeOptions {
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly mode?: PermissionMode;
  /** Also guards that ask a model, a server or the host: they cost money or reach out. */
  readonly all?: boolean;
  /** Milliseconds that each is waited for where its own limit is longer. */
  readonly atMostMs?: number;
}

/** One guard and what it said when it was asked without need. */
export interface ProbedHook {
  readonly hook: Hook;
  readonly ms: number;
  /** Milliseconds that it had. */
  readonly limitMs: number;
  /** Whatever it decided, it can decide. */
  readonly decision: HookAnswer['decision'];
  readonly failure?: HookFailure;
  /** Exit code 1: an error that does not block, so that the guard guards nothing. */
  readonly complaint?: string;
}

interface UnprobedHook {
  readonly hook: Hook;
  readonly why: string;
}

export interface ProbeReport {
  /** In the order in which they are declared, event by event. */
  readonly probed: readonly ProbedHook[];
  readonly skipped: readonly UnprobedHook[];
}

/**
 * Asks every guard once, with the sample input of its event and `probe: true` in it, whatever its
 * matcher, `agents` and `if` say, and finds out whether it gives a verdict in time. Counts for nothing:
 * neither `once` nor the statistics see it. Guards of one event are asked at once, as in a session.
 * Never throws.
 */
export async function probeGates(deps: ProbeDeps, options: ProbeOptions): Promise<ProbeReport> {
  const probed: ProbedHook[] = [];
  const skipped: UnprobedHook[] = [];
  for (const event of EVENTS) {
    if (hookEventFacts(event).role !== 'gate') continue;
    const meant: CapturedHook[] = [];
    const copies = new Set<string>();
    for (const captured of deps.hooks.hooks[event] ?? []) {
      const { id, matcher = '' } = captured.hook;
      const key = `${captured.copyOf ?? id}\n${matcher}`;
      // Of identical hooks in several settings files the first is asked, as in a session.
      if (copies.has(key)) continue;
      copies.add(key);
      const why = whyNot(captured, options);
      if (why === undefined) meant.push(captured);
      else skipped.push({ hook: captured.hook, why });
    }
    probed.push(...(await Promise.all(meant.map((one) => probe(deps, one, options)))));
  }
  return { probed, skipped };
}

/** Milliseconds that a guard is waited for at the start of a session. */
const START_LIMIT_MS = 10_000;

/**
 * At the start of a session, beside it: a guard that does not answer is told, and will refuse by
 * itself. Never throws; a session that ends meanwhile is told nothing.
 */
export async function probeAtStart(
  deps: ProbeDeps,
  options: ProbeOptions,
  tell: (text: string) => void,
): Promise<void> {
  const { probed } = await probeGates(deps, { atMostMs: START_LIMIT_MS, ...options });
  if (options.signal.aborted) return;
  for (const one of probed) {
    const warning = probeWarning(one);
    if (warning !== undefined) tell(warning);
  }
}

export function probeFailed({ failure, complaint }: ProbedHook): boolean {
  return failure !== undefined || complaint !== undefined;
}

/** What a person is told of a guard that did not answer; undefined when it did. */
export function probeWarning(probed: ProbedHook): string | undefined {
  const { hook, ms, limitMs, failure, complaint } = probed;
  const who = `${hook.event}: ${hook.label}`;
  if (failure?.cause === 'timeout' && limitMs < hook.timeoutMs) {
    return `${who} did not answer within ${seconds(limitMs)} when it was probed; its own limit is ${seconds(hook.timeoutMs)}`;
  }
  if (failure !== undefined) {
    const why = `${failure.cause}: ${failure.message}`;
    const then =
      hook.onFailure === 'block' ? 'what it guards will be refused' : 'it will be passed over';
    return `${who} gave no verdict when it was probed (${why}; after ${seconds(Math.round(ms))} of ${seconds(limitMs)}); unless that changes, ${then}`;
  }
  if (complaint === undefined) return undefined;
  return `${who} reported an error when it was probed, which blocks nothing: ${complaint}`;
}

function whyNot({ hook, broken }: CapturedHook, { all }: ProbeOptions): string | undefined {
  const { event, handler } = hook;
  // Making one is what such a hook is for.
  if (event === 'WorktreeCreate') return 'it would make a working tree';
  if (runsBeside(handler)) return 'it runs beside the session and decides nothing';
  if (broken !== undefined || handler.type === 'command' || all === true) return undefined;
  const asks =
    handler.type === 'prompt' || handler.type === 'agent' ? 'a model' : 'a server or the host';
  return `it asks ${asks}, which may cost something`;
}

async function probe(
  deps: ProbeDeps,
  captured: CapturedHook,
  options: ProbeOptions,
): Promise<ProbedHook> {
  const { hook, broken } = captured;
  const limitMs = Math.min(hook.timeoutMs, options.atMostMs ?? Number.POSITIVE_INFINITY);
  let report: HookReport;
  try {
    const occasion = probeOccasion(captured, options);
    const request = requestFor(hook.event, occasion, { facts: deps.facts() });
    const run = { hook: { ...hook, timeoutMs: limitMs }, request, signal: options.signal };
    report = broken === undefined ? await runHook(deps, run) : notRun(hook, broken);
  } catch (thrown) {
    // fail-closed: whatever went wrong, the guard gave no verdict.
    report = notRun(hook, { cause: 'threw', message: thrownText(thrown) });
  }
  const { ms, answer, failure, complaint } = report;
  return { hook, ms, limitMs, decision: answer.decision, failure, complaint };
}

/** An occasion that the hook is meant for, as far as that can be told from what is written. */
function probeOccasion(captured: CapturedHook, options: ProbeOptions): Occasion {
  const { event, agents, matcher = '' } = captured.hook;
  const { cwd, mode, signal } = options;
  const { matches, matcherField: field } = hookEventFacts(event);
  const isAboutCall = matches === 'tool';
  const sample: Readonly<Record<string, unknown>> = HOOK_SAMPLES[event];
  const people = [MAIN_AGENT, ...(agents === undefined ? [] : [agentOf(agents)])];
  const about = { cwd, signal, mode, ...(isAboutCall ? { toolUseId: 'toolu_sample' } : {}) };
  if (matches === 'nothing' || field === undefined) {
    const agent = people.find((one) => captured.matches({ agent: one, matched: [] })) ?? MAIN_AGENT;
    return { ...about, agent, matched: [], fields: { ...sample, probe: true } };
  }
  // The sample first, then what the matcher itself names.
  const named = matcher.split('|').map((name) => name.trim());
  const names = [String(sample[field]), ...(isAboutCall ? SAMPLE_TOOLS : []), ...named].filter(
    (name) => name !== '',
  );
  const tries = people.flatMap((agent) => names.map((name) => ({ agent, matched: [name] })));
  const { agent, matched } = tries.find((one) => captured.matches(one)) ?? {
    agent: MAIN_AGENT,
    matched: names.slice(0, 1),
  };
  const [name = ''] = matched;
  const call = isAboutCall ? { tool_input: sampleCall(name, cwd) ?? {} } : {};
  return { ...about, agent, matched, fields: { ...sample, [field]: name, ...call, probe: true } };
}

/** Some agent that a pattern names. */
function agentOf(pattern: string): AgentRef {
  const last = pattern.split('/').at(-1) ?? pattern;
  const type = last.replace(/#.*$/, '').replaceAll('*', 'agent') || 'agent';
  return { id: 'agent_sample', type, path: `main/${type}#1`, depth: 1, background: false };
}

type Input = Readonly<Record<string, unknown>>;

const AGENT_CALL: Input = {
  description: 'Review the parser',
  prompt: 'Read src/parser.ts and look for mistakes.',
  subagent_type: 'reviewer',
};

/** Inputs as tools of these names take them, for trying hooks out. The files need not be there. */
const CALLS: Readonly<Record<string, (cwd: string) => Input>> = {
  Bash: () => ({ command: 'npm test', description: 'Run the tests' }),
  Write: (cwd) => ({ file_path: join(cwd, 'sample.txt'), content: 'a line\n' }),
  Edit: (cwd) => ({
    file_path: join(cwd, 'sample.txt'),
    old_string: 'a line',
    new_string: 'another line',
  }),
  Read: (cwd) => ({ file_path: join(cwd, 'sample.txt') }),
  Glob: (cwd) => ({ pattern: '**/*.ts', path: cwd }),
  Grep: (cwd) => ({ pattern: 'sample', path: cwd }),
  NotebookEdit: (cwd) => ({ notebook_path: join(cwd, 'sample.ipynb'), new_source: '1 + 1' }),
  WebFetch: () => ({ url: 'https://example.com/', prompt: 'What is it about?' }),
  WebSearch: () => ({ query: 'sample' }),
  Agent: () => AGENT_CALL,
  Task: () => AGENT_CALL,
  Skill: () => ({ skill: 'review' }),
};

/** Tools that there is a sample for, the most common ones first. */
const SAMPLE_TOOLS: readonly string[] = Object.keys(CALLS);

/** A sample input for a tool; undefined for an unknown tool. */
export function sampleCall(tool: string, cwd: string): Input | undefined {
  return Object.hasOwn(CALLS, tool) ? CALLS[tool]?.(cwd) : undefined;
}
