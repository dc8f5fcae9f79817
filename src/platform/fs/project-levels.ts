import { statFileSync } from './node-fs.js';
import { dirname, findRepositoryRoot, join, resolve } from './paths.js';

/** A directory of a project, and whether it configures anything. */
export interface ProjectLevel {
  readonly path: string;
  /** It has a `.claude`. */
  readonly hasDirectory: boolean;
  /** It has a `.mcp.json`. */
  readonly hasServers: boolean;
}

/** The directories of a project whose files are read. */
export interface ProjectLevels {
  /** The start directory first, the repository's root last; the start directory alone outside of one. */
  look(): readonly ProjectLevel[];
}

/** From the start directory up to the repository's root; the start directory alone outside of one. */
export function projectLevels(cwd: string): readonly string[] {
  const start = resolve(cwd);
  const top = findRepositoryRoot(start) ?? start;
  const levels = [start];
  for (let at = start; at !== top && dirname(at) !== at; ) {
    at = dirname(at);
    levels.push(at);
  }
  return levels;
}

/** Looks at the disk, once for each level and name. */
export function lookAtLevels(cwd: string): readonly ProjectLevel[] {
  return projectLevels(cwd).map((path) => ({
    path,
    hasDirectory: mayBeThere(join(path, '.claude')),
    hasServers: mayBeThere(join(path, '.mcp.json')),
  }));
}

/**
 * What the parts of one start see: all of them the same, and the disk is asked once. When the start is
 * over, every look is a new one.
 */
export class LevelsOfStart implements ProjectLevels {
  readonly #cwd: string;
  #seen: readonly ProjectLevel[] | undefined;
  #isOver = false;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  look(): readonly ProjectLevel[] {
    if (this.#isOver) return lookAtLevels(this.#cwd);
    this.#seen ??= lookAtLevels(this.#cwd);
    return this.#seen;
  }

  startIsOver(): void {
    this.#isOver = true;
    this.#seen = undefined;
  }
}

/** Whether something may have that name. */
export function mayBeThere(path: string): boolean {
  try {
    return statFileSync(path) !== undefined;
  } catch {
    // fail-closed: what cannot be examined may exist; reading it reports the reason.
    return true;
  }
}
