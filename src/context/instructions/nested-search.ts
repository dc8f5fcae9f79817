import type { FileStat, FileSystem } from '../../platform/fs/fs.js';
import { isInside, join } from '../../platform/fs/paths.js';
import { FOREIGN_FOLDERS, type ProjectPlace } from './places.js';

/** A report is for people: in a project of more folders than this it says that it is not complete. */
const MOST_DIRECTORIES = 5_000;
/** The same for calls that take in a whole directory. */
export const MOST_BELOW = 20_000;
const NAMES: ReadonlySet<string> = new Set([
  'CLAUDE.md',
  'CLAUDE.local.md',
  'AGENTS.md',
  '.claude',
]);

export interface NestedDirectories {
  /** Outer first. */
  readonly directories: readonly string[];
  /** There are more folders than were looked at. */
  readonly cut: boolean;
}

/** What stands in a folder: it holds while the folder has its stamp. */
interface Folder {
  readonly stamp: string;
  readonly hasInstructions: boolean;
  /** Names of the folders in it. */
  readonly folders: readonly string[];
}

/** Folders by their path. */
export type FolderMemory = Map<string, Folder>;

export interface NestedPlace extends Pick<ProjectPlace, 'root' | 'cwd'> {
  /** What was found before. */
  readonly memory?: FolderMemory;
  readonly most?: number;
}

/** Folders of the project whose instructions wait for a file in them to be used. Links are not followed. */
export async function nestedDirectories(
  fs: Pick<FileSystem, 'list' | 'lstat'>,
  { root, cwd, memory = new Map(), most = MOST_DIRECTORIES }: NestedPlace,
): Promise<NestedDirectories> {
  const directories: string[] = [];
  const open = [root];
  for (let looked = 0; looked < open.length; looked++) {
    if (looked >= most) return { directories, cut: true };
    const directory = open[looked] ?? root;
    const folder = await folderAt(fs, directory, memory);
    if (folder.hasInstructions && !isInside(cwd, directory)) directories.push(directory);
    for (const name of folder.folders) open.push(join(directory, name));
  }
  return { directories, cut: false };
}

async function folderAt(
  fs: Pick<FileSystem, 'list' | 'lstat'>,
  directory: string,
  memory: FolderMemory,
): Promise<Folder> {
  try {
    const stat = await fs.lstat(directory);
    const stamp = stampOf(stat);
    const known = memory.get(directory);
    if (known?.stamp === stamp) return known;
    const entries = await fs.list(directory);
    const isOpen = ({ name, kind }: { name: string; kind: string }): boolean =>
      kind === 'directory' && name !== '.claude' && !FOREIGN_FOLDERS.has(name);
    const folder = {
      stamp,
      hasInstructions: entries.some(({ name }) => NAMES.has(name)),
      folders: entries.filter(isOpen).map(({ name }) => name),
    };
    memory.set(directory, folder);
    return folder;
  } catch {
    // What cannot be listed cannot be worked in either.
    return { stamp: '', hasInstructions: false, folders: [] };
  }
}

/** Names that come and go change the stamp of their folder. */
function stampOf(stat: FileStat | undefined): string {
  return stat === undefined ? '' : `${stat.mtimeMs} ${stat.ctimeMs} ${stat.inode}`;
}
