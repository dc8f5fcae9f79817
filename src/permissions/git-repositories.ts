import { dirname, gitDirectory, nearestRepository, resolve } from '../platform/fs/paths.js';
import type { PathFileSystem } from './paths.js';

/**
 * The working trees of which one is git's for a directory: up to the first that surely is a repository.
 * What only looks like one is passed over by git.
 */
export async function repositoriesOf(
  directory: string,
  disk: PathFileSystem,
): Promise<readonly string[]> {
  const found: string[] = [];
  let root = nearestRepository(directory);
  while (root !== undefined) {
    found.push(root);
    if (dirname(root) === root || (await isRepository(root, disk))) break;
    root = nearestRepository(dirname(root));
  }
  return found;
}

async function isRepository(root: string, disk: PathFileSystem): Promise<boolean> {
  const own = gitDirectory(root);
  if (own === undefined) return false;
  try {
    const head = await disk.readText(resolve(own, 'HEAD'), { maxBytes: LONGEST_HEAD });
    if (!/^(ref:\s*refs\/\S+|[0-9a-f]{40,64})\s*$/.test(head)) return false;
    if ((await disk.lstat(resolve(own, 'commondir'))) !== undefined) return true;
    const parts = await Promise.all(
      ['objects', 'refs'].map((name) => disk.lstat(resolve(own, name))),
    );
    return parts.every((part) => part !== undefined);
  } catch {
    // fail-closed: it does not count as one, and those above it are looked at too.
    return false;
  }
}

const LONGEST_HEAD = 4096;
