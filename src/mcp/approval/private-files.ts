import type { FileSystem } from '../../platform/fs/fs.js';
import { readTextSync, statFileSync } from '../../platform/fs/node-fs.js';
import { join, separator } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import type { ServerDeclaration } from '../server.js';

export type StoreFiles = Pick<FileSystem, 'stat' | 'writeAtomic' | 'makeDirectory' | 'remove'>;

/** Which server something is kept about. */
export type StoredServer = Pick<ServerDeclaration, 'name' | 'contentHash' | 'origin'> &
  Partial<Pick<ServerDeclaration, 'entry'>>;

/** `damaged`: something is there that is not ours or cannot be read. */
export type Read =
  | { readonly kind: 'found'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged' };

const MAX_STORED_BYTES = 64 * 1024 * 1024;

/** Files for their owner alone (0600), in a directory of the state directory. */
export interface PrivateFiles {
  /** At once: what is wanted in the middle of a computation is read there, and not at every start. */
  read(name: string): Read;
  write(name: string, text: string): Promise<void>;
}

export function openPrivateFiles(place: {
  readonly fs: StoreFiles;
  readonly stateDirectory: string;
  readonly directory: string;
}): PrivateFiles {
  const { fs, stateDirectory, directory } = place;
  return {
    read(name) {
      try {
        const found = isOurs(directory);
        if (found !== true) return { kind: found === undefined ? 'absent' : 'damaged' };
        const file = join(directory, name);
        if (statFileSync(file) === undefined) return { kind: 'absent' };
        return { kind: 'found', text: readTextSync(file, { maxBytes: MAX_STORED_BYTES }).text };
      } catch {
        // fail-closed: what cannot be read says nothing, and nobody can tell that it was nothing.
        return { kind: 'damaged' };
      }
    },
    write(name, text) {
      const directories = [stateDirectory, directory];
      return writePrivate(fs, { directories, file: join(directory, name), text });
    },
  };
}

/** Writes a file for its owner alone (0600), in directories that are made for the owner alone. */
export async function writePrivate(
  fs: Pick<FileSystem, 'stat' | 'writeAtomic' | 'makeDirectory' | 'remove'>,
  {
    directories,
    file,
    text,
  }: {
    readonly directories: readonly string[];
    readonly file: string;
    readonly text: string;
  },
): Promise<void> {
  for (const directory of directories) await fs.makeDirectory(directory, { mode: 0o700 });
  // A write keeps the mode of what is there.
  const stat = await fs.stat(file);
  if (separator === '/' && stat !== undefined && (stat.mode & 0o077) !== 0) await fs.remove(file);
  await fs.writeAtomic(file, text, { mode: 0o600 });
}

/** Undefined when there is no such directory. What is in it is as safe as it: files need no look of their own. */
function isOurs(directory: string): boolean | undefined {
  const stat = statFileSync(directory);
  if (stat === undefined) return undefined;
  // fail-closed: what others may write is not ours.
  const isOpen = separator === '/' && (stat.mode & 0o022) !== 0;
  return stat.kind === 'directory' && stat.foreign !== true && !isOpen;
}

/** The same words in another file start another program: relative paths lead elsewhere. */
export function storedId({ name, contentHash, origin }: StoredServer): string {
  return sha256(JSON.stringify([name, contentHash, origin.file ?? '']));
}
