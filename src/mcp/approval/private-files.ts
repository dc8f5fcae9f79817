import type { FileSystem } from '../../platform/fs/fs.js';
import { readTextSync, statFileSync } from '../../platform/fs/node-fs.js';
import { join, separator } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import type { ServerDeclaration } from '../server.js';

export type StoreFiles = Pick<FileSystem, 'stat' | 'writeAtomic' | 'makeDirectory' | 'remove'>;

/** The fields that identify a server in stored state. */
export type StoredServer = Pick<ServerDeclaration, 'name' | 'contentHash' | 'origin'> &
  Partial<Pick<ServerDeclaration, 'entry'>>;

/** `damaged`: the file or its directory exists but is unreadable or may have been written by another user. */
export type Read =
  | { readonly kind: 'found'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged' };

const MAX_STORED_BYTES = 64 * 1024 * 1024;

/** Reads and writes owner-only files (0600) in one directory below the state directory. */
export interface PrivateFiles {
  /** Reads synchronously, because callers need it inside synchronous code; nothing is read at start. */
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
        // fail-closed: an unreadable file is not the same as an absent one.
        return { kind: 'damaged' };
      }
    },
    write(name, text) {
      const directories = [stateDirectory, directory];
      return writePrivate(fs, { directories, file: join(directory, name), text });
    },
  };
}

/** Writes an owner-only file (0600) and creates missing directories with 0700. */
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
  // An atomic write keeps the mode of an existing file, so a file that others can access is removed first.
  const stat = await fs.stat(file);
  if (separator === '/' && stat !== undefined && (stat.mode & 0o077) !== 0) await fs.remove(file);
  await fs.writeAtomic(file, text, { mode: 0o600 });
}

/**
 * Undefined when the directory does not exist. Its files need no check: only writers of the directory can
 * replace them.
 */
function isOurs(directory: string): boolean | undefined {
  const stat = statFileSync(directory);
  if (stat === undefined) return undefined;
  // fail-closed: other users could have changed a directory that they may write.
  const isOpen = separator === '/' && (stat.mode & 0o022) !== 0;
  return stat.kind === 'directory' && stat.foreign !== true && !isOpen;
}

/** The declaring file is part of the id: relative paths in the same entry would start another program elsewhere. */
export function storedId({ name, contentHash, origin }: StoredServer): string {
  return sha256(JSON.stringify([name, contentHash, origin.file ?? '']));
}
