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
 * Where what stands in the project is for an agent: in its own working tree, where it has one, else
 * where it is. What the tree does not have is where it was; the fence of the agent judges that.
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
    // A tree may lie in the project itself.
    if (!isInside(real, root) || isInside(real, tree)) return path;
    const there = join(tree, relative(root, real));
    return (await fs.stat(there)) === undefined ? path : there;
  };
}
