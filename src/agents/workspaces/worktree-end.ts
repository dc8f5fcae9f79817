import { err, ok, type Result } from '../../lib/result.js';
import { type Git, zeroSeparated } from '../../permissions/git/hardened.js';
import { isInside, join, relative } from '../../platform/fs/paths.js';
import type { LeftWorktree } from '../runtime/report.js';
import type { MadeWorktree, WorktreeDeps } from './worktree.js';

type EndDeps = Pick<WorktreeDeps, 'fs' | 'git' | 'warn'>;

/**
 * Removes an ended agent's worktree and branch if nothing was done in it, and otherwise keeps and reports
 * them. fail-closed: when git cannot tell, the worktree is kept. `wrote` are files that the agent's tools
 * wrote, including ignored ones.
 */
export async function endWorktree(
  deps: EndDeps,
  tree: MadeWorktree,
  wrote: readonly string[],
): Promise<LeftWorktree> {
  const { fs, git, warn } = deps;
  const { path, branch, main, reused } = tree;
  const left = { path, branch, kept: true } as const;
  await git(['worktree', 'unlock', path], { cwd: main });
  const changes = await changesIn(deps, tree);
  if (!changes.ok) {
    warn(`${path} is kept, since git did not say what changed in it: ${changes.error}`);
    return { ...left, changed: [] };
  }
  const { files, moved } = changes.value;
  const changed = new Set(files);
  for (const file of wrote) {
    const isThere = isInside(file, path) && (await fs.lstat(file)) !== undefined;
    if (isThere) changed.add(relative(path, file));
  }
  if (!reused && !moved && changed.size === 0) {
    const removed = await removeTree(deps, tree);
    if (removed.ok) return { ...left, kept: false, changed: [] };
    warn(`${path} is kept: ${removed.error}`);
  }
  return { ...left, changed: [...changed].sort() };
}

interface Changes {
  readonly files: readonly string[];
  /** There are commits or stashes, or another commit is checked out. */
  readonly moved: boolean;
}

/** Each is queried separately, and one is enough to keep the worktree. */
const MOST_COMMITS = 50;

/**
 * Queries git with its own directory for the worktree, because the agent could have changed the link in the
 * worktree itself.
 */
async function changesIn(
  deps: EndDeps,
  { path, gitDir, base, branch, links, main }: MadeWorktree,
): Promise<Result<Changes, string>> {
  const here = [`--git-dir=${gitDir}`, `--work-tree=${path}`];
  const git = (...args: string[]) => deps.git([...here, ...args], { cwd: main });
  const status = await fullStatus(deps, { here, path, cwd: main });
  if (!status.ok) return status;
  const head = await git('rev-parse', 'HEAD', `refs/heads/${branch}`);
  if (!head.ok) return head;
  const isElsewhere = (commit: string): boolean => commit !== base;
  const now = head.value.trim().split('\n').filter(isElsewhere);
  // Commits elsewhere only matter when the worktree's own branch has not moved.
  const made = now.length > 0 ? ok(now) : await madeElsewhere(git, branch);
  if (!made.ok) return made;
  const commits = new Set(made.value.filter(isElsewhere).slice(0, MOST_COMMITS));
  const files = status.value.filter((file) => !links.includes(file));
  for (const commit of commits) {
    const names = ['--no-ext-diff', '--no-textconv', '--name-only', '-z', '--no-renames'];
    const diff = await git('diff', ...names, base, commit);
    if (!diff.ok) return err(diff.error);
    files.push(...zeroSeparated(diff.value));
  }
  return ok({ files, moved: commits.size > 0 });
}

/**
 * Commits made in the worktree that it no longer points to: on other branches, on none, and in stashes. The
 * worktree's reflog, which is removed with it, knows the first two.
 */
async function madeElsewhere(
  git: (...args: string[]) => Promise<Result<string, string>>,
  branch: string,
): Promise<Result<readonly string[], string>> {
  const lines = '--format=%H %gs';
  const steps = await git('log', '-g', lines, 'HEAD', '--');
  if (!steps.ok) return steps;
  const stashes = await git('stash', 'list', lines);
  if (!stashes.ok) return stashes;
  const made = steps.value.split('\n').filter((line) => /^\w+ (?!checkout:|reset:|$)/.test(line));
  const stashed = stashes.value.split('\n').filter((line) => line.includes(`n ${branch}: `));
  return ok([...made, ...stashed].flatMap((line) => line.split(' ', 1)));
}

/** The worktree to query, and from which directory. */
interface Asked {
  /** Options that name the repository and the worktree. */
  readonly here: readonly string[];
  readonly path: string;
  readonly cwd: string;
}

/** Overrides settings by which git would consider a file unchanged without reading it. */
const LOOK: readonly string[] = [
  'core.ignoreStat=false',
  'core.checkStat=default',
  'core.trustctime=true',
].flatMap((setting) => ['-c', setting]);

/** Files that git lists as changed or untracked, including those marked to be ignored. */
export async function fullStatus(
  deps: Pick<WorktreeDeps, 'fs' | 'git'>,
  asked: Asked,
): Promise<Result<readonly string[], string>> {
  const { here, cwd } = asked;
  const shown = await showHidden(deps, asked);
  return shown.ok ? await statusFiles(deps.git, cwd, [...LOOK, ...here]) : shown;
}

/** Files that git lists as changed or untracked, relative to the top of the worktree. */
export async function statusFiles(
  git: Git,
  cwd: string,
  options: readonly string[] = [],
): Promise<Result<readonly string[], string>> {
  const status = await git(
    [
      ...options,
      'status',
      '--porcelain=v1',
      '-z',
      '--untracked-files=all',
      '--no-renames',
      // fail-closed: an embedded repository may configure filters, which git would run.
      '--ignore-submodules=dirty',
    ],
    { cwd },
  );
  return status.ok ? ok(zeroSeparated(status.value).map((field) => field.slice(3))) : status;
}

/**
 * Clears the marks "assume unchanged" and "skip worktree", which hide changes. fail-closed: if that fails,
 * the changes are unknown.
 */
async function showHidden(
  { fs, git }: Pick<WorktreeDeps, 'fs' | 'git'>,
  { here, path, cwd }: Asked,
): Promise<Result<void, string>> {
  const listed = await git([...here, 'ls-files', '-v', '-z'], { cwd });
  if (!listed.ok) return listed;
  const marked = zeroSeparated(listed.value).map((line) => [line[0] ?? '', line.slice(2)] as const);
  const assumed = marked.filter(([mark]) => mark !== mark.toUpperCase()).map(([, file]) => file);
  const skipped = marked.filter(([mark]) => mark.toUpperCase() === 'S').map(([, file]) => file);
  const key = [...here, 'config', '--type=bool', 'core.sparseCheckout'];
  const sparse = skipped.length > 0 ? await git(key, { cwd, answers: [1] }) : err('');
  const isSparse = sparse.ok && sparse.value.trim() === 'true';
  const present: string[] = [];
  for (const file of skipped) {
    // A file left out by a sparse checkout is absent without having been deleted.
    if (!isSparse || (await fs.lstat(join(path, file))) !== undefined) present.push(file);
  }
  for (const [option, files] of [
    ['--no-assume-unchanged', assumed],
    ['--no-skip-worktree', present],
  ] as const) {
    if (files.length === 0) continue;
    const input = files.map((file) => `${file}\0`).join('');
    const call = [...LOOK, ...here, 'update-index', option, '-z', '--stdin'];
    const cleared = await git(call, { cwd, input });
    if (!cleared.ok) return cleared;
  }
  return ok(undefined);
}

async function removeTree(
  { fs, git, warn }: EndDeps,
  { path, branch, main, base, links }: MadeWorktree,
): Promise<Result<void, string>> {
  for (const link of links) {
    // Only a link is removed; a directory in its place is work.
    if ((await fs.lstat(join(path, link)))?.kind === 'symlink') await fs.remove(join(path, link));
  }
  // Without force, so that git checks again and keeps changes.
  const removed = await git(['worktree', 'remove', path], { cwd: main });
  if (!removed.ok) return removed;
  // Only if the branch has not moved.
  const gone = await git(['update-ref', '-d', `refs/heads/${branch}`, base], { cwd: main });
  if (!gone.ok) warn(`the branch ${branch} stays: ${gone.error}`);
  return ok(undefined);
}
