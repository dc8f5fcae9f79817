import type { FileSystem } from '../../platform/fs/fs.js';
import {
  findRepositoryRoot,
  isInside,
  join,
  nearestRepository,
  relative,
} from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';

/**
 * Maps a project path to an agent's worktree; unchanged for agents without one, and for files missing
 * there, whose use the agent's workspace guard decides.
 */
export function agentTrees(
  fs: Pick<FileSystem, 'realPath' | 'stat'>,
  cwd: string,
): (agent: AgentRef, path: string) => Promise<string> {
  return async ({ isolation, workspace }, path) => {
    if (isolation !== 'worktree' || workspace === undefined || path === '') return path;
    const root = await fs.realPath(findRepositoryRoot(cwd) ?? cwd);
    const real = await fs.realPath(path);
    const tree = nearestRepository(workspace) ?? workspace;
    // A worktree may lie inside the project.
    if (!isInside(real, root) || isInside(real, tree)) return path;
    const there = join(tree, relative(root, real));
    return (await fs.stat(there)) === undefined ? path : there;
  };
}
