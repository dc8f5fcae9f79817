import { messageOf } from '../../errors.js';
import { type Git, zeroSeparated } from '../../permissions/git/hardened.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { dirname, isInside, join } from '../../platform/fs/paths.js';

const LIST = '.worktreeinclude';
const MOST_FILES = 5_000;
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Copies files that git ignores and `.worktreeinclude` names into a new tree: local settings, keys of
 * a test account. Nothing is taken or put through a symbolic link.
 */
export async function copyIncluded(
  deps: { readonly fs: FileSystem; readonly git: Git; warn(text: string): void },
  { main, path }: { readonly main: string; readonly path: string },
): Promise<readonly string[]> {
  const { fs, warn } = deps;
  if ((await fs.lstat(join(main, LIST)))?.kind !== 'file') return [];
  const names = await wanted(deps, main);
  if (names === undefined) return [];
  const copied: string[] = [];
  let bytes = 0;
  for (const name of names) {
    try {
      const size = await copyOne(fs, { from: join(main, name), to: join(path, name), tree: path });
      if (size === undefined) continue;
      copied.push(name);
      bytes += size;
    } catch (thrown) {
      warn(`${LIST}: ${name} was not copied: ${messageOf(thrown)}`);
    }
    if (copied.length >= MOST_FILES || bytes >= MOST_BYTES) {
      warn(`${LIST} names more than ${MOST_FILES} files or 256 MiB; the rest was not copied`);
      break;
    }
  }
  return copied;
}

/** Named by the list and ignored by git: what git has comes with the tree, the rest is nobody's. */
async function wanted(
  { git, warn }: { readonly git: Git; warn(text: string): void },
  main: string,
): Promise<readonly string[] | undefined> {
  const named = await git(
    ['ls-files', '-z', '--others', '--ignored', `--exclude-from=${join(main, LIST)}`],
    { cwd: main },
  );
  if (!named.ok) {
    warn(`${LIST} could not be read: ${named.error}`);
    return undefined;
  }
  const files = zeroSeparated(named.value).filter(
    (name) => !name.endsWith('/') && !name.startsWith('.claude/worktrees/'),
  );
  if (files.length === 0) return [];
  const ignored = await git(['check-ignore', '-z', '--stdin'], {
    cwd: main,
    input: `${files.join('\0')}\0`,
    answers: [1],
  });
  if (ignored.ok) return zeroSeparated(ignored.value);
  warn(`${LIST}: git did not say what it ignores: ${ignored.error}`);
  return undefined;
}

async function copyOne(
  fs: FileSystem,
  { from, to, tree }: { from: string; to: string; tree: string },
): Promise<number | undefined> {
  // fail-closed: a link on the way, in or out, leads where nobody meant.
  if ((await fs.realPath(from)) !== from) return undefined;
  const stat = await fs.lstat(from);
  if (stat?.kind !== 'file' || (await fs.lstat(to)) !== undefined) return undefined;
  const parent = await fs.realPath(dirname(to));
  if (parent !== dirname(to) || !isInside(parent, tree)) return undefined;
  const data = await fs.readBytes(from, { maxBytes: MOST_BYTES });
  await fs.writeAtomic(to, data, { mode: stat.mode & 0o777 });
  return data.length;
}
