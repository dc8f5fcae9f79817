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
  readonly definition: Pick<AgentDefinition, 'workspace' | 'isolation'>;
  /** Asked for by the call that starts the agent. */
  readonly isolation?: 'worktree' | undefined;
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
  const { definition } = request;
  const isApart = request.isolation === 'worktree' || definition.isolation === 'worktree';
  const wish: AgentWorkspace = isApart ? { kind: 'worktree' } : definition.workspace;
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

/** The very directory that an agent had before, whoever goes on with it now. */
export async function reopenWorkspace(
  fs: FileSystem,
  { path, agent, parent }: { path: string; agent: AgentRef; parent: Workspace },
): Promise<Opening> {
  const found = await fs.stat(path);
  // fail-closed: what has its name now need not be its place.
  if (found?.kind !== 'directory' || (await fs.realPath(path)) !== path) {
    return err(`its workspace ${path} is not there any more, or leads elsewhere`);
  }
  const { isolation } = agent;
  return ok({
    // Apart from the main checkout, it does not get that one's directories from whoever goes on with it.
    workspace: new Confined(path, () => (isolation === 'worktree' ? [] : parent.roots)),
    ref: { workspace: path, isolation },
    close: async () => undefined,
  });
}

/** The parent's place, with steps of its own in it. */
function inherited(
  deps: Pick<WorkspaceDeps, 'ledger'>,
  { agent, parent, parentRef }: WorkspaceRequest,
): OpenedWorkspace {
  const { isolation, workspace } = parentRef;
  const home = workspace ?? parent.roots[0] ?? parent.cwd;
  const own =
    workspace === undefined ? new Beside(parent, home) : new Confined(home, () => parent.roots);
  return {
    workspace: own,
    // Whoever is fenced in starts nobody outside of it.
    ref: {
      isolation,
      workspace,
    },
    close: async () => handUp(parent, writesIn(deps, own, agent)),
  };
}

/** What was written in a place by its agent, and by those that it lent the place to and that have ended. */
function writesIn(
  { ledger }: Pick<WorkspaceDeps, 'ledger'>,
  own: Workspace,
  agent: AgentRef,
): readonly string[] {
  const lent = own instanceof Confined ? own.wroteBelow : [];
  return [...(ledger?.writesOf(agent.path) ?? []), ...lent];
}

/** A tree is kept for the work of everybody in it, and only the agent that it was made for closes it. */
function handUp(parent: Workspace, files: readonly string[]): undefined {
  if (parent instanceof Confined) for (const file of files) parent.wroteBelow.add(file);
}

/** The same directories as its parent's, and steps of its own. */
class Beside implements Workspace {
  readonly #parent: Workspace;
  #cwd: string;

  constructor(parent: Workspace, start: string) {
    this.#parent = parent;
    this.#cwd = start;
  }

  get cwd(): string {
    return this.#cwd;
  }

  get roots(): readonly string[] {
    return this.#parent.roots;
  }

  setCwd(directory: string): void {
    this.#cwd = directory;
  }
}

/** Works in `home` and comes back to it; other roots may be looked at. */
class Confined implements Workspace {
  readonly #home: string;
  readonly #others: () => readonly string[];
  /** Files that agents wrote to whom this place was lent. */
  readonly wroteBelow = new Set<string>();
  #cwd: string;

  constructor(home: string, others: () => readonly string[], start = home) {
    this.#home = home;
    this.#others = others;
    this.#cwd = start;
  }

  get cwd(): string {
    return this.#cwd;
  }

  get roots(): readonly string[] {
    return [this.#home, ...this.#others().filter((root) => root !== this.#home)];
  }

  setCwd(directory: string): void {
    // Wherever a command went, the next one begins inside.
    this.#cwd = isInside(directory, this.#home) ? directory : this.#home;
  }
}

async function openDirectory(
  deps: WorkspaceDeps,
  { agent, parent, parentRef }: WorkspaceRequest,
  wished: string,
): Promise<Opening> {
  const { fs } = deps;
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
  const { isolation } = parentRef;
  const workspace = new Confined(path, () => parent.roots);
  return ok({
    workspace,
    ref: { workspace: path, isolation },
    notice: directoryNotice(path),
    close: async () => handUp(parent, writesIn(deps, workspace, agent)),
  });
}

async function openWorktree(deps: WorkspaceDeps, request: WorkspaceRequest): Promise<Opening> {
  const { agent, parent, parentRef } = request;
  const name = `agent-${agent.id}`;
  const hooked = await openHookTree(deps, request, name);
  if (hooked !== undefined) return hooked;
  const made = await makeWorktree(deps, { name, cwd: parent.cwd, settings: deps.settings });
  if (!made.ok) return made;
  const tree = made.value;
  const outside = await rootsOutside(deps.fs, parent.roots, tree.main);
  const from = await startIn(deps.fs, {
    tree: tree.path,
    main: tree.main,
    at: parentRef.workspace === undefined ? (parent.roots[0] ?? parent.cwd) : tree.main,
  });
  const workspace = new Confined(tree.path, () => outside, from);
  return ok({
    workspace,
    ref: { isolation: 'worktree', workspace: tree.path },
    notice: worktreeNotice(tree),
    close: () => endWorktree(deps, tree, writesIn(deps, workspace, agent)),
  });
}

/** Of a session in a sub-directory of its repository: the same one, in the tree. */
async function startIn(
  fs: FileSystem,
  { tree, main, at }: { tree: string; main: string; at: string },
): Promise<string> {
  const real = await fs.realPath(at);
  if (!isInside(real, main)) return tree;
  const start = join(tree, relative(main, real));
  const isThere =
    (await fs.stat(start))?.kind === 'directory' && (await fs.realPath(start)) === start;
  return isThere ? start : tree;
}

/** Directories that were added to the session stay readable; the checkout itself does not. */
async function rootsOutside(
  fs: FileSystem,
  roots: readonly string[],
  main: string,
): Promise<readonly string[]> {
  const apart: string[] = [];
  for (const root of roots) {
    const real = await fs.realPath(root);
    if (!isInside(real, main) && !isInside(main, real)) apart.push(root);
  }
  return apart;
}

/** Undefined: no hook makes trees. */
async function openHookTree(
  deps: WorkspaceDeps,
  { agent, parent, signal }: WorkspaceRequest,
  name: string,
): Promise<Opening | undefined> {
  const scene = { agent, cwd: parent.cwd, signal };
  const made = await deps.hooks?.create({ name }, scene);
  if (made === undefined || made.kind === 'none') return undefined;
  if (made.kind === 'refused') return err(`no working tree was made: ${made.reason}`);
  const path = await deps.fs.realPath(made.path);
  const head = await deps.git(['rev-parse', 'HEAD'], { cwd: path });
  const branch = currentBranch(path) ?? '';
  const workspace = new Confined(path, () => []);
  return ok({
    workspace,
    ref: { isolation: 'worktree', workspace: path },
    notice: worktreeNotice({ path, branch }),
    async close() {
      const changed = await hookTreeChanges(deps, {
        path,
        wrote: writesIn(deps, workspace, agent),
        head: head.ok ? head.value : undefined,
      });
      // fail-closed: what may hold work is nobody's to remove.
      if (changed === undefined || changed.length > 0) {
        return { path, branch, kept: true, changed: changed ?? [] };
      }
      const asked = await deps.hooks?.remove({ worktree_path: path }, { ...scene, signal: NEVER });
      return { path, branch, kept: asked !== true, changed: [] };
    },
  });
}

/** The agent may have been stopped; its tree is tidied up all the same. */
const NEVER = new AbortController().signal;

/** Undefined: nobody can tell. */
async function hookTreeChanges(
  { fs, git }: WorkspaceDeps,
  { path, wrote, head }: { path: string; wrote: readonly string[]; head: string | undefined },
): Promise<readonly string[] | undefined> {
  const written = wrote.filter((file) => isInside(file, path)).map((file) => relative(path, file));
  if (head === undefined) return written.length > 0 ? written : undefined;
  const status = await wholeStatus({ fs, git }, { here: [], path, cwd: path });
  const now = await git(['rev-parse', 'HEAD'], { cwd: path });
  if (!status.ok || !now.ok) return undefined;
  const files = status.value.split('\0').map((field) => field.slice(3));
  const moved = now.value === head ? [] : [`commits up to ${now.value.trim().slice(0, 12)}`];
  return [...new Set([...files.filter((file) => file !== ''), ...written, ...moved])];
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
    workspace: new Confined(path, () => request.parent.roots),
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
