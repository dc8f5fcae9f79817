import { hooksOfPlugins } from '../../config/plugins.js';
import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import type { InputMessage } from '../../loop/types.js';
import { isHarmless, runsBeside } from '../../permissions/gate/resolvers.js';
import type { GateCall } from '../../permissions/gate/types.js';
import { type CallView, viewOf } from '../../permissions/gate/view.js';
import { NO_RULES } from '../../permissions/rules/rule.js';
import { homeDirectory, join } from '../../platform/fs/paths.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import { hookSwitches } from '../../settings/merge/switches.js';
import type { EffectiveSettings } from '../../settings/types.js';
import {
  type BackgroundResult,
  type DispatchDeps,
  HookDispatcher,
} from '../dispatch/dispatcher.js';
import { createHookVariables } from '../dispatch/env-file.js';
import { namesOf } from '../dispatch/input.js';
import { createBackgroundRounds, type Scene } from '../dispatch/scene.js';
import { createAttention, type Notification } from '../events/notification.js';
import { createDenialHooks, createHookAsker } from '../events/permission-request.js';
import { createPostToolHooks } from '../events/post-tool-use.js';
import { createHookPrecheck } from '../events/pre-tool-use.js';
import { captureHooks } from '../registry/capture.js';
import { createIfRule } from '../registry/if-rule.js';
import type { McpRunnerDeps } from '../runners/mcp.js';
import type { AgentJudge } from '../runners/model.js';
import type { ProbeOptions, ProbeReport } from '../testing/probe.js';
import { createHookNotes } from './hook-notes.js';
import type { HookRunnerParts, OpenRunners } from './hook-runners.js';

interface HookParts {
  readonly model: HookRunnerParts['model'];
  readonly log: Log;
  readonly processes: ProcessSupervisor;
  readonly current: { readonly run: { readonly promptId: string | undefined } | undefined };
  /** Sees what hooks write. */
  readonly watch: HookRunnerParts['watch'];
  /** Decides for agent hooks. Undefined: the session is not open yet. */
  judge(): AgentJudge | undefined;
  /** Undefined: there is no server that hooks can call. */
  callServer(): McpRunnerDeps['call'];
  mode(): PermissionMode;
  /** Says something to the main agent while it has nothing to do. */
  tellMain(message: InputMessage): void;
}

/** The hooks of a session: which are in force, how they are asked, and what they do at the gate. */
export function openHooks(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: HookParts,
) {
  const { clock, env, fs, workspace } = environment;
  const { log, processes, mode } = parts;
  const { sessionId } = log.history;
  let settings = environment.settings;
  let opened: Promise<OpenRunners> | undefined;
  const variables = createHookVariables();
  const tell = (text: string): void => config.emit({ type: 'notice', level: 'warning', text });
  const told = new Set<string>();
  const capture = (now: EffectiveSettings) => {
    const { callbacks } = config;
    const scoped = hooksOfPlugins(environment.plugins);
    const snapshot = captureHooks({ values: now.values, env, cwd: config.cwd, scoped, callbacks });
    const skipped = snapshot.skipped.map(({ label, why }) => `${label} is not run: ${why}`);
    for (const text of [...skipped, ...snapshot.notes]) {
      if (!told.has(text)) tell(text);
      told.add(text);
    }
    return snapshot;
  };
  const envFile = (): string => join(log.store.spillDirectory(sessionId), 'hook-environment.sh');
  const notes = createHookNotes({
    uuid: clock.uuid,
    async write(name, text) {
      const file = join(log.store.spillDirectory(sessionId), name);
      await fs.writeAtomic(file, text, { mode: 0o600 });
      return file;
    },
  });
  const waiting: InputMessage[] = [];
  const say = async (texts: readonly string[]): Promise<void> => {
    const note = await notes.note(texts);
    if (note !== undefined) waiting.push(note);
  };
  const listeners: ((result: BackgroundResult) => void)[] = [];
  /** A hook that runs beside the session has answered. */
  const answered = async (result: BackgroundResult): Promise<void> => {
    for (const listener of listeners) listener(result);
    const { context, rewake } = result;
    if (context !== undefined) await say([context]);
    const note = rewake === undefined ? undefined : await notes.note([rewake]);
    if (note !== undefined) parts.tellMain(note);
  };
  const deps: DispatchDeps = {
    clock,
    emit: config.emit,
    runners: async () => {
      opened ??= import('./hook-runners.js').then(({ openHookRunners }) =>
        openHookRunners({
          config,
          environment,
          sessionId,
          settings: () => settings,
          ...parts,
        }),
      );
      return (await opened).runners;
    },
    facts: () => ({
      sessionId,
      transcriptPath: log.store.transcriptPath(sessionId),
      agentTranscriptPath: ({ id }) => log.store.transcriptPath(sessionId, id),
      promptId: parts.current.run?.promptId,
      effort: config.effort,
      mainType: config.runsAs?.name,
    }),
    background: answered,
    envFile,
    async takeVariables() {
      const { takeVariables } = await import('./hook-runners.js');
      const { cwd } = workspace;
      await takeVariables({ file: envFile(), cwd, fs, processes, env, variables, tell });
    },
    hostIsOpen: () => config.callbacks?.isOpen?.() !== false,
  };
  const dispatch = new HookDispatcher(deps, capture(settings));
  config.callbacks?.onRegistered?.(() => dispatch.replace(capture(settings)));
  const home = homeDirectory(env);
  const ifRule = createIfRule({
    root: config.cwd,
    onUnreadable: (rule, why) => tell(`the \`if\` "${rule}" of a hook cannot be read: ${why}`),
  });
  const view = (call: GateCall, now: PermissionMode): CallView =>
    viewOf(call, { fs, home, mode: now, rules: NO_RULES });
  const ofCall = (about: { readonly call: GateCall; readonly mode: PermissionMode }) =>
    ifRule(view(about.call, about.mode));
  const precheck = createHookPrecheck(dispatch, { ifRule });
  const scene = (signal: AbortSignal): Scene => ({
    agent: MAIN_AGENT,
    cwd: workspace.cwd,
    mode: mode(),
    signal,
  });
  const over = new AbortController();
  const untilClose: AbortSignal = over.signal;
  const background = createBackgroundRounds({ tell });
  const notify = ({ type, message, title }: Notification): void => {
    const fields = { message, title, notification_type: type };
    const question = { scene: scene(untilClose), fields, matched: [type] };
    background.ask(dispatch, 'Notification', question);
  };
  const attention = createAttention({ notify });
  return {
    dispatch,
    variables,
    precheck,
    /** Asks the guards of a call before its turn has come. */
    askAhead: (call: GateCall, now: PermissionMode) => precheck.askAhead(view(call, now)),
    /** Whether other calls' guards may be asked before this one has run. */
    isHarmless: (call: GateCall, now: PermissionMode) => isHarmless(view(call, now)),
    /** Whether a command may run beside others. */
    runsBeside: async (call: GateCall, now: PermissionMode): Promise<boolean> => {
      const matched = namesOf(call);
      // fail-closed: a hook may put another command in its place.
      if (dispatch.has('PreToolUse', { agent: call.agent, matched })) return false;
      return await runsBeside(view(call, now));
    },
    around: createHookAsker(dispatch, { ifRule: ofCall }),
    denied: createDenialHooks(dispatch, { ifRule: ofCall }),
    post: createPostToolHooks(dispatch),
    fits: ofCall,
    notes,
    /** What the model reads before the next prompt. */
    pending: {
      /** Texts of hooks. */
      say,
      /** A text of the runtime's own. */
      remind: (text: string): void => void waiting.push(...notes.followUp([text])),
      take: (): readonly InputMessage[] => waiting.splice(0),
    },
    tell,
    /** Where it happens, for events that are about no call. */
    scene,
    /** Calls a person to the screen at once. */
    notify,
    /** Calls a person who keeps something waiting. */
    attention,
    /** Aborts when the session ends. */
    untilClose,
    /** Hooks that nothing waits for. */
    background,
    /** Sends no more notifications and waits, within a limit, for the hooks that run in the background. */
    async closeBackground(): Promise<void> {
      attention.close();
      await background.close();
      over.abort(new Error('the session is over'));
    },
    /** As they are in force now. */
    settings: () => settings,
    snapshot: () => dispatch.snapshot(),
    stats: () => dispatch.stats(),
    addScoped: dispatch.addScoped.bind(dispatch),
    /** Asks every guard once whether it answers in time. */
    async probeGuards(how: Omit<ProbeOptions, 'cwd' | 'mode'>): Promise<ProbeReport> {
      const { probeGates } = await import('../testing/probe.js');
      const options = { ...how, cwd: workspace.cwd, mode: mode() };
      return await probeGates({ ...deps, hooks: dispatch.snapshot() }, options);
    },
    /** Where the settings want it: asks every guard once, and tells of those that do not answer. */
    async probe(signal: AbortSignal): Promise<void> {
      if (!hookSwitches(settings).probe) return;
      const { probeAtStart } = await import('../testing/probe.js');
      const options = { cwd: workspace.cwd, signal, mode: mode() };
      await probeAtStart({ ...deps, hooks: dispatch.snapshot() }, options, tell);
    },
    /** Other settings hold from now on. */
    replace(now: EffectiveSettings): void {
      settings = now;
      dispatch.replace(capture(now));
    },
    onBackground: (listener: (result: BackgroundResult) => void) => void listeners.push(listener),
    async close(): Promise<void> {
      await dispatch.close();
      await (await opened)?.close();
    },
  };
}

export type OpenHooks = ReturnType<typeof openHooks>;
