import { err, ok, type Result } from '../../lib/result.js';
import { type Git, zeroSeparated } from '../../permissions/git/hardened.js';
import { isInside, join, relative } from '../../platform/fs/paths.js';
import type { LeftWorktree } from '../runtime/report.js';
import type { MadeWorktree, WorktreeDeps } from './worktree.js';

type EndDeps = Pick<WorktreeDeps, 'fs' | 'git' | 'warn'>;

/**
 * The agent has ended: a tree in which nothing was done goes, with its branch; any other one stays and
 * is told of. fail-closed: where git cannot say, the tree stays. `wrote`: files that tools of the agent
 * wrote, ignored ones too.
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

/** Each is asked about by itself, and one is enough to keep the tree. */
const MOST_COMMITS = 50;

/** Asked by the directory that git itself keeps: what the tree says about its repository is the agent's. */
async function changesIn(
  deps: EndDeps,
  { path, gitDir, base, branch, links, main }: MadeWorktree,
): Promise<Result<Changes, string>> {
  const here = [`--git-dir=${gitDir}`, `--work-tree=${path}`];
  const git = (...args: string[]) => deps.git([...here, ...args], { cwd: main });
  const status = await wholeStatus(deps, { here, path, cwd: main });
  if (!status.ok) return status;
  const head = await git('rev-parse', 'HEAD', `refs/heads/${branch}`);
  if (!head.ok) return head;
  const isElsewhere = (commit: string): boolean => commit !== base;
  const now = head.value.trim().split('\n').filter(isElsewhere);
  // What is to be told where the tree itself has moved is where it is now.
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
 * Commits that were made in the tree and are not where it is now: on other branches, on none, and
 * stashes. The first two are known by the tree's own log, which goes with it.
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

/** Which tree git is asked about, and from where. */
interface Asked {
  /** Options that name the repository and the tree. */
  readonly here: readonly string[];
  readonly path: string;
  readonly cwd: string;
}

/** Settings by which git would take a file for unchanged without looking at it. */
const LOOK: readonly string[] = [
  'core.ignoreStat=false',
  'core.checkStat=default',
  'core.trustctime=true',
].flatMap((setting) => ['-c', setting]);

/** Files that git lists as changed or not tracked, those too that it was told not to look at. */
export async function wholeStatus(
  deps: Pick<WorktreeDeps, 'fs' | 'git'>,
  asked: Asked,
): Promise<Result<readonly string[], string>> {
  const { here, cwd } = asked;
  const shown = await showHidden(deps, asked);
  return shown.ok ? await statusFiles(deps.git, cwd, [...LOOK, ...here]) : shown;
}

/** Files that git lists as changed or not tracked, from the top of the tree. */
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
      // fail-closed: a repository inside brings filters of its own, which git would run to look into it.
      '--ignore-submodules=dirty',
    ],
    { cwd },
  );
  return status.ok ? ok(zeroSeparated(status.value).map((field) => field.slice(3))) : status;
}

/**
 * Takes the marks "assume unchanged" and "skip worktree" from files, by which changes of theirs would
 * not be seen. fail-closed: where that does not work, nobody knows what changed.
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
    // A file that a sparse checkout leaves out is not there, and nobody has removed it.
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
