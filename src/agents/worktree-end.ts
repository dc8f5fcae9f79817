import { isInside, join, relative } from '../env/paths.js';
import { err, ok, type Result } from '../util/result.js';
import type { LeftWorktree } from './report.js';
import type { MadeWorktree, WorktreeDeps } from './worktree.js';
import { zeroSeparated } from './worktree-git.js';

/**
 * The agent has ended: a tree in which nothing was done goes, with its branch; any other one stays and
 * is told of. fail-closed: where git cannot say, the tree stays.
 */
export async function endWorktree(
  deps: Pick<WorktreeDeps, 'fs' | 'git' | 'warn'>,
  tree: MadeWorktree,
  /** Files that tools of the agent wrote, ignored ones too. */
  wrote: readonly string[],
): Promise<LeftWorktree> {
  const { git, warn } = deps;
  const { path, branch, main } = tree;
  const left = { path, branch, kept: true } as const;
  await git(['worktree', 'unlock', path], { cwd: main });
  const changes = await changesIn(deps, tree);
  if (!changes.ok) {
    warn(`${path} is kept, since git did not say what changed in it: ${changes.error}`);
    return { ...left, changed: [] };
  }
  const written = await stillThere(deps, tree, wrote);
  const changed = [...new Set([...changes.value.files, ...written])].sort();
  if (tree.reused || changes.value.moved || changed.length > 0) return { ...left, changed };
  const removed = await removeTree(deps, tree);
  if (removed.ok) return { path, branch, kept: false, changed: [] };
  warn(`${path} is kept: ${removed.error}`);
  return { ...left, changed };
}

interface Changes {
  readonly files: readonly string[];
  /** There are commits, or another one is checked out. */
  readonly moved: boolean;
}

/** Asked by the directory that git itself keeps: what the tree says about its repository is the agent's. */
async function changesIn(
  { git }: Pick<WorktreeDeps, 'git'>,
  { path, gitDir, base, branch, links, main }: MadeWorktree,
): Promise<Result<Changes, string>> {
  const here = [`--git-dir=${gitDir}`, `--work-tree=${path}`];
  const call = { cwd: main };
  const status = await git(
    [
      ...here,
      'status',
      '--porcelain=v1',
      '-z',
      '--untracked-files=all',
      // fail-closed: a repository inside brings filters of its own, which git would run to look into it.
      '--ignore-submodules=dirty',
    ],
    call,
  );
  if (!status.ok) return status;
  const head = await git([...here, 'rev-parse', 'HEAD', `refs/heads/${branch}`], call);
  if (!head.ok) return head;
  const commits = new Set(head.value.trim().split('\n'));
  const moved = [...commits].some((commit) => commit !== base);
  const files = statusFiles(status.value).filter((file) => !links.includes(file));
  for (const commit of moved ? commits : []) {
    const diff = await git(
      [...here, 'diff', '--name-only', '-z', '--no-renames', base, commit],
      call,
    );
    if (!diff.ok) return err(diff.error);
    files.push(...zeroSeparated(diff.value));
  }
  return ok({ files, moved });
}

/** `XY name`, and for what was renamed the old name after it. */
function statusFiles(status: string): string[] {
  const fields = zeroSeparated(status);
  const files: string[] = [];
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? '';
    files.push(field.slice(3));
    if (/^[RC]|^.[RC]/.test(field)) files.push(fields[++at] ?? '');
  }
  return files;
}

async function stillThere(
  { fs }: Pick<WorktreeDeps, 'fs'>,
  { path }: MadeWorktree,
  wrote: readonly string[],
): Promise<readonly string[]> {
  const there: string[] = [];
  for (const file of wrote) {
    if (isInside(file, path) && (await fs.lstat(file)) !== undefined)
      there.push(relative(path, file));
  }
  return there;
}

async function removeTree(
  { fs, git, warn }: Pick<WorktreeDeps, 'fs' | 'git' | 'warn'>,
  { path, branch, main, base, links }: MadeWorktree,
): Promise<Result<void, string>> {
  for (const link of links) {
    // Only the link goes; a directory in its place is somebody's work.
    if ((await fs.lstat(join(path, link)))?.kind === 'symlink') await fs.remove(join(path, link));
  }
  // Without force: git looks once more, and keeps what has changes.
  const removed = await git(['worktree', 'remove', path], { cwd: main });
  if (!removed.ok) return removed;
  // Only if it is still where it began.
  const gone = await git(['update-ref', '-d', `refs/heads/${branch}`, base], { cwd: main });
  if (!gone.ok) warn(`the branch ${branch} stays: ${gone.error}`);
  return ok(undefined);
}
