import type { FileSystem } from '../../platform/fs/fs.js';
import {
  dirname,
  expandHome,
  findRepositoryRoot,
  gitDirectory,
  isAbsolute,
  isInside,
  join,
  projectSlug,
  relative,
  resolve,
  separator,
  toPosix,
} from '../../platform/fs/paths.js';

/** Where the project is. */
export interface ProjectPlace {
  readonly cwd: string;
  /** The repository's root, or the working directory outside of one. */
  readonly root: string;
  /** The same, resolved through links. */
  readonly realRoot: string;
  /** From the file system's root down to the working directory. */
  readonly ancestors: readonly string[];
}

export async function projectPlace(
  fs: Pick<FileSystem, 'realPath'>,
  cwd: string,
  home: string,
): Promise<ProjectPlace> {
  const repository = findRepositoryRoot(cwd);
  // A home directory under version control does not make keys and letters a part of every project.
  const root = repository === undefined || isInside(home, repository) ? cwd : repository;
  return { cwd, root, realRoot: await realOrSelf(fs, root), ancestors: ancestorsDownTo(cwd) };
}

/** fail-closed: of a path that cannot be resolved nothing is taken to lie inside of anything. */
export async function realOrSelf(fs: Pick<FileSystem, 'realPath'>, path: string): Promise<string> {
  try {
    return await fs.realPath(path);
  } catch {
    return path;
  }
}

export async function isDirectory(fs: Pick<FileSystem, 'stat'>, path: string): Promise<boolean> {
  try {
    return (await fs.stat(path))?.kind === 'directory';
  } catch {
    // What cannot be looked at cannot be read either; a file still lies in its directory.
    return false;
  }
}

/** A tool may have resolved the path; the names below the root are the same. */
export function toProjectPath(path: string, { root, realRoot }: ProjectPlace): string {
  if (root === realRoot || isInside(path, root) || !isInside(path, realRoot)) return path;
  return join(root, relative(realRoot, path));
}

/**
 * The directories on the way to a file that are not above the working directory, outer first: those
 * whose instructions were not read at the start. Empty for a file outside of the project.
 */
export function directoriesTowards(
  path: string,
  { root, cwd }: ProjectPlace,
  options: { readonly itself: boolean },
): readonly string[] {
  if (!isInside(path, root) || path === root) return [];
  const way = relative(root, path);
  // Most projects are worked in at their root, and nothing is on the way to a file that lies there.
  if (!options.itself && !way.includes(separator)) return NOWHERE;
  const names = way.split(separator);
  const found: string[] = [];
  let directory = root;
  for (const name of options.itself ? names : names.slice(0, -1)) {
    // Other people's code brings other people's orders.
    if (FOREIGN_FOLDERS.has(name)) break;
    directory = join(directory, name);
    if (!isInside(cwd, directory)) found.push(directory);
  }
  return found;
}

const NOWHERE: readonly string[] = [];

/** Folders of code that others wrote. */
export const FOREIGN_FOLDERS: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  'vendor',
  'site-packages',
  '.git',
]);

/** Whether a path of the project leads through a folder of code that others wrote. */
export function isForeign(path: string, { root }: Pick<ProjectPlace, 'root'>): boolean {
  return relative(root, path)
    .split(separator)
    .some((name) => FOREIGN_FOLDERS.has(name));
}

/** The path as patterns see it, from a directory; undefined when it lies elsewhere. */
export function pathFrom(directory: string, path: string): string | undefined {
  const way = relative(directory, path);
  if (way === '' || way === '..' || way.startsWith(`..${separator}`) || isAbsolute(way))
    return undefined;
  return toPosix(way);
}

export interface MemoryPlace {
  readonly fs: Pick<FileSystem, 'readText' | 'realPath'>;
  readonly configDir: string;
  readonly home: string;
  readonly project: ProjectPlace;
  /** Absolute or `~/…`. */
  readonly directory?: string;
}

/** Where the notes of earlier sessions are; worktrees of a repository share theirs. */
export async function memoryDirectory(place: MemoryPlace): Promise<string | undefined> {
  if (place.directory !== undefined) {
    const directory = expandHome(place.directory, place.home);
    return isAbsolute(directory) ? resolve(directory) : undefined;
  }
  const { cwd, root } = place.project;
  const repository = findRepositoryRoot(cwd) === root ? await mainWorktree(place.fs, root) : root;
  return join(place.configDir, 'projects', projectSlug(repository), 'memory');
}

/** The directory that a worktree was made from, or the directory itself. */
async function mainWorktree(fs: MemoryPlace['fs'], root: string): Promise<string> {
  try {
    const data = gitDirectory(root);
    const main =
      data === undefined ? null : /^(.+)[\\/]\.git[\\/]worktrees[\\/][^\\/]+$/.exec(data);
    if (data === undefined || main?.[1] === undefined) return root;
    // fail-closed: a `.git` file can name any repository; only git's own record says which are its worktrees.
    const noted = (await fs.readText(join(data, 'gitdir'), { maxBytes: 4096 })).trim();
    const isOurs = (await fs.realPath(dirname(noted))) === (await fs.realPath(root));
    return isOurs ? main[1] : root;
  } catch {
    // Not to be read: then it is a project of its own.
    return root;
  }
}

function ancestorsDownTo(cwd: string): readonly string[] {
  const list = [cwd];
  for (let current = cwd; dirname(current) !== current; current = dirname(current)) {
    list.unshift(dirname(current));
  }
  return list;
}
