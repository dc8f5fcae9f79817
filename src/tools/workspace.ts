import type { Workspace } from './tool.js';

/** Where an agent works: starts in the first root and may move. */
export function createWorkspace(roots: readonly string[]): Workspace {
  const [first] = roots;
  if (first === undefined) throw new Error('a workspace needs a directory');
  let cwd = first;
  return {
    roots: Object.freeze([...roots]),
    get cwd() {
      return cwd;
    },
    setCwd(directory) {
      cwd = directory;
    },
  };
}
