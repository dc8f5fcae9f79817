import { statFileSync } from './node-fs.js';
import { basename, dirname, findRepositoryRoot, join, resolve } from './paths.js';

/** A directory of a project, and whether it configures anything. */
export interface ProjectLevel {
  readonly path: string;
  /** It has a `.claude`. */
  readonly hasDirectory: boolean;
  /** It has a `.mcp.json`. */
  readonly hasServers: boolean;
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

/** The nearest `.claude` around a file. */
export function claudeDirectoryOf(file: string): string | undefined {
  for (let at = dirname(file); at !== dirname(at); at = dirname(at)) {
    if (basename(at) === '.claude') return at;
  }
  return undefined;
}

/** Looks at the disk. */
export function lookAtLevels(cwd: string): readonly ProjectLevel[] {
  return projectLevels(cwd).map((path) => ({
    path,
    hasDirectory: mayBeThere(join(path, '.claude')),
    hasServers: mayBeThere(join(path, '.mcp.json')),
  }));
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
