import type { Scene } from '../../hooks/dispatch/scene.js';
import type { PromptHooks, PromptSource } from '../../hooks/events/prompt.js';
import type { SessionHooks, SessionStarting } from '../../hooks/events/session.js';
import type { BackgroundTaskFacts, StopHooks } from '../../hooks/events/stop.js';
import type { HookNotes } from '../../hooks/session/hook-notes.js';
import type { InputMessage } from '../../loop/types.js';
import type { FailureKind, ModelFailure } from '../../model/client.js';
import { textOf } from '../../protocol/content.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { Beginning, RunHooks, Submitted } from './session.js';

export interface RunHookDeps {
  readonly session: SessionHooks;
  readonly prompts: PromptHooks;
  readonly stop: StopHooks;
  readonly notes: HookNotes;
  /** Where it happens, with the mode that holds now. */
  scene(signal: AbortSignal): Scene;
  /** How the session begins. */
  starting(): SessionStarting;
  readonly setup: 'init' | 'maintenance' | undefined;
  readonly promptSource: PromptSource;
  title(): string | undefined;
  setTitle(text: string): void;
  /** Hooks want these files watched. */
  watch(paths: readonly string[]): void;
  /** Hooks have put skills where they are looked for. */
  reloadSkills?(): Promise<void>;
  backgroundTasks(): readonly BackgroundTaskFacts[];
  /** What a hook put in a prompt's place, for the transcript: what was said is kept beside it. */
  onReplaced(said: InputMessage): void;
  emit(news: SessionNews): void;
  /** Ends what hooks left running. */
  close(): Promise<void>;
}

/** The hooks around the runs of a session's main agent. */
export function createRunHooks(deps: RunHookDeps): RunHooks {
  const over = new AbortController();
  return {
    begin: (signal) => begin(deps, signal),
    submit: (prompts, signal) => submit(deps, prompts, signal),
    async beforeLeaving(answer, signal) {
      const move = await deps.stop.beforeLeaving({
        event: 'Stop',
        ...deps.scene(signal),
        lastMessage: textOf(answer.message.content),
        backgroundTasks: deps.backgroundTasks(),
        crons: [],
      });
      if (move.kind === 'end') return { leave: { kind: 'stop_prevented', message: move.stop } };
      if (move.kind === 'go-on') {
        const note = await deps.notes.note([move.message]);
        return note === undefined || move.onlyContext !== true ? note : { ...note, sameTurn: true };
      }
      if (move.notice !== undefined) {
        deps.emit({ type: 'notice', level: 'warning', text: move.notice, tag: 'stop_hook' });
      }
      return undefined;
    },
    async ended({ reason, lastAnswer }) {
      if (reason.kind !== 'model_failure') return;
      const { failure } = reason;
      await deps.stop.failure({
        ...deps.scene(over.signal),
        error: errorName(failure),
        details: failure.message,
        lastMessage: lastAnswer === undefined ? undefined : textOf(lastAnswer.message.content),
      });
    },
    async close(reason) {
      const { agent, cwd } = deps.scene(over.signal);
      await deps.session.end({ reason }, { agent, cwd });
      over.abort(new Error('the session is over'));
      await deps.close();
    },
  };
}

async function begin(deps: RunHookDeps, signal: AbortSignal): Promise<Beginning> {
  const { mode: _mode, ...scene } = deps.scene(signal);
  const setup =
    deps.setup === undefined ? undefined : await deps.session.setup({ trigger: deps.setup }, scene);
  const started = await deps.session.start(deps.starting(), scene);
  if (started.sessionTitle !== undefined) deps.setTitle(started.sessionTitle);
  deps.watch(started.watchPaths);
  if (started.reloadSkills) await deps.reloadSkills?.();
  const note = await deps.notes.note([...(setup?.contexts ?? []), ...started.contexts]);
  const { initialUserMessage } = started;
  return {
    inputs: note === undefined ? [] : [note],
    prompts: initialUserMessage === undefined ? [] : [deps.notes.prompt(initialUserMessage)],
  };
}

/** Each prompt is shown to the hooks by itself; what the runtime adds is not a prompt. */
async function submit(
  deps: RunHookDeps,
  prompts: readonly InputMessage[],
  signal: AbortSignal,
): Promise<Submitted> {
  const passed: InputMessage[] = [];
  const refusals: string[] = [];
  for (const prompt of prompts) {
    if (prompt.meta === true) {
      passed.push(prompt);
      continue;
    }
    const shown = await showPrompt(deps, prompt, signal);
    if (typeof shown !== 'string') passed.push(...shown);
    else {
      refusals.push(shown);
      deps.emit({ type: 'notice', level: 'warning', text: shown, tag: 'prompt_blocked' });
    }
  }
  const said = passed.some((message) => message.meta !== true);
  if (refusals.length > 0 && !said) return { kind: 'blocked', message: refusals.join('\n\n') };
  return { kind: 'pass', inputs: passed };
}

/** A text: why it goes no further. */
async function showPrompt(
  deps: RunHookDeps,
  prompt: InputMessage,
  signal: AbortSignal,
): Promise<readonly InputMessage[] | string> {
  deps.stop.beginPrompt();
  const text = textOf(prompt.content);
  const outcome = await deps.prompts.submit({
    prompt: text,
    ...deps.scene(signal),
    source: deps.promptSource,
    sessionTitle: deps.title(),
  });
  if (outcome.kind === 'stopped') return `Stopped by a hook: ${outcome.reason}`;
  if (outcome.kind === 'blocked') {
    const original = outcome.suppressOriginal === true ? '' : `\n\nOriginal prompt: ${text}`;
    return `The prompt was blocked by a hook: ${outcome.reason}${original}`;
  }
  if (outcome.sessionTitle !== undefined) deps.setTitle(outcome.sessionTitle);
  const note = await deps.notes.note(outcome.contexts);
  const context = note === undefined ? [] : [note];
  const { updatedPrompt } = outcome;
  if (updatedPrompt === undefined) return [prompt, ...context];
  deps.onReplaced(prompt);
  const others = prompt.content.filter((block) => block.type !== 'text');
  return [{ ...prompt, content: [...others, { type: 'text', text: updatedPrompt }] }, ...context];
}

/** The names of failed model calls that StopFailure hooks match on. */
const NAMES = {
  authentication: 'authentication_failed',
  billing: 'billing_error',
  rate_limit: 'rate_limit',
  overloaded: 'overloaded',
  server: 'server_error',
  invalid_request: 'invalid_request',
  prompt_too_long: 'invalid_request',
  model_not_found: 'model_not_found',
  connection: 'server_error',
  timeout: 'server_error',
  bad_response: 'unknown',
  aborted: 'unknown',
} as const satisfies Record<FailureKind, string>;

export function errorName({ kind }: Pick<ModelFailure, 'kind'>): (typeof NAMES)[FailureKind] {
  return NAMES[kind];
}
