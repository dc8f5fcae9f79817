import { err, ok, type Result } from '../../lib/result.js';
import { zeroSeparated } from '../../permissions/git/hardened.js';
import { isInside, join, relative } from '../../platform/fs/paths.js';
import type { LeftWorktree } from '../runtime/report.js';
import type { MadeWorktree, WorktreeDeps } from './worktree.js';

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
  /** There are commits or stashes, or another commit is checked out. */
  readonly moved: boolean;
}

/** Asked by the directory that git itself keeps: what the tree says about its repository is the agent's. */
async function changesIn(
  deps: Pick<WorktreeDeps, 'fs' | 'git'>,
  { path, gitDir, base, branch, links, main }: MadeWorktree,
): Promise<Result<Changes, string>> {
  const { git } = deps;
  const here = [`--git-dir=${gitDir}`, `--work-tree=${path}`];
  const call = { cwd: main };
  const status = await wholeStatus(deps, { here, path, cwd: main });
  if (!status.ok) return status;
  const head = await git([...here, 'rev-parse', 'HEAD', `refs/heads/${branch}`], call);
  if (!head.ok) return head;
  const isElsewhere = (commit: string): boolean => commit !== base;
  const now = head.value.trim().split('\n').filter(isElsewhere);
  // What is to be told where the tree itself has moved is where it is now.
  const made = now.length > 0 ? ok(now) : await madeElsewhere(deps, { here, branch, cwd: main });
  if (!made.ok) return made;
  const commits = new Set(made.value.filter(isElsewhere).slice(0, MOST_COMMITS));
  const files = statusFiles(status.value).filter((file) => !links.includes(file));
  for (const commit of commits) {
    const diff = await git(
      [
        ...here,
        'diff',
        '--no-ext-diff',
        '--no-textconv',
        '--name-only',
        '-z',
        '--no-renames',
        base,
        commit,
      ],
      call,
    );
    if (!diff.ok) return err(diff.error);
    files.push(...zeroSeparated(diff.value));
  }
  return ok({ files, moved: commits.size > 0 });
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

/** What git says of all files of a tree, of those too that it was told not to look at. */
export async function wholeStatus(
  deps: Pick<WorktreeDeps, 'fs' | 'git'>,
  asked: Asked,
): Promise<Result<string, string>> {
  const shown = await showHidden(deps, asked);
  if (!shown.ok) return shown;
  const { here, cwd } = asked;
  return await deps.git(
    [
      ...LOOK,
      ...here,
      'status',
      '--porcelain=v1',
      '-z',
      '--untracked-files=all',
      // fail-closed: a repository inside brings filters of its own, which git would run to look into it.
      '--ignore-submodules=dirty',
    ],
    { cwd },
  );
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
  const sparse =
    skipped.length > 0 &&
    (await git([...here, 'config', '--type=bool', 'core.sparseCheckout'], { cwd, answers: [1] }));
  const isSparse = sparse !== false && sparse.ok && sparse.value.trim() === 'true';
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

/** Each is asked about by itself, and one is enough to keep the tree. */
const MOST_COMMITS = 50;

/**
 * Commits that were made in the tree and are not where it is now: on other branches, on none, and
 * stashes. The first two are known by the tree's own log, which goes with it.
 */
async function madeElsewhere(
  { git }: Pick<WorktreeDeps, 'git'>,
  { here, branch, cwd }: { here: readonly string[]; branch: string; cwd: string },
): Promise<Result<readonly string[], string>> {
  const lines = '--format=%H %gs';
  const steps = await git([...here, 'log', '-g', lines, 'HEAD', '--'], { cwd });
  if (!steps.ok) return steps;
  const stashes = await git([...here, 'stash', 'list', lines], { cwd });
  if (!stashes.ok) return stashes;
  const made = steps.value.split('\n').filter((line) => /^\w+ (?!checkout:|reset:|$)/.test(line));
  const stashed = stashes.value.split('\n').filter((line) => line.includes(`n ${branch}: `));
  return ok([...made, ...stashed].flatMap((line) => line.split(' ', 1)));
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
