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
  return new MovableWorkspace(first, directories);
}

class MovableWorkspace implements OpenWorkspace {
  readonly #first: string;
  #cwd: string;
  #roots: readonly string[];

  constructor(first: string, directories: readonly string[]) {
    this.#first = first;
    this.#cwd = first;
    this.#roots = Object.freeze([...directories]);
  }

  get roots(): readonly string[] {
    return this.#roots;
  }

  get cwd(): string {
    return this.#cwd;
  }

  addRoot(directory: string): void {
    if (!this.#roots.includes(directory)) {
      this.#roots = Object.freeze([...this.#roots, directory]);
    }
  }

  removeRoot(directory: string): void {
    const kept = this.#roots.filter((root) => root === this.#first || root !== directory);
    this.#roots = Object.freeze(kept);
  }

  setCwd(directory: string): void {
    this.#cwd = directory;
  }
}
