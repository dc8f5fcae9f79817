import type { FileSystem } from '../env/fs.js';
import { join } from '../env/paths.js';

export type PlantedFiles = Pick<FileSystem, 'lstat' | 'readText' | 'remove'>;

/** What makes a plain directory a repository, with settings and hooks that git follows. */
const BARE = ['HEAD', 'objects', 'refs'];
const SMALL = 4096;

/**
 * Things that cannot be kept from being made without breaking git itself: a file that leads git to
 * settings elsewhere, and a repository where there was none. They are taken away after the program has
 * ended, before anything else of ours looks there. Call it before the program runs.
 */
export async function watchForPlanted(
  trees: readonly string[],
  fs: PlantedFiles,
): Promise<() => Promise<readonly string[]>> {
  const missing = async (path: string): Promise<boolean> => (await fs.lstat(path)) === undefined;
  const leads: string[] = [];
  const bare: string[] = [];
  for (const tree of trees) {
    for (const directory of [tree, join(tree, '.git')]) {
      const lead = join(directory, 'commondir');
      if (await missing(lead)) leads.push(lead);
    }
    if (await missing(join(tree, 'HEAD'))) bare.push(tree);
  }
  return async () => {
    const taken: string[] = [];
    const take = async (path: string): Promise<void> => {
      await fs.remove(path);
      taken.push(path);
    };
    for (const lead of leads) if (await isLead(lead, fs)) await take(lead);
    for (const tree of bare) {
      const there = await Promise.all(BARE.map(async (name) => !(await missing(join(tree, name)))));
      if (there.every(Boolean)) await take(join(tree, 'HEAD'));
    }
    return taken;
  };
}

/** In a repository. A file of that name elsewhere means nothing. */
async function isLead(path: string, fs: PlantedFiles): Promise<boolean> {
  const stat = await fs.lstat(path);
  if (stat === undefined || stat.kind === 'directory') return false;
  if (stat.kind === 'symlink' || stat.size > SMALL) return path.endsWith('/.git/commondir');
  const directory = path.slice(0, -'/commondir'.length);
  return (await fs.lstat(join(directory, 'HEAD'))) !== undefined;
}
