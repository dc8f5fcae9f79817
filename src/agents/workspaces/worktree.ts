import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type Git, zeroSeparated } from '../../permissions/git/hardened.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { dirname, join, nearestRepository, resolve, toPosix } from '../../platform/fs/paths.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import { copyIncluded } from './worktree-include.js';
import type { WorktreeSettings } from './worktree-settings.js';

export interface WorktreeDeps {
  readonly fs: FileSystem;
  readonly git: Git;
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Tells people what did not work and stops nothing. */
  warn(text: string): void;
}

/** A working tree of an agent, made by git. */
export interface MadeWorktree {
  /** With links followed. */
  readonly path: string;
  readonly branch: string;
  /** The checkout that it lies in. */
  readonly main: string;
  /** Where git keeps what belongs to this tree. What stands in the tree itself is the agent's. */
  readonly gitDir: string;
  /** The commit that it began with. */
  readonly base: string;
  /** It was there already, with work in it. */
  readonly reused: boolean;
  /** Links to directories of the main checkout, relative to the tree. */
  readonly links: readonly string[];
}

const TREES = '.claude/worktrees';

/** Where the repository of a directory is, and which commit work goes on from. */
interface Origin {
  readonly main: string;
  readonly base: string;
}

/** Makes a tree on a branch of its own, from what is committed at `cwd`, and locks it. */
export async function makeWorktree(
  deps: WorktreeDeps,
  wish: { readonly name: string; readonly cwd: string; readonly settings: WorktreeSettings },
): Promise<Result<MadeWorktree, string>> {
  const { name, settings } = wish;
  if (!/^[A-Za-z0-9][\w.-]*$/.test(name)) return err(`"${name}" is no name for a working tree`);
  const origin = await originOf(deps, wish.cwd, settings.baseRef);
  if (!origin.ok) return origin;
  const { main, base } = origin.value;
  const path = join(main, TREES, name);
  const branch = `worktree-${name}`;
  const prepared = await prepareDirectory(deps, main);
  if (!prepared.ok) return prepared;
  const added = await addTree(deps, { main, path, branch, base, sparse: settings.sparsePaths });
  if (!added.ok) return added;
  const reused = added.value === 'reused';
  const tree = { path, branch, main, base, reused };
  const finished = await furnish(deps, { ...tree, settings });
  if (!finished.ok && !reused) await discard(deps, tree);
  return finished;
}

async function originOf(
  { git, fs }: WorktreeDeps,
  cwd: string,
  baseRef: WorktreeSettings['baseRef'],
): Promise<Result<Origin, string>> {
  const top = await git(['rev-parse', '--show-toplevel'], { cwd });
  if (!top.ok) {
    return err(
      `a working tree of its own needs a git repository, and ${cwd} is in none (${top.error}). Run it without isolation, or configure WorktreeCreate and WorktreeRemove hooks that make trees another way`,
    );
  }
  const checkout = await fs.realPath(top.value.trim());
  const nearest = nearestRepository(await fs.realPath(cwd));
  // fail-closed: by `core.worktree` a repository may name any directory as its own.
  if (nearest === undefined || (await fs.realPath(nearest)) !== checkout) {
    return err(
      `the configuration of the repository at ${nearest ?? cwd} names ${checkout} as its working tree, so no tree is made there. Remove core.worktree from its configuration`,
    );
  }
  // Trees do not lie in trees: the one of a nested agent stands beside its parent's.
  const outer = /^(.+?)\/\.claude\/worktrees\/[^/]+$/.exec(toPosix(checkout))?.[1];
  const refs = baseRef === 'fresh' ? ['refs/remotes/origin/HEAD', 'HEAD'] : ['HEAD'];
  for (const ref of refs) {
    const commit = await git(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], { cwd });
    if (commit.ok) return ok({ main: outer ?? checkout, base: commit.value.trim() });
  }
  return err(
    `a working tree of its own begins with a commit, and ${checkout} has none yet. Commit something first`,
  );
}

/** The directory of all trees. */
async function prepareDirectory(deps: WorktreeDeps, main: string): Promise<Result<void, string>> {
  const { fs } = deps;
  const directory = join(main, TREES);
  // fail-closed: a link there is anybody's who can commit.
  if ((await fs.realPath(directory)) !== directory) {
    return err(
      `${directory} goes through a symbolic link, so no tree is made there. Remove the link`,
    );
  }
  await fs.makeDirectory(directory);
  await keepOutOfStatus(deps, main);
  return ok(undefined);
}

/** Trees are no files of the checkout that they lie in. Said where git keeps what is not committed. */
async function keepOutOfStatus({ fs, git, warn }: WorktreeDeps, main: string): Promise<void> {
  const line = `/${TREES}/`;
  const common = await git(['rev-parse', '--git-common-dir'], { cwd: main });
  if (!common.ok) return warn(`git lists ${line} among the changes of ${main}: ${common.error}`);
  const file = join(resolve(main, common.value.trim()), 'info/exclude');
  try {
    const text = (await fs.stat(file)) === undefined ? '' : await fs.readText(file);
    if (text.split('\n').includes(line)) return;
    await fs.writeAtomic(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`);
  } catch (thrown) {
    warn(`git lists ${line} among the changes of ${main}: ${messageOf(thrown)}`);
  }
}

interface NewTree {
  readonly main: string;
  readonly path: string;
  readonly branch: string;
  readonly base: string;
  readonly sparse: readonly string[];
}

async function addTree(
  { git, fs }: WorktreeDeps,
  { main, path, branch, base, sparse }: NewTree,
): Promise<Result<'new' | 'reused', string>> {
  const ref = `refs/heads/${branch}`;
  if ((await fs.lstat(path)) !== undefined) {
    const list = await git(['worktree', 'list', '--porcelain', '-z'], { cwd: main });
    const known = list.ok && isListed(list.value, path, ref);
    return known
      ? ok('reused')
      : err(`${path} is there and is no working tree of ${branch}. Move it away`);
  }
  const isThere = (await git(['rev-parse', '--verify', '--quiet', ref], { cwd: main })).ok;
  const where = isThere ? [path, branch] : ['--no-track', '-b', branch, path, base];
  const bare = sparse.length > 0 ? ['--no-checkout'] : [];
  const added = await git(['worktree', 'add', ...bare, ...where], { cwd: main });
  if (!added.ok) {
    return err(
      `git worktree add failed: ${added.error}. See \`git worktree list\`; \`git worktree prune\` forgets trees that are gone`,
    );
  }
  if (sparse.length > 0) {
    const set = await git(['sparse-checkout', 'set', '--', ...sparse], { cwd: path });
    const out = set.ok ? await git(['checkout', branch], { cwd: path }) : set;
    if (!out.ok) {
      return err(
        `the sparse checkout failed: ${out.error}. See worktree.sparsePaths in the settings`,
      );
    }
  }
  return ok(isThere ? 'reused' : 'new');
}

function isListed(porcelain: string, path: string, ref: string): boolean {
  const fields = zeroSeparated(porcelain);
  const at = fields.indexOf(`worktree ${path}`);
  if (at === -1) return false;
  const next = fields.findIndex((field, index) => index > at && field.startsWith('worktree '));
  return fields.slice(at, next === -1 ? undefined : next).includes(`branch ${ref}`);
}

/** Locks it and brings what git does not: ignored files that are wanted, shared directories. */
async function furnish(
  deps: WorktreeDeps,
  tree: Omit<MadeWorktree, 'gitDir' | 'links'> & { readonly settings: WorktreeSettings },
): Promise<Result<MadeWorktree, string>> {
  const { git } = deps;
  const { settings, ...made } = tree;
  const { path, main, branch } = made;
  const reason = `an agent works in ${branch}`;
  await git(['worktree', 'unlock', path], { cwd: main });
  const locked = await git(['worktree', 'lock', '--reason', reason, path], { cwd: main });
  if (!locked.ok)
    return err(`git worktree lock failed: ${locked.error}. See \`git worktree list\``);
  const gitDir = await git(['rev-parse', '--absolute-git-dir'], { cwd: path });
  if (!gitDir.ok) return err(`git did not say where it keeps ${path}: ${gitDir.error}`);
  if (!made.reused) await copyIncluded(deps, { main, path });
  const links = await linkDirectories(deps, { main, path, names: settings.symlinkDirectories });
  return ok({ ...made, gitDir: gitDir.value.trim(), links });
}

async function linkDirectories(
  { fs, processes, env, warn }: WorktreeDeps,
  { main, path, names }: { main: string; path: string; names: readonly string[] },
): Promise<readonly string[]> {
  const links: string[] = [];
  for (const name of names) {
    const source = join(main, name);
    const target = join(path, name);
    // fail-closed: only a real directory of the checkout, and only where nothing is.
    const isPlain = (await fs.realPath(source)) === source && source !== main;
    const isThere = (await fs.stat(source))?.kind === 'directory';
    const inPlace = (await fs.realPath(dirname(target))) === dirname(target);
    if (!isPlain || !isThere || !inPlace || !source.startsWith(`${main}/`)) {
      warn(
        `worktree.symlinkDirectories: ${name} is no directory of the project, so trees go without`,
      );
      continue;
    }
    if ((await fs.lstat(target)) !== undefined) {
      if ((await fs.lstat(target))?.kind === 'symlink') links.push(name);
      continue;
    }
    await fs.makeDirectory(dirname(target));
    const { exitCode, stderr, startError } = await processes.run({
      command: 'ln',
      args: ['-s', '--', source, target],
      cwd: path,
      env: { PATH: env.PATH ?? '' },
      timeoutMs: 5_000,
      label: 'ln',
    });
    if (exitCode === 0) links.push(name);
    else
      warn(
        `worktree.symlinkDirectories: ${name} could not be linked: ${startError ?? stderr.trim()}`,
      );
  }
  return links;
}

/** A tree that nobody has worked in yet. */
async function discard(
  { git, warn }: WorktreeDeps,
  { main, path, branch, base }: Pick<MadeWorktree, 'main' | 'path' | 'branch' | 'base'>,
): Promise<void> {
  await git(['worktree', 'unlock', path], { cwd: main });
  const removed = await git(['worktree', 'remove', '--force', path], { cwd: main });
  if (!removed.ok) return warn(`${path} could not be removed: ${removed.error}`);
  await git(['update-ref', '-d', `refs/heads/${branch}`, base], { cwd: main });
}
