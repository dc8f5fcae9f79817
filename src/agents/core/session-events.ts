import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { bringsCalls } from '../../context/prompt/mention-places.js';
import { messageOf, PortcullisError } from '../../errors.js';
import type { HookFields } from '../../hooks/dispatch/scene.js';
import { afterCompact, beforeCompact } from '../../hooks/events/compact.js';
import { configChangesOf, configObjections } from '../../hooks/events/config.js';
import { createWatchHooks } from '../../hooks/events/files.js';
import { displayText } from '../../hooks/events/message-display.js';
import { sessionEnd, sessionSetup, sessionStart } from '../../hooks/events/session.js';
import { createStopHooks, stopHookCap } from '../../hooks/events/stop.js';
import type {
  IdleDecision,
  InputMessage,
  LoopDeps,
  LoopOutcome,
  ModelAnswer,
} from '../../loop/types.js';
import type { FailureKind, ModelFailure } from '../../model/client.js';
import { resolve } from '../../platform/fs/paths.js';
import { openFileWatcher } from '../../platform/fs/watch-files.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { textOf } from '../../protocol/content.js';
import type { WatchedPath } from '../../settings/types.js';
import { SKILL_TOOL } from '../../skills/grants/approval.js';
import type { CompactionHooks } from './compaction.js';
import { createModelSwitches } from './model-choice.js';
import { type Submitted, submitPrompts } from './prompts.js';
import type { SessionEndReason } from './session.js';
import type { Parts } from './session-parts.js';

/** What start hooks add before the first prompt. */
export interface Beginning {
  /** Added to the first prompt. */
  readonly inputs: readonly InputMessage[];
  /** Prompts of hooks; each is a run of its own before the person's first prompt. */
  readonly prompts: readonly InputMessage[];
}

/** Runs the hooks around prompts, turns, summaries, settings and the model. */
export function openSessionEvents(
  config: SessionConfig,
  environment: SessionEnvironment,
  // `contextTokens` counts the conversation; `refreshRules` applies changed settings and instruction files.
  {
    contextTokens,
    refreshRules,
    ...parts
  }: Parts & { contextTokens(): number; refreshRules(): Promise<void> },
) {
  const { clock, env, workspace } = environment;
  const { model, log, hooks, toolRuntime, instructions, skills, mcp } = parts;
  const { dispatch, tell, notes, pending } = hooks;
  const { shells } = toolRuntime.builtins;
  const over = new AbortController();
  const { mode: _mode, ...modeless } = hooks.scene(over.signal);
  const currentScene = (signal: AbortSignal = over.signal) => ({
    ...modeless,
    cwd: workspace.cwd,
    signal,
  });
  const watch = createWatchHooks({
    dispatch,
    tell,
    background: hooks.background,
    projectDir: config.cwd,
    openWatcher: openFileWatcher,
    matchers: () => (hooks.snapshot().hooks.FileChanged ?? []).map(({ hook }) => hook.matcher),
    scene: () => currentScene(),
  });
  const models = createModelSwitches({
    choices: model.choices,
    provider: model.client.provider,
    hooks: { dispatch, tell },
    clock,
    scene: () => currentScene(),
    confirm: config.confirmModelSwitch,
    contextTokens,
    tell: pending.say,
  });
  let hasRun = false;
  /** The result; undefined after a failure, which is reported. */
  const attempt = async <T>(work: Promise<T>, what: string): Promise<T | undefined> => {
    try {
      return await work;
    } catch (thrown) {
      tell(`changed ${what} could not be read again: ${messageOf(thrown)}`);
      return undefined;
    }
  };
  /** Announces skills that changed on disk before the next prompt. */
  const reloadSkills = async (): Promise<void> => {
    if (toolRuntime.builtins.pool.resolve(SKILL_TOOL) === undefined) return;
    const changed = await attempt(skills.changed(), 'skills');
    if (changed !== undefined) pending.remind(changed);
  };
  const { history, recorder } = log;
  let title = history.title ?? config.title;
  const setTitle = (text: string): void => {
    title = text;
    recorder.title(text);
  };
  const stop = createStopHooks(dispatch, {
    cap: stopHookCap(env),
    changes: () => toolRuntime.calls.ledger.count(),
  });
  const runningShells = () =>
    shells
      .list()
      .flatMap(({ id, status, command, description = command }) =>
        status === 'running' ? [{ id, type: 'shell', status, description, command } as const] : [],
      );
  const compaction: CompactionHooks = {
    before: ({ trigger, instructions: customInstructions }, signal) =>
      beforeCompact(dispatch, { ...currentScene(signal), trigger, customInstructions }),
    async after({ trigger, summary }, signal) {
      const started = await sessionStart(
        hooks,
        { source: 'compact', model: model.choices.current().model },
        currentScene(signal),
      );
      if (started.reloadSkills) await reloadSkills();
      await afterCompact(dispatch, { ...currentScene(signal), trigger, summary });
      const note = await notes.note(started.contexts);
      const again = await instructions.afterCompaction();
      const said = skills.afterCompaction(MAIN_AGENT);
      const texts = (note?.content ?? []).map((block) => textOf([block]));
      return [again, said, ...texts].filter((text) => text !== undefined);
    },
  };
  const display: LoopDeps['display'] = async (answer) => {
    const texts: Record<number, string> = {};
    if (!dispatch.has('MessageDisplay', { agent: MAIN_AGENT, matched: [] })) return undefined;
    const blocks = answer.message.content.flatMap((block, index) =>
      block.type === 'text' ? [{ index, text: block.text }] : [],
    );
    for (const [count, { index, text }] of blocks.entries()) {
      const piece = {
        turn_id: answer.id,
        message_id: answer.blockIds[index] ?? answer.id,
        index: count,
        final: count === blocks.length - 1,
        delta: text,
      };
      const { notice, text: delta } = await displayText(dispatch, piece, currentScene());
      if (notice !== undefined) tell(notice);
      texts[index] = delta;
    }
    return texts;
  };
  let cwd = workspace.cwd;
  instructions.onLoaded((file) => {
    const fields: HookFields<'InstructionsLoaded'> = {
      file_path: file.path,
      memory_type: file.memoryType,
      load_reason: file.loadReason,
      globs: file.globs,
      trigger_file_path: file.trigger,
      parent_file_path: file.parent,
    };
    const question = { scene: currentScene(), fields, matched: [file.loadReason] };
    hooks.background.ask(dispatch, 'InstructionsLoaded', question);
  });
  void hooks.probe(over.signal);
  return {
    rename: setTitle,
    reloadSkills,
    compaction,
    display,
    models,
    /** Called once, before the first run. */
    async begin(signal: AbortSignal): Promise<Beginning> {
      const scene = currentScene(signal);
      const setup = config.setup && (await sessionSetup(hooks, { trigger: config.setup }, scene));
      const source =
        config.startedBy ?? (history.forked ? 'fork' : history.resumed ? 'resume' : 'startup');
      const { model: name } = model.choices.current();
      const started = await sessionStart(
        hooks,
        { source, model: name, session_title: title },
        scene,
      );
      if (started.sessionTitle !== undefined) setTitle(started.sessionTitle);
      watch.refresh();
      watch.watch(started.watchPaths, workspace.cwd);
      if (started.reloadSkills) await reloadSkills();
      const note = await notes.note([...(setup ?? []), ...started.contexts]);
      const { initialUserMessage } = started;
      return {
        inputs: note === undefined ? [] : [note],
        prompts: initialUserMessage === undefined ? [] : [notes.prompt(initialUserMessage)],
      };
    },
    /** Submits prompts: hooks may add to them or block them. */
    async submit(given: readonly InputMessage[], signal: AbortSignal): Promise<Submitted> {
      // Calls of the model await changed rules beside its request; calls for a prompt come before any request.
      if (given.some(bringsCalls)) await refreshRules();
      const hasHooks = Object.keys(hooks.snapshot().hooks).length > 0;
      const atStart = !hasRun && !hasHooks;
      // Announces changed instruction files before the next prompt.
      const changed = await attempt(instructions.changed({ atStart }), 'instruction files');
      if (changed !== undefined) pending.remind(changed);
      // At the start the skills have just been listed.
      if (hasRun) await reloadSkills();
      const titled = { get: () => title, set: setTitle };
      const beginPrompt = stop.beginPrompt;
      const all = { ...parts, config, environment, models, beginPrompt, title: titled };
      return await submitPrompts(all, given, signal);
    },
    /** The model has finished: end the run, or continue with a Stop hook's message. */
    async beforeLeaving(answer: ModelAnswer, signal: AbortSignal): Promise<IdleDecision> {
      const move = await stop.beforeLeaving({
        event: 'Stop',
        ...hooks.scene(signal),
        lastMessage: textOf(answer.message.content),
        backgroundTasks: [...runningShells(), ...parts.agents.backgroundTasks()],
        crons: [],
      });
      if (move.kind === 'end') return { leave: { kind: 'stop_prevented', message: move.stop } };
      if (move.kind === 'go-on') {
        const note = await notes.note([move.message]);
        return note === undefined || move.onlyContext !== true ? note : { ...note, sameTurn: true };
      }
      if (move.notice !== undefined) {
        config.emit({ type: 'notice', level: 'warning', text: move.notice, tag: 'stop_hook' });
      }
      return undefined;
    },
    async ended({ reason, lastAnswer }: LoopOutcome): Promise<void> {
      hasRun = true;
      model.choices.endTurn();
      if (reason.kind !== 'model_failure') return;
      const { failure } = reason;
      await stop.failure({
        ...hooks.scene(over.signal),
        error: errorName(failure),
        details: failure.message,
        lastMessage: lastAnswer === undefined ? undefined : textOf(lastAnswer.message.content),
      });
    },
    async close(reason: SessionEndReason): Promise<void> {
      const { mode: _none, ...scene } = hooks.scene(over.signal);
      await sessionEnd(hooks, { reason }, scene);
      watch.close();
      await hooks.closeBackground();
      over.abort(new Error('the session is over'));
      await hooks.close();
    },
    veto: (changed: readonly WatchedPath[]) =>
      configObjections({ dispatch, tell }, configChangesOf(changed), currentScene()),
    refreshWatch: watch.refresh,
    /** A shell command may have changed the directory. */
    async moved(signal: AbortSignal): Promise<void> {
      const before = cwd;
      cwd = workspace.cwd;
      if (before !== cwd) {
        await watch.cwdChanged({ old_cwd: before, new_cwd: cwd }, currentScene(signal));
      }
    },
    async addDirectory(directory: string): Promise<void> {
      const full = resolve(workspace.cwd, directory);
      if ((await environment.fs.stat(full))?.kind !== 'directory') {
        throw new PortcullisError('usage', `${full} is not a directory`);
      }
      workspace.addRoot(full);
      mcp?.rootsChanged();
      const fields: HookFields<'DirectoryAdded'> = { directory: full, source: 'slash_command' };
      const question = { scene: currentScene(), fields, matched: [fields.source] };
      hooks.background.ask(dispatch, 'DirectoryAdded', question);
    },
  };
}

export type SessionEvents = ReturnType<typeof openSessionEvents>;

/** The error names that StopFailure hooks match on. */
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
