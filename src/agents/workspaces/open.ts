import type { WorktreeHooks } from '../../hooks/events/worktree.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { currentBranch, isInside, join, relative, resolve } from '../../platform/fs/paths.js';
import { randomBytes } from '../../platform/random.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { WriteLedger } from '../../tools/files/write-ledger.js';
import type { Workspace } from '../../tools/tool.js';
import type { AgentDefinition, AgentWorkspace } from '../definitions/definition.js';
import type { LeftWorktree } from '../runtime/report.js';
import {
  directoryNotice,
  makeWorktree,
  scratchNotice,
  type WorktreeDeps,
  type WorktreeSettings,
  worktreeNotice,
} from './worktree.js';
import { endWorktree, fullStatus } from './worktree-end.js';

export interface WorkspaceDeps extends WorktreeDeps {
  /** Parent of private directories. */
  readonly temporaryDirectory: string;
  readonly settings: WorktreeSettings;
  /** Hooks that create worktrees in place of git. */
  readonly hooks?: WorktreeHooks | undefined;
  readonly ledger?: Pick<WriteLedger, 'writesOf'> | undefined;
}

export interface WorkspaceRequest {
  readonly definition: Pick<AgentDefinition, 'workspace'>;
  /** Forces a worktree of its own. */
  readonly isApart?: boolean;
  readonly agent: AgentRef;
  readonly parent: Workspace;
  /** The agent whose workspace it starts from. */
  readonly parentRef: AgentRef;
  readonly signal: AbortSignal;
}

/** An agent's workspace while it lives. */
export interface OpenedWorkspace {
  readonly workspace: Workspace;
  /** The fields of the agent's reference that confine it to the workspace. */
  readonly ref: Pick<AgentRef, 'isolation' | 'workspace'>;
  /** A note for the agent's first message. */
  readonly notice?: string;
  /** `text` is the agent's last answer; files of a private directory that it names are kept. */
  close(text?: string): Promise<LeftWorktree | undefined>;
}

type Opening = Result<OpenedWorkspace, string>;

/** Opens the workspace that a definition and a call require, or returns why it cannot. */
export async function openAgentWorkspace(
  deps: WorkspaceDeps,
  request: WorkspaceRequest,
): Promise<Opening> {
  const { definition, isApart } = request;
  const wish: AgentWorkspace = isApart === true ? { kind: 'worktree' } : definition.workspace;
  switch (wish.kind) {
    case 'inherit':
      return ok(inherited(deps, request));
    case 'directory':
      return openDirectory(deps, request, wish.path);
    case 'worktree':
      return openWorktree(deps, request);
    case 'scratch':
      return openScratch(deps, request);
  }
}

/** Opens the same directory for a resumed agent. */
export async function reopenWorkspace(
  fs: FileSystem,
  { path, agent, parent }: { path: string; agent: AgentRef; parent: Workspace },
): Promise<Opening> {
  // fail-closed: the path may now lead to another directory.
  if ((await fs.stat(path))?.kind !== 'directory' || (await fs.realPath(path)) !== path) {
    return err(`its workspace ${path} is not there any more, or leads elsewhere`);
  }
  const { isolation } = agent;
  return ok({
    // A worktree agent does not get the directories of the main checkout from the agent that resumes it.
    workspace: new AgentPlace(path, () => (isolation === 'worktree' ? [] : parent.roots)),
    ref: { workspace: path, isolation },
    close: async () => undefined,
  });
}

/**
 * A workspace with its own current directory, in its parent's roots or confined to `home`, with other
 * readable directories.
 */
class AgentPlace implements Workspace {
  /** Files written by agents that used this workspace. */
  readonly wroteBelow = new Set<string>();
  cwd: string;
  readonly #home: string | undefined;
  readonly #others: () => readonly string[];

  constructor(home: string | undefined, others: () => readonly string[], start = home ?? '') {
    this.#home = home;
    this.#others = others;
    this.cwd = start;
  }

  get roots(): readonly string[] {
    const home = this.#home;
    if (home === undefined) return this.#others();
    return [home, ...this.#others().filter((root) => root !== home)];
  }

  /** A directory outside is ignored, so that the next command starts inside. */
  setCwd(directory: string): void {
    const home = this.#home;
    this.cwd = home === undefined || isInside(directory, home) ? directory : home;
  }
}

/** Files written in a workspace by its agent and by ended agents that shared it. */
function writesIn(
  { ledger }: Pick<WorkspaceDeps, 'ledger'>,
  own: AgentPlace,
  agent: AgentRef,
): readonly string[] {
  return [...(ledger?.writesOf(agent.path) ?? []), ...own.wroteBelow];
}

/**
 * A workspace shared with the parent: closing it passes on the list of written files, because only the
 * owner removes a worktree.
 */
function lentPlace(
  deps: Pick<WorkspaceDeps, 'ledger'>,
  { agent, parent }: WorkspaceRequest,
  opened: Pick<OpenedWorkspace, 'ref' | 'notice'> & { readonly workspace: AgentPlace },
): OpenedWorkspace {
  return {
    ...opened,
    async close() {
      if (!(parent instanceof AgentPlace)) return undefined;
      for (const file of writesIn(deps, opened.workspace, agent)) parent.wroteBelow.add(file);
      return undefined;
    },
  };
}

/**
 * The parent's workspace with a current directory of its own; a confined agent's descendants are confined
 * as well.
 */
function inherited(deps: WorkspaceDeps, request: WorkspaceRequest): OpenedWorkspace {
  const { parent, parentRef } = request;
  const { isolation, workspace: home } = parentRef;
  const start = home ?? parent.roots[0] ?? parent.cwd;
  const workspace = new AgentPlace(home, () => parent.roots, start);
  return lentPlace(deps, request, { workspace, ref: { isolation, workspace: home } });
}

async function openDirectory(
  deps: WorkspaceDeps,
  request: WorkspaceRequest,
  wished: string,
): Promise<Opening> {
  const { fs } = deps;
  const { parent, parentRef } = request;
  const base = parentRef.workspace ?? parent.roots[0] ?? parent.cwd;
  const path = await fs.realPath(resolve(base, wished));
  const allowed = parentRef.workspace === undefined ? parent.roots : [parentRef.workspace];
  const within = await Promise.all(allowed.map((root) => fs.realPath(root)));
  // fail-closed: checked by its real path, not by its name.
  if (!within.some((root) => isInside(path, root))) {
    return err(
      `the workspace ${wished} leads to ${path}, outside of ${allowed.join(', ')}. Name a directory inside`,
    );
  }
  if ((await fs.stat(path))?.kind !== 'directory') {
    return err(`the workspace ${path} is no directory. Make it before the agent is started`);
  }
  const workspace = new AgentPlace(path, () => parent.roots);
  const ref = { workspace: path, isolation: parentRef.isolation };
  return ok(lentPlace(deps, request, { workspace, ref, notice: directoryNotice(path) }));
}

async function openWorktree(deps: WorkspaceDeps, request: WorkspaceRequest): Promise<Opening> {
  const { fs } = deps;
  const { agent, parent, parentRef } = request;
  const name = `agent-${agent.id}`;
  const hooked = await openHookTree(deps, request, name);
  if (hooked !== undefined) return hooked;
  const made = await makeWorktree(deps, { name, cwd: parent.cwd, settings: deps.settings });
  if (!made.ok) return made;
  const tree = made.value;
  const { path, main } = tree;
  const roots = await Promise.all(
    parent.roots.map(async (root) => ({ root, real: await fs.realPath(root) })),
  );
  // Directories added to the session stay readable, but the main checkout does not.
  const outside = roots.filter(({ real }) => !isInside(real, main) && !isInside(main, real));
  const others = outside.map(({ root }) => root);
  const at = parentRef.workspace === undefined ? (parent.roots[0] ?? parent.cwd) : main;
  const workspace = new AgentPlace(path, () => others, await startIn(fs, tree, at));
  return ok({
    workspace,
    ref: { isolation: 'worktree', workspace: path },
    notice: worktreeNotice(tree),
    close: () => endWorktree(deps, tree, writesIn(deps, workspace, agent)),
  });
}

/** For a session in a subdirectory of its repository, the same subdirectory of the worktree. */
async function startIn(
  fs: FileSystem,
  { path, main }: { readonly path: string; readonly main: string },
  at: string,
): Promise<string> {
  const real = await fs.realPath(at);
  const start = join(path, isInside(real, main) ? relative(main, real) : '.');
  const isThere =
    (await fs.stat(start))?.kind === 'directory' && (await fs.realPath(start)) === start;
  return isThere ? start : path;
}

/** Cleanup runs even if the agent was cancelled. */
const NEVER = new AbortController().signal;

/** Undefined: no hook creates worktrees. */
async function openHookTree(
  deps: WorkspaceDeps,
  { agent, parent, signal }: WorkspaceRequest,
  name: string,
): Promise<Opening | undefined> {
  const { fs, git, hooks } = deps;
  const scene = { agent, cwd: parent.cwd, signal };
  const made = await hooks?.create({ name }, scene);
  if (made === undefined || made.kind === 'none') return undefined;
  if (made.kind === 'refused') return err(`no working tree was made: ${made.reason}`);
  const path = await fs.realPath(made.path);
  const head = await git(['rev-parse', 'HEAD'], { cwd: path });
  const branch = currentBranch(path) ?? '';
  const workspace = new AgentPlace(path, () => []);
  return ok({
    workspace,
    ref: { isolation: 'worktree', workspace: path },
    notice: worktreeNotice({ path, branch }),
    async close() {
      const wrote = writesIn(deps, workspace, agent).filter((file) => isInside(file, path));
      const written = wrote.map((file) => relative(path, file));
      const changes = head.ok ? await changesSince(deps, path, head.value) : undefined;
      const changed = [...new Set([...(changes ?? []), ...written])];
      // fail-closed: a worktree that may contain work is not removed.
      if (changes === undefined || changed.length > 0) {
        return { path, branch, kept: true, changed };
      }
      const asked = await hooks?.remove({ worktree_path: path }, { ...scene, signal: NEVER });
      return { path, branch, kept: asked !== true, changed: [] };
    },
  });
}

/** Undefined: the changes cannot be determined. */
async function changesSince(
  { fs, git }: WorkspaceDeps,
  path: string,
  head: string,
): Promise<readonly string[] | undefined> {
  const status = await fullStatus({ fs, git }, { here: [], path, cwd: path });
  const now = await git(['rev-parse', 'HEAD'], { cwd: path });
  if (!status.ok || !now.ok) return undefined;
  const moved = now.value === head ? [] : [`commits up to ${now.value.trim().slice(0, 12)}`];
  return [...status.value, ...moved];
}

async function openScratch(deps: WorkspaceDeps, request: WorkspaceRequest): Promise<Opening> {
  const { fs, temporaryDirectory } = deps;
  const name = `portcullis-scratch-${randomBytes(16).toString('hex')}`;
  const parent = await fs.realPath(temporaryDirectory);
  const path = join(parent, name);
  await fs.makeDirectory(path, { mode: 0o700 });
  const made = await fs.lstat(path);
  // fail-closed: a directory that others can access is not private.
  if (made?.kind !== 'directory' || made.foreign === true || (made.mode & 0o077) !== 0) {
    return err(`no private directory could be made in ${parent}. Check TMPDIR and the umask`);
  }
  return ok({
    workspace: new AgentPlace(path, () => request.parent.roots),
    ref: { isolation: 'scratch', workspace: path },
    notice: scratchNotice(path),
    async close(text) {
      const isEmpty = (await fs.list(path)).length === 0;
      // Kept when the last answer is missing or names it, because it may hold results.
      const isNamed = text === undefined || text.includes(path);
      if (isEmpty || !isNamed) await fs.remove(path, { recursive: true });
      return undefined;
    },
  });
}
