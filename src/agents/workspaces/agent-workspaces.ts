import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { messageOf } from '../../errors.js';
import { createWorktreeHooks } from '../../hooks/events/worktree.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import { err, ok, type Result } from '../../lib/result.js';
import { createGit } from '../../permissions/git/hardened.js';
import { workspaceFence } from '../../permissions/guards/workspace/fence.js';
import { findRepositoryRoot, join } from '../../platform/fs/paths.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { createReadState } from '../../tools/files/read-state.js';
import type { WriteLedger } from '../../tools/files/write-ledger.js';
import type { Workspace } from '../../tools/tool.js';
import type { ChildPlace, SpawnRequest } from '../runtime/run.js';
import {
  type OpenedWorkspace,
  openAgentWorkspace,
  reopenWorkspace,
  type WorkspaceDeps,
} from './open.js';
import { trackOutsideWrites } from './outside-writes.js';
import type { WorktreeSettings } from './worktree.js';

export interface PlaceParts
  extends Pick<
    WorkspaceDeps,
    'fs' | 'processes' | 'env' | 'temporaryDirectory' | 'warn' | 'hooks'
  > {
  /** The repository's root, or the session's directory. */
  readonly projectDir: string;
  ledger(): WriteLedger;
  /** Whether a person trusts the folder. */
  isTrusted(): Promise<boolean>;
  /** Read again for each agent. */
  settings(): WorktreeSettings;
}

/** A workspace with the matching fields of the agent's reference. */
export interface OpenedPlace extends ChildPlace {
  readonly ref: OpenedWorkspace['ref'];
}

type PlaceRequest = Pick<SpawnRequest, 'definition' | 'isolation' | 'parent' | 'signal' | 'reopen'>;

/**
 * Creates the function that opens agents' own workspaces; it returns undefined for agents that share their
 * parent's.
 */
export function createChildPlaces(parts: PlaceParts) {
  const { fs, projectDir } = parts;
  const git = createGit(parts);
  return async (
    request: PlaceRequest,
    agent: AgentRef,
    parent: Workspace,
  ): Promise<Result<OpenedPlace, string> | undefined> => {
    const { definition, isolation, reopen, parent: parentRef, signal } = request;
    // A resumed agent returns to its own worktree.
    const isBack = agent.isolation === 'worktree' && agent.workspace !== parentRef.workspace;
    const isApart = isolation === 'worktree' || definition.isolation === 'worktree' || isBack;
    const isFenced = parentRef.workspace !== undefined;
    const isInherited = !isApart && definition.workspace.kind === 'inherit' && !isFenced;
    if (reopen === undefined && isInherited) return undefined;
    const ledger = parts.ledger();
    try {
      const opened =
        reopen === undefined
          ? await openAgentWorkspace(
              { ...parts, git, ledger, settings: parts.settings() },
              { definition, isApart, agent, parent, parentRef, signal },
            )
          : await reopenWorkspace(fs, { path: reopen, agent, parent });
      return opened.ok ? ok(await placeOf(opened.value)) : opened;
    } catch (thrown) {
      // fail-closed: without its own workspace an agent does not run in another one.
      return err(`the workspace of the agent could not be opened: ${messageOf(thrown)}`);
    }

    async function placeOf(opened: OpenedWorkspace): Promise<OpenedPlace> {
      const { ref, notice, workspace } = opened;
      const own = ref.workspace ?? workspace.roots[0] ?? workspace.cwd;
      const outside = await trackOutsideWrites(
        { fs, git, ledger },
        { path: agent.path, workspace: own, project: projectDir },
      );
      const isNew = ref.workspace !== parentRef.workspace && ref.isolation !== undefined;
      return {
        workspace,
        ref,
        isolation: ref.isolation,
        // A new worktree's files differ from those that the parent has read.
        readState: isNew ? createReadState() : undefined,
        notes: notice === undefined ? undefined : [notice],
        async finish(text) {
          const outsideWrites = await outside.finish();
          const worktree = await opened.close(text);
          ledger.forget(agent.path);
          return {
            worktree,
            outsideWrites: outsideWrites.length === 0 ? undefined : outsideWrites,
          };
        },
      };
    }
  };
}

export interface WorkspaceParts {
  readonly processes: ProcessSupervisor;
  readonly hooks: Pick<OpenHooks, 'dispatch' | 'tell'>;
  toolRuntime(): { readonly builtins: { readonly ledger: WriteLedger } };
}

/** Opens the workspaces of agents and the guard that confines agents to them. */
export function openWorkspaces(
  { cwd }: Pick<SessionConfig, 'cwd'>,
  environment: SessionEnvironment,
  { processes, hooks, toolRuntime }: WorkspaceParts,
) {
  const { fs, env } = environment;
  const projectDir = findRepositoryRoot(cwd) ?? cwd;
  const settings = (): WorktreeSettings => {
    const { values } = environment.settings;
    const texts = (key: string): readonly string[] =>
      values.list(key).flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
    return {
      baseRef: values.get('worktree.baseRef')?.value === 'fresh' ? 'fresh' : 'head',
      symlinkDirectories: texts('worktree.symlinkDirectories'),
      sparsePaths: texts('worktree.sparsePaths'),
    };
  };
  return {
    guard: workspaceFence({
      fs,
      projectDir,
      shared: () => settings().symlinkDirectories.map((name) => join(projectDir, name)),
    }),
    workspaceFor: createChildPlaces({
      fs,
      processes,
      env,
      projectDir,
      isTrusted: environment.trust.accepted,
      temporaryDirectory: environment.host.temporaryDirectory,
      ledger: () => toolRuntime().builtins.ledger,
      settings,
      hooks: createWorktreeHooks({ fs, projectDir, ...hooks }),
      warn: hooks.tell,
    }),
  };
}
