import type { FileSystem } from '../env/fs.js';
import { isInside, join } from '../env/paths.js';
import { FOREIGN_FOLDERS, type ProjectPlace } from './instruction-places.js';

/** A report is for people: in a project of more folders than this it says that it is not complete. */
const MOST_DIRECTORIES = 5_000;
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

/** Folders of the project whose instructions wait for a file in them to be used. Links are not followed. */
export async function nestedDirectories(
  fs: Pick<FileSystem, 'list'>,
  { root, cwd }: ProjectPlace,
): Promise<NestedDirectories> {
  const directories: string[] = [];
  const open = [root];
  for (let looked = 0; looked < open.length; looked++) {
    if (looked >= MOST_DIRECTORIES) return { directories, cut: true };
    const directory = open[looked] ?? root;
    // What cannot be listed cannot be worked in either.
    const entries = await fs.list(directory).catch(() => []);
    const isAbove = isInside(cwd, directory);
    if (!isAbove && entries.some(({ name }) => NAMES.has(name))) directories.push(directory);
    for (const { name, kind } of entries) {
      if (kind === 'directory' && name !== '.claude' && !FOREIGN_FOLDERS.has(name)) {
        open.push(join(directory, name));
      }
    }
  }
  return { directories, cut: false };
}
