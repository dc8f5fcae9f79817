import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import { ASKS_PERSON, NOTHING } from '../../permissions/gate/guard.js';
import type { GateExtension } from '../../permissions/gate/open.js';
import { settingsFilesGuard } from '../../permissions/guards/guards.js';
import { NO_RULES, type RuleSet } from '../../permissions/rules/rule.js';
import { homeDirectory } from '../../platform/fs/paths.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { refuseBroken } from '../../settings/files/load.js';
import type { ConfigProblem, EffectiveSettings } from '../../settings/types.js';
import { namedSettings, sandboxAskedBy } from '../policy/settings.js';
import type { FencedKind, SessionFence } from './guard.js';
import { fencedSupervisor } from './supervisor.js';

/** The sandbox of a session; its code loads when the sandbox is enabled. */
export function openSandboxing(
  config: SessionConfig,
  environment: SessionEnvironment,
  { log, rules }: { readonly log: Log; readonly rules: Promise<(agent: AgentRef) => RuleSet> },
) {
  let { settings } = environment;
  let opened: SessionFence | undefined;
  let loading: Promise<SessionFence> | undefined;
  const told = new Set<string>();
  const isOff = (): boolean => sandboxAskedBy(settings.values) === undefined;
  const make = async (): Promise<SessionFence> => {
    const { SessionFence } = await import('./guard.js');
    const { fs, env, configDir, stateDirectory, workspace, clock } = environment;
    const transcript = log.store.transcriptPath(log.history.sessionId);
    opened = new SessionFence({
      fs,
      now: clock.now,
      home: homeDirectory(env),
      configDir,
      stateDirectory,
      cwd: config.cwd,
      plugins: environment.plugins.map(({ directory }) => directory),
      settings,
      rules,
      async open(options) {
        const { openSandbox } = await import('./sandbox.js');
        return await openSandbox({ env, stateDirectory, ...options });
      },
      roots: () => workspace.roots,
      kept: { transcript, outputs: transcript.replace(/\.jsonl$/, '') },
      tell(text) {
        if (!told.has(text)) config.emit({ type: 'notice', level: 'warning', text });
        told.add(text);
      },
    });
    return opened;
  };
  const load = (): Promise<SessionFence> => {
    loading ??= make();
    return loading;
  };
  const extension: GateExtension = {
    guards: [
      {
        name: ASKS_PERSON.sandbox,
        // fail-closed: a command whose place is undecided does not run.
        onFailure: 'deny',
        decide: async (view) => (isOff() ? NOTHING : (await load()).gate.decide(view)),
      },
      settingsFilesGuard(() => namedSettings(settings)),
    ],
    resolvers: [
      {
        name: ASKS_PERSON.sandbox,
        decide: async (view) => (isOff() ? undefined : (await load()).gate.approve(view)),
      },
    ],
    rules: () => NO_RULES,
  };
  return {
    extension,
    /** Refuses to start when a required sandbox is unavailable. */
    async start(): Promise<void> {
      if (isOff()) return;
      const fence = await load();
      refuseBroken(await fence.problems(), config.emit, settings.strictness);
    },
    /** The only supervisor for programs of this kind. */
    supervisor: (inner: ProcessSupervisor, kind: FencedKind): ProcessSupervisor =>
      fencedSupervisor(inner, async (order) => (await load()).enter(kind, order), isOff),
    /** Why this call runs outside. */
    outside: (toolUseId: string, input: Readonly<Record<string, unknown>>): string | undefined =>
      opened?.gate.outside(toolUseId, input),
    check: (next: EffectiveSettings): readonly ConfigProblem[] => opened?.check(next) ?? [],
    /** Applies changed settings. */
    replace(next: EffectiveSettings): void {
      settings = next;
      opened?.replace(next);
    },
    async close(): Promise<void> {
      await (await loading)?.close();
    },
  };
}

export type OpenSandboxing = ReturnType<typeof openSandboxing>;
