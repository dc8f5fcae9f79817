import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join, relative } from '../../platform/fs/paths.js';
import type { Workspace } from '../tool.js';

type Directories = Pick<FileSystem, 'stat' | 'realPath'>;

/**
 * Moves the workspace to the directory that a command ended in (as `pwd -P` wrote it). Stays where it
 * was when that is outside the roots or gone, and returns the sentence that says so.
 */
export async function followCwd(
  reported: string,
  workspace: Workspace,
  fs: Directories,
): Promise<string | undefined> {
  const directory = reported.replace(/\n$/, '');
  if (directory === '' || directory === workspace.cwd) return undefined;
  if (directory === (await fs.realPath(workspace.cwd))) return undefined;
  const inside = await spelledInside(directory, workspace.roots, fs);
  const kind = inside === undefined ? undefined : (await fs.stat(inside))?.kind;
  // fail-closed: a directory that is not certainly inside and there is not moved to.
  if (inside === undefined || kind !== 'directory')
    return `Shell cwd was reset to ${workspace.cwd}`;
  workspace.setCwd(inside);
  return undefined;
}

/** For a working directory that has been deleted: moves to the first root that is still there. */
export async function leaveDeletedCwd(
  workspace: Workspace,
  fs: Directories,
): Promise<string | undefined> {
  const { cwd } = workspace;
  if ((await fs.stat(cwd))?.kind === 'directory') return undefined;
  for (const root of workspace.roots) {
    if ((await fs.stat(root))?.kind !== 'directory') continue;
    workspace.setCwd(root);
    return `The working directory ${cwd} no longer exists, so the command was not run. Shell cwd was reset to ${root}; run the command again if it makes sense there.`;
  }
  return `The working directory ${cwd} no longer exists, nor does any other directory of the workspace. The command was not run.`;
}

/** The directory by the name its root is known by, which may lead through a symbolic link. */
async function spelledInside(
  directory: string,
  roots: readonly string[],
  fs: Directories,
): Promise<string | undefined> {
  for (const root of roots) {
    const real = await fs.realPath(root);
    if (isInside(directory, real)) return join(root, relative(real, directory));
  }
  return undefined;
}
