import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type Git, zeroSeparated } from '../../permissions/git/hardened.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import {
  dirname,
  isInside,
  join,
  nearestRepository,
  resolve,
  toPosix,
} from '../../platform/fs/paths.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';

export interface WorktreeDeps {
  readonly fs: FileSystem;
  readonly git: Git;
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Shows a warning that stops nothing. */
  warn(text: string): void;
}

/** An agent's worktree made by git. */
export interface MadeWorktree {
  readonly path: string;
  readonly branch: string;
  /** The checkout that contains it. */
  readonly main: string;
  /** Git's directory for this worktree; the one inside the worktree could be changed by the agent. */
  readonly gitDir: string;
  readonly base: string;
  /** It existed already, with work in it. */
  readonly reused: boolean;
  /** Links to directories of the main checkout, relative to the worktree. */
  readonly links: readonly string[];
}

const TREES = '.claude/worktrees';

export interface WorktreeSettings {
  /** `head`: the parent's commit; `fresh`: the remote's default branch as last fetched. */
  readonly baseRef: 'fresh' | 'head';
  /** Directories of the project that a worktree gets as links, for reading. */
  readonly symlinkDirectories: readonly string[];
  /** The only paths in a worktree; empty means all. */
  readonly sparsePaths: readonly string[];
}

/** Agents start from their parent's commit by default. */
export const WORKTREE_DEFAULTS: WorktreeSettings = {
  baseRef: 'head',
  symlinkDirectories: [],
  sparsePaths: [],
};

/** Creates and locks a worktree on a new branch from the commit at `cwd`. */
export async function makeWorktree(
  deps: WorktreeDeps,
  wish: { readonly name: string; readonly cwd: string; readonly settings: WorktreeSettings },
): Promise<Result<MadeWorktree, string>> {
  const { name, settings } = wish;
  if (!/^[A-Za-z0-9][\w.-]*$/.test(name)) return err(`"${name}" is no name for a working tree`);
  const origin = await originOf(deps, wish.cwd, settings.baseRef);
  if (!origin.ok) return origin;
  const { main, base } = origin.value;
  const plan = { main, base, path: join(main, TREES, name), branch: `worktree-${name}` };
  const prepared = await prepareDirectory(deps, main);
  if (!prepared.ok) return prepared;
  const added = await addTree(deps, plan, settings.sparsePaths);
  if (!added.ok) return added;
  const tree = { ...plan, reused: added.value === 'reused' };
  const finished = await furnish(deps, tree, settings);
  if (!finished.ok && !tree.reused) await discard(deps, tree);
  return finished;
}

async function originOf(
  { git, fs }: WorktreeDeps,
  cwd: string,
  baseRef: WorktreeSettings['baseRef'],
): Promise<Result<Pick<MadeWorktree, 'main' | 'base'>, string>> {
  const top = await git(['rev-parse', '--show-toplevel'], { cwd });
  if (!top.ok) {
    return err(
      `a working tree of its own needs a git repository, and ${cwd} is in none (${top.error}). Run it without isolation, or configure WorktreeCreate and WorktreeRemove hooks that make trees another way`,
    );
  }
  const checkout = await fs.realPath(top.value.trim());
  const nearest = nearestRepository(await fs.realPath(cwd));
  // fail-closed: `core.worktree` lets a repository claim any directory as its own.
  if (nearest === undefined || (await fs.realPath(nearest)) !== checkout) {
    return err(
      `the configuration of the repository at ${nearest ?? cwd} names ${checkout} as its working tree, so no tree is made there. Remove core.worktree from its configuration`,
    );
  }
  // Worktrees are not nested: a nested agent's worktree lies beside its parent's.
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

/** Creates the directory of all worktrees. */
async function prepareDirectory(deps: WorktreeDeps, main: string): Promise<Result<void, string>> {
  const { fs } = deps;
  const directory = join(main, TREES);
  // fail-closed: anyone who can commit could place a link there.
  if ((await fs.realPath(directory)) !== directory) {
    return err(
      `${directory} goes through a symbolic link, so no tree is made there. Remove the link`,
    );
  }
  await fs.makeDirectory(directory);
  await keepOutOfStatus(deps, main);
  return ok(undefined);
}

/** Excludes worktrees from the status of the checkout that contains them, in git's local exclude file. */
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

type TreePlan = Pick<MadeWorktree, 'main' | 'path' | 'branch' | 'base'>;

async function addTree(
  { git, fs }: WorktreeDeps,
  { main, path, branch, base }: TreePlan,
  sparse: readonly string[],
): Promise<Result<'new' | 'reused', string>> {
  const ref = `refs/heads/${branch}`;
  if ((await fs.lstat(path)) !== undefined) {
    const list = await git(['worktree', 'list', '--porcelain', '-z'], { cwd: main });
    const trees = list.ok ? list.value.split('\0\0').map(zeroSeparated) : [];
    const isKnown = trees.some(
      (fields) => fields.includes(`worktree ${path}`) && fields.includes(`branch ${ref}`),
    );
    return isKnown
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

/** Locks the worktree and adds what git does not: wanted ignored files and shared directories. */
async function furnish(
  deps: WorktreeDeps,
  tree: Omit<MadeWorktree, 'gitDir' | 'links'>,
  { symlinkDirectories }: WorktreeSettings,
): Promise<Result<MadeWorktree, string>> {
  const { git } = deps;
  const { path, main, branch } = tree;
  await git(['worktree', 'unlock', path], { cwd: main });
  const lock = ['worktree', 'lock', '--reason', `an agent works in ${branch}`, path];
  const locked = await git(lock, { cwd: main });
  if (!locked.ok)
    return err(`git worktree lock failed: ${locked.error}. See \`git worktree list\``);
  const gitDir = await git(['rev-parse', '--absolute-git-dir'], { cwd: path });
  if (!gitDir.ok) return err(`git did not say where it keeps ${path}: ${gitDir.error}`);
  if (!tree.reused) await copyIncluded(deps, { main, path });
  const links: string[] = [];
  for (const name of symlinkDirectories) {
    const isLinked = await linkDirectory(deps, tree, name);
    if (!isLinked.ok) deps.warn(`worktree.symlinkDirectories: ${name} ${isLinked.error}`);
    else if (isLinked.value) links.push(name);
  }
  return ok({ ...tree, gitDir: gitDir.value.trim(), links });
}

/** False: the worktree has another file of that name. */
async function linkDirectory(
  { fs, processes, env }: WorktreeDeps,
  { main, path }: Pick<MadeWorktree, 'main' | 'path'>,
  name: string,
): Promise<Result<boolean, string>> {
  const source = join(main, name);
  const target = join(path, name);
  // fail-closed: only a real directory of the checkout is linked, and only where nothing exists.
  const isPlain = (await fs.realPath(source)) === source && source.startsWith(`${main}/`);
  const isThere = (await fs.stat(source))?.kind === 'directory';
  const inPlace = (await fs.realPath(dirname(target))) === dirname(target);
  if (!isPlain || !isThere || !inPlace) {
    return err('is no directory of the project, so trees go without');
  }
  const stat = await fs.lstat(target);
  if (stat !== undefined) return ok(stat.kind === 'symlink');
  await fs.makeDirectory(dirname(target));
  const { exitCode, stderr, startError } = await processes.run({
    command: 'ln',
    args: ['-s', '--', source, target],
    cwd: path,
    env: { PATH: env.PATH ?? '' },
    timeoutMs: 5_000,
    label: 'ln',
  });
  return exitCode === 0 ? ok(true) : err(`could not be linked: ${startError ?? stderr.trim()}`);
}

/** Removes a worktree that was not used yet. */
async function discard(
  { git, warn }: WorktreeDeps,
  { main, path, branch, base }: TreePlan,
): Promise<void> {
  await git(['worktree', 'unlock', path], { cwd: main });
  const removed = await git(['worktree', 'remove', '--force', path], { cwd: main });
  if (!removed.ok) return warn(`${path} could not be removed: ${removed.error}`);
  await git(['update-ref', '-d', `refs/heads/${branch}`, base], { cwd: main });
}

const LIST = '.worktreeinclude';
const MOST_FILES = 5_000;
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Copies files that git ignores and `.worktreeinclude` names into a new worktree, such as local settings or
 * test keys. Nothing is copied from or to a symbolic link.
 */
async function copyIncluded(
  { fs, git, warn }: WorktreeDeps,
  { main, path }: Pick<MadeWorktree, 'main' | 'path'>,
): Promise<void> {
  if ((await fs.lstat(join(main, LIST)))?.kind !== 'file') return;
  const names = await namesToCopy(git, main);
  if (!names.ok) return warn(`${LIST}: git did not say what it names: ${names.error}`);
  let copied = 0;
  let bytes = 0;
  for (const name of names.value) {
    if (copied >= MOST_FILES || bytes >= MOST_BYTES) {
      return warn(
        `${LIST} names more than ${MOST_FILES} files or 256 MiB; the rest was not copied`,
      );
    }
    try {
      const size = await copyOne(fs, { from: join(main, name), to: join(path, name), tree: path });
      if (size !== undefined) copied++;
      bytes += size ?? 0;
    } catch (thrown) {
      warn(`${LIST}: ${name} was not copied: ${messageOf(thrown)}`);
    }
  }
}

/** Files named by the list and ignored by git; tracked ones come with the worktree, and others are left out. */
async function namesToCopy(git: Git, main: string): Promise<Result<readonly string[], string>> {
  const list = `--exclude-from=${join(main, LIST)}`;
  const named = await git(['ls-files', '-z', '--others', '--ignored', list], { cwd: main });
  if (!named.ok) return named;
  const files = zeroSeparated(named.value).filter(
    (name) => !name.endsWith('/') && !name.startsWith(`${TREES}/`),
  );
  if (files.length === 0) return ok([]);
  const call = { cwd: main, input: `${files.join('\0')}\0`, answers: [1] };
  const ignored = await git(['check-ignore', '-z', '--stdin'], call);
  return ignored.ok ? ok(zeroSeparated(ignored.value)) : ignored;
}

async function copyOne(
  fs: FileSystem,
  { from, to, tree }: { from: string; to: string; tree: string },
): Promise<number | undefined> {
  // fail-closed: a link on either path may lead elsewhere.
  if ((await fs.realPath(from)) !== from) return undefined;
  const stat = await fs.lstat(from);
  if (stat?.kind !== 'file' || (await fs.lstat(to)) !== undefined) return undefined;
  const parent = await fs.realPath(dirname(to));
  if (parent !== dirname(to) || !isInside(parent, tree)) return undefined;
  const data = await fs.readBytes(from, { maxBytes: MOST_BYTES });
  await fs.writeAtomic(to, data, { mode: stat.mode & 0o777 });
  return data.length;
}

/**
 * A note to an agent about its workspace before its task. It names no other path, so that the agent does
 * not work there by mistake.
 */
export function worktreeNotice({ path, branch }: { path: string; branch?: string }): string {
  const on = branch === undefined || branch === '' ? '' : ` on the branch ${branch}`;
  return [
    `You work in a working tree of your own: ${path}${on}. It began with what was committed, so changes of others that are not committed yet are not in it.`,
    `- Paths in your task may come from another checkout of the same repository. Translate them: the same file, below ${path}. Files of the other checkout are neither read nor changed.`,
    '- What you know of files from before does not count here. Read a file in this tree before you edit it.',
    '- Your changes stay in this tree until they are merged into the checkout. Say in your report what you changed and whether you committed it.',
    `- Every shell command starts in ${path}. Commands that would leave it, or that cannot be followed (variables in file names, brace expansion, unquoted here-documents), are refused.`,
  ].join('\n');
}

export function directoryNotice(path: string): string {
  return [
    `You work in ${path}. It is the only place that you write to; other files of the project may be read.`,
    `Every shell command starts there. Commands that could write elsewhere are refused.`,
  ].join('\n');
}

export function scratchNotice(path: string): string {
  return [
    `You work in ${path}, an empty directory of your own and the only place that you write to. Files of the project may be read.`,
    'It is removed when you are done. A file that is part of your result stays if you name it with its whole path in your last answer.',
  ].join('\n');
}
