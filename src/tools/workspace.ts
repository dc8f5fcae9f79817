import type { Workspace } from './tool.js';

/** Where an agent works: starts in the first root and may move. Tools are given it without the means to change what counts as inside. */
export class OpenWorkspace implements Workspace {
  readonly #first: string;
  #cwd: string;
  #roots: readonly string[];

  constructor(directories: readonly [string, ...string[]]) {
    [this.#first] = directories;
    this.#cwd = this.#first;
    this.#roots = Object.freeze([...directories]);
  }

  get roots(): readonly string[] {
    return this.#roots;
  }

  get cwd(): string {
    return this.#cwd;
  }

  addRoot(directory: string): void {
    if (!this.#roots.includes(directory)) this.#roots = Object.freeze([...this.#roots, directory]);
  }

  /** The start directory stays. */
  removeRoot(directory: string): void {
    const kept = this.#roots.filter((root) => root === this.#first || root !== directory);
    this.#roots = Object.freeze(kept);
  }

  setCwd(directory: string): void {
    this.#cwd = directory;
  }
}

export function createWorkspace(directories: readonly string[]): OpenWorkspace {
  const [first, ...others] = directories;
  if (first === undefined) throw new Error('a workspace needs a directory');
  return new OpenWorkspace([first, ...others]);
}
