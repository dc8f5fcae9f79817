import type { Workspace } from './tool.js';

/** A workspace with the means to change what counts as inside; tools are given the plain one. */
export interface OpenWorkspace extends Workspace {
  addRoot(directory: string): void;
  /** The start directory stays. */
  removeRoot(directory: string): void;
}

/** Where an agent works: starts in the first root and may move. */
export function createWorkspace(directories: readonly string[]): OpenWorkspace {
  const [first] = directories;
  if (first === undefined) throw new Error('a workspace needs a directory');
  let cwd = first;
  let roots: readonly string[] = Object.freeze([...directories]);
  return {
    get roots() {
      return roots;
    },
    get cwd() {
      return cwd;
    },
    addRoot(directory) {
      if (!roots.includes(directory)) roots = Object.freeze([...roots, directory]);
    },
    removeRoot(directory) {
      roots = Object.freeze(roots.filter((root) => root === first || root !== directory));
    },
    setCwd(directory) {
      cwd = directory;
    },
  };
}
