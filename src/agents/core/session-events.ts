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
import { type BackgroundTaskFacts, createStopHooks, stopHookCap } from '../../hooks/events/stop.js';
import type { LoopDeps } from '../../loop/types.js';
import type { FailureKind, ModelFailure } from '../../model/client.js';
import { resolve } from '../../platform/fs/paths.js';
import { openFileWatcher } from '../../platform/fs/watch-files.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { textOf } from '../../protocol/content.js';
import type { WatchedPath } from '../../settings/types.js';
import { SKILL_TOOL } from '../../skills/grants/approval.js';
import type { CompactionHooks } from './compaction.js';
import { createModelSwitches } from './model-choice.js';
import { type PromptDeps, submitPrompts } from './prompts.js';
import type { RunHooks } from './session.js';
import type { Parts } from './session-parts.js';

export interface SessionEventParts extends Parts {
  /** What settings and instruction files say now is in force; it tells of its failures. */
  refreshRules(): Promise<void>;
  /** Tokens that the conversation takes now. */
  contextTokens(): number;
}

/** What hooks see and do around prompts, turns, summaries, settings and the model. */
export function openSessionEvents(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: SessionEventParts,
) {
  const { clock, env, workspace } = environment;
  const { model, log, hooks, toolRuntime, instructions, skills, mcp } = parts;
  const { dispatch, tell, notes, pending } = hooks;
  const over = new AbortController();
  const { mode: _mode, ...modeless } = hooks.scene(over.signal);
  const placeNow = (signal: AbortSignal = over.signal) => ({
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
    scene: () => placeNow(),
  });
  const models = createModelSwitches({
    choices: model.choices,
    provider: model.client.provider,
    hooks: { dispatch, tell },
    clock,
    scene: () => placeNow(),
    confirm: config.confirmModelSwitch,
    contextTokens: parts.contextTokens,
    tell: pending.say,
  });
  let hasRun = false;
  /** Skills that changed on disk stand before the next prompt. */
  const reloadSkills = async (): Promise<void> => {
    if (toolRuntime.builtins.pool.resolve(SKILL_TOOL) === undefined) return;
    const changed = await skills.changed().catch((thrown: unknown) => {
      tell(`changed skills could not be read again: ${messageOf(thrown)}`);
      return undefined;
    });
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
  const backgroundTasks = (): readonly BackgroundTaskFacts[] => [
    ...toolRuntime.builtins.shells
      .list()
      .filter(({ status }) => status === 'running')
      .map(({ id, status, command, description }) => ({
        id,
        type: 'shell',
        status,
        description: description ?? command,
        command,
      })),
    ...parts.agents.backgroundTasks(),
  ];
  const compaction: CompactionHooks = {
    before: ({ trigger, instructions }, signal) =>
      beforeCompact(dispatch, {
        ...placeNow(signal),
        trigger,
        customInstructions: instructions,
      }),
    async after({ trigger, summary }, signal) {
      const started = await sessionStart(
        hooks,
        { source: 'compact', model: model.choices.current().model },
        placeNow(signal),
      );
      if (started.reloadSkills) await reloadSkills();
      await afterCompact(dispatch, { ...placeNow(signal), trigger, summary });
      const note = await notes.note(started.contexts);
      const again = await instructions.afterCompaction();
      const said = skills.afterCompaction(MAIN_AGENT);
      const texts = (note?.content ?? []).flatMap((block) =>
        block.type === 'text' ? [block.text] : [],
      );
      return [...[again, said].filter((text) => text !== undefined), ...texts];
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
      const { notice, text: delta } = await displayText(dispatch, piece, placeNow());
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
    const question = { scene: placeNow(), fields, matched: [file.loadReason] };
    hooks.background.ask(dispatch, 'InstructionsLoaded', question);
  });
  void hooks.probe(over.signal);
  const prompts: PromptDeps = {
    book: skills.book,
    invoker: skills.invoker,
    mcpPrompts: mcp?.prompts,
    unknownIsText: config.callbacks !== undefined,
    dispatch,
    notes,
    scene: hooks.scene,
    source: config.callbacks === undefined ? 'user' : 'sdk',
    beginPrompt: stop.beginPrompt,
    title: () => title,
    setTitle,
    onReplaced: ({ uuid, content }) =>
      recorder.attachment({ type: 'replaced_prompt', uuid, content }),
    async attach(typed, how) {
      const { attachedTo } = await import('./prompt-mentions.js');
      return await attachedTo(config, environment, { ...parts, typed, ...how });
    },
    onRefused: (text) =>
      config.emit({ type: 'notice', level: 'warning', text, tag: 'prompt_blocked' }),
    async onReady(ready) {
      skills.onReady(ready, { agent: MAIN_AGENT, by: 'person' });
      const stays = ready.model === undefined ? undefined : await models.forTurn(ready.model);
      if (stays !== undefined) tell(`skill ${ready.skill.name}: ${stays}`);
    },
  };
  const runs: RunHooks = {
    async begin(signal) {
      const scene = placeNow(signal);
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
    async submit(given, signal) {
      // The model's own calls wait for that too, beside the request. These come before it.
      if (given.some(bringsCalls)) await parts.refreshRules();
      const hasHooks = Object.keys(hooks.snapshot().hooks).length > 0;
      const atStart = !hasRun && !hasHooks;
      // Instruction files that changed since they were shown stand before the next prompt.
      const changed = await instructions.changed({ atStart }).catch((thrown: unknown) => {
        tell(`changed instruction files could not be read again: ${messageOf(thrown)}`);
        return undefined;
      });
      if (changed !== undefined) pending.remind(changed);
      // At the start they have just been listed.
      if (hasRun) await reloadSkills();
      return await submitPrompts(prompts, given, signal);
    },
    async beforeLeaving(answer, signal) {
      const move = await stop.beforeLeaving({
        event: 'Stop',
        ...hooks.scene(signal),
        lastMessage: textOf(answer.message.content),
        backgroundTasks: backgroundTasks(),
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
    async ended({ reason, lastAnswer }) {
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
    async close(reason) {
      const { mode: _none, ...scene } = hooks.scene(over.signal);
      await sessionEnd(hooks, { reason }, scene);
      watch.close();
      await hooks.closeBackground();
      over.abort(new Error('the session is over'));
      await hooks.close();
    },
  };
  return {
    runs,
    rename: setTitle,
    reloadSkills,
    compaction,
    display,
    models,
    placeNow,
    veto: (changed: readonly WatchedPath[]) =>
      configObjections({ dispatch, tell }, configChangesOf(changed), placeNow()),
    refreshWatch: watch.refresh,
    /** The shell may have gone elsewhere. */
    async moved(signal: AbortSignal): Promise<void> {
      const before = cwd;
      cwd = workspace.cwd;
      if (before !== cwd) {
        await watch.cwdChanged({ old_cwd: before, new_cwd: cwd }, placeNow(signal));
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
      const question = { scene: placeNow(), fields, matched: [fields.source] };
      hooks.background.ask(dispatch, 'DirectoryAdded', question);
    },
  };
}

export type SessionEvents = ReturnType<typeof openSessionEvents>;

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
