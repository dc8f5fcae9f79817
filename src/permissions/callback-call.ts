import { messageOf } from '../errors.js';
import { orAbort } from '../util/abort.js';
import type { Result } from '../util/result.js';
import { type BadAnswer, holdsBack } from './callback-answer.js';
import type { CallbackDeps, CallbackEntry } from './callbacks.js';
import { gateMatcher, type NameMatcher } from './name-matcher.js';
import type { CallView } from './view.js';

/** One callback that is asked about one call. */
export interface Asked {
  readonly id: string;
  readonly entry: CallbackEntry;
}

export type Heard<T> =
  | { readonly kind: 'answer'; readonly value: T; readonly ms: number }
  /** `passes`: the host wants such a failure to count as no opinion. */
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly passes: boolean;
      readonly ms: number;
    };

/** The callbacks that are registered for this event and this tool. */
export function callbacksFor(
  deps: CallbackDeps,
  event: string,
  names: readonly string[],
): readonly Asked[] {
  return deps.callbacks
    .registered(event)
    .filter((entry) => matcherOf(deps, entry).matches(names))
    .flatMap((entry) => entry.ids.map((id) => ({ id, entry })));
}

const compiled = new WeakMap<CallbackEntry, NameMatcher>();

function matcherOf(deps: CallbackDeps, entry: CallbackEntry): NameMatcher {
  const known = compiled.get(entry);
  if (known !== undefined) return known;
  const made = gateMatcher(entry.matcher);
  compiled.set(entry, made);
  if (made.problem !== undefined) warn(deps, `${entry.ids.join(', ')}: ${made.problem}`);
  return made;
}

/**
 * Asks one callback. Never throws: silence beyond the time limit, an error and an answer that makes
 * no sense are failures, and what they mean is decided here.
 */
export async function hear<T>(
  deps: CallbackDeps,
  { id, entry }: Asked,
  question: {
    readonly input: Readonly<Record<string, unknown>>;
    readonly toolUseId: string;
    readonly signal: AbortSignal;
    read(answer: unknown): Result<T, BadAnswer>;
  },
): Promise<Heard<T>> {
  const started = deps.monotonic();
  const failed = (message: string, passes: boolean): Heard<T> => {
    if (passes)
      warn(deps, `the callback ${id} failed (${message}) and was registered to be passed over`);
    return { kind: 'failed', message, passes, ms: deps.monotonic() - started };
  };
  const lenient = entry.onFailure === 'continue';
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new Error(`no answer within ${entry.timeoutMs / 1000} s`)),
    entry.timeoutMs,
  );
  const signal = AbortSignal.any([question.signal, deadline.signal]);
  try {
    const { input, toolUseId } = question;
    const answer = await orAbort(deps.callbacks.call({ id, input, toolUseId, signal }), signal);
    const read = question.read(answer);
    if (read.ok) return { kind: 'answer', value: read.value, ms: deps.monotonic() - started };
    // fail-closed: an answer to another question, or one with a no in it, is not passed over.
    const passes = lenient && read.error.kind === 'invalid' && !holdsBack(answer);
    return failed(read.error.message, passes);
  } catch (thrown) {
    // fail-closed: silence is not passed over; an error is, where the host said so.
    return failed(messageOf(thrown), lenient && !signal.aborted);
  } finally {
    clearTimeout(timer);
  }
}

/** What every callback about a tool call is told. */
export function toolInput(
  deps: CallbackDeps,
  event: string,
  { call, mode }: Pick<CallView, 'call' | 'mode'>,
): Readonly<Record<string, unknown>> {
  const { sessionId, transcriptPath, promptId } = deps.facts();
  const { agent } = call;
  return {
    session_id: sessionId,
    transcript_path: transcriptPath,
    cwd: call.workspace.cwd,
    ...(promptId === undefined ? {} : { prompt_id: promptId }),
    permission_mode: mode,
    ...(agent.depth === 0 ? {} : { agent_id: agent.id, agent_type: agent.type }),
    agent,
    hook_event_name: event,
    tool_name: call.tool.name,
    tool_input: call.input,
    tool_use_id: call.toolUseId,
  };
}

export function warn(deps: CallbackDeps, text: string): void {
  deps.emit({ type: 'notice', level: 'warning', text, tag: 'hook_callback_failed' });
}
