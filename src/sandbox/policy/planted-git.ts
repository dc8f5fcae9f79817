import type { FileSystem } from '../../platform/fs/fs.js';
import { dirname, join } from '../../platform/fs/paths.js';

export type PlantedFiles = Pick<FileSystem, 'lstat' | 'list' | 'readText' | 'remove'>;

/** What makes a plain directory a repository, with settings and hooks that git follows. */
const BARE = ['HEAD', 'objects', 'refs'];
const SMALL = 4096;
/** By these git comes to settings elsewhere, or to more of them. */
const LEADS = ['commondir', 'config.worktree'];

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
      for (const own of [directory, ...(await worktreesOf(directory, fs))]) {
        for (const name of LEADS) {
          const lead = join(own, name);
          if (await missing(lead)) leads.push(lead);
        }
      }
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
  if (stat.kind === 'symlink' || stat.size > SMALL) return path.includes('/.git/');
  return (await fs.lstat(join(dirname(path), 'HEAD'))) !== undefined;
}

async function worktreesOf(directory: string, fs: PlantedFiles): Promise<readonly string[]> {
  const parent = join(directory, 'worktrees');
  // Of git's own directories alone: a project may have one of that name.
  if ((await fs.lstat(join(directory, 'HEAD'))) === undefined) return [];
  if ((await fs.lstat(parent))?.kind !== 'directory') return [];
  return (await fs.list(parent)).map(({ name }) => join(parent, name));
}
