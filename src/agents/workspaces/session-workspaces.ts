import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { createWorktreeHooks } from '../../hooks/events/worktree.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import type { Guard } from '../../permissions/gate/guard.js';
import { workspaceFence } from '../../permissions/guards/workspace/fence.js';
import { findRepositoryRoot, join } from '../../platform/fs/paths.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { WriteLedger } from '../../tools/files/write-ledger.js';
import { createChildPlaces } from './place.js';
import { worktreeSettings } from './worktree.js';

export interface WorkspaceParts {
  readonly processes: ProcessSupervisor;
  readonly hooks: Pick<OpenHooks, 'dispatch' | 'tell'>;
  toolRuntime(): { readonly builtins: { readonly ledger: WriteLedger } };
}

/** Workspaces of agents: how they come about, and what keeps agents in them. */
export function openWorkspaces(
  config: Pick<SessionConfig, 'cwd'>,
  environment: SessionEnvironment,
  { processes, hooks, toolRuntime }: WorkspaceParts,
) {
  const { fs, env } = environment;
  const projectDir = findRepositoryRoot(config.cwd) ?? config.cwd;
  const settings = (): unknown => {
    const { values } = environment.settings;
    const list = (key: string): readonly unknown[] => values.list(key).map(({ value }) => value);
    return {
      baseRef: values.get('worktree.baseRef')?.value,
      symlinkDirectories: list('worktree.symlinkDirectories'),
      sparsePaths: list('worktree.sparsePaths'),
    };
  };
  const guard: Guard = workspaceFence({
    fs,
    projectDir,
    shared: () =>
      worktreeSettings(settings()).symlinkDirectories.map((name) => join(projectDir, name)),
  });
  return {
    guard,
    workspaceFor: (...asked: Parameters<ReturnType<typeof createChildPlaces>>) =>
      createChildPlaces({
        fs,
        processes,
        env,
        projectDir,
        isTrusted: environment.trust.accepted,
        temporaryDirectory: environment.host.temporaryDirectory,
        ledger: toolRuntime().builtins.ledger,
        settings,
        hooks: createWorktreeHooks({ fs, projectDir, ...hooks }),
        warn: hooks.tell,
      })(...asked),
  };
}
