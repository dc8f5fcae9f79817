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
import { endWorktree, wholeStatus } from './worktree-end.js';

export interface WorkspaceDeps extends WorktreeDeps {
  /** Where private directories are made. */
  readonly temporaryDirectory: string;
  readonly settings: WorktreeSettings;
  /** Hooks that make trees in git's place. */
  readonly hooks?: WorktreeHooks | undefined;
  readonly ledger?: Pick<WriteLedger, 'writesOf'> | undefined;
}

export interface WorkspaceRequest {
  readonly definition: Pick<AgentDefinition, 'workspace'>;
  /** In a tree of its own, whatever the definition says. */
  readonly isApart?: boolean;
  /** The agent that will work there. */
  readonly agent: AgentRef;
  readonly parent: Workspace;
  /** Whose place it starts from. */
  readonly parentRef: AgentRef;
  readonly signal: AbortSignal;
}

/** The place of an agent, for as long as it lives. */
export interface OpenedWorkspace {
  readonly workspace: Workspace;
  /** What the agent's reference says about it. The fence goes by this. */
  readonly ref: Pick<AgentRef, 'isolation' | 'workspace'>;
  /** For the agent's first message. */
  readonly notice?: string;
  /** `text`: the agent's last answer; files of a private directory that it names are kept. */
  close(text?: string): Promise<LeftWorktree | undefined>;
}

type Opening = Result<OpenedWorkspace, string>;

/** Opens the place that a definition and a call ask for, or says why it cannot be had. */
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

/** The very directory that an agent had before, whoever resumes it now. */
export async function reopenWorkspace(
  fs: FileSystem,
  { path, agent, parent }: { path: string; agent: AgentRef; parent: Workspace },
): Promise<Opening> {
  // fail-closed: what has its name now need not be its place.
  if ((await fs.stat(path))?.kind !== 'directory' || (await fs.realPath(path)) !== path) {
    return err(`its workspace ${path} is not there any more, or leads elsewhere`);
  }
  const { isolation } = agent;
  return ok({
    // Apart from the main checkout, it does not get that one's directories from whoever resumes it.
    workspace: new AgentPlace(path, () => (isolation === 'worktree' ? [] : parent.roots)),
    ref: { workspace: path, isolation },
    close: async () => undefined,
  });
}

/** Steps of an agent's own, in its parent's directories or confined to `home`; then others may be looked at. */
class AgentPlace implements Workspace {
  /** Files that agents wrote to whom this place was lent. */
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

  /** Wherever a command went, the next one begins inside. */
  setCwd(directory: string): void {
    const home = this.#home;
    this.cwd = home === undefined || isInside(directory, home) ? directory : home;
  }
}

/** What was written in a place by its agent, and by those that it lent the place to and that have ended. */
function writesIn(
  { ledger }: Pick<WorkspaceDeps, 'ledger'>,
  own: AgentPlace,
  agent: AgentRef,
): readonly string[] {
  return [...(ledger?.writesOf(agent.path) ?? []), ...own.wroteBelow];
}

/** A place in the parent's: a tree is kept for the work of everybody in it, and only its owner closes it. */
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

/** The parent's place, with steps of its own in it. Whoever is confined starts nobody outside of it. */
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
  // fail-closed: by where it really is, not by what it is called.
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
  // Directories that were added to the session stay readable; the checkout itself does not.
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

/** Of a session in a sub-directory of its repository: the same one, in the tree. */
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

/** The agent may have been stopped; its tree is tidied up all the same. */
const NEVER = new AbortController().signal;

/** Undefined: no hook makes trees. */
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
      // fail-closed: what may hold work is nobody's to remove.
      if (changes === undefined || changed.length > 0) {
        return { path, branch, kept: true, changed };
      }
      const asked = await hooks?.remove({ worktree_path: path }, { ...scene, signal: NEVER });
      return { path, branch, kept: asked !== true, changed: [] };
    },
  });
}

/** Undefined: nobody can tell. */
async function changesSince(
  { fs, git }: WorkspaceDeps,
  path: string,
  head: string,
): Promise<readonly string[] | undefined> {
  const status = await wholeStatus({ fs, git }, { here: [], path, cwd: path });
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
  // fail-closed: a directory that is not ours alone is no private one.
  if (made?.kind !== 'directory' || made.foreign === true || (made.mode & 0o077) !== 0) {
    return err(`no private directory could be made in ${parent}. Check TMPDIR and the umask`);
  }
  return ok({
    workspace: new AgentPlace(path, () => request.parent.roots),
    ref: { isolation: 'scratch', workspace: path },
    notice: scratchNotice(path),
    async close(text) {
      const isEmpty = (await fs.list(path)).length === 0;
      // Nobody knows whether the result speaks of it: what may be a result is not thrown away.
      const isNamed = text === undefined || text.includes(path);
      if (isEmpty || !isNamed) await fs.remove(path, { recursive: true });
      return undefined;
    },
  });
}
