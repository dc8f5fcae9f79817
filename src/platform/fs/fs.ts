/** The file system as the rest of the program sees it. Everything outside `env/` goes through this. */
export interface FileStat {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  /** Last change of content, owner or name, which programs cannot set back. */
  readonly ctimeMs?: number;
  readonly inode?: number;
  /** Of the file system that it is in; an inode means nothing without. */
  readonly device?: number;
  /** How many names a regular file has, where they are several. */
  readonly links?: number;
  /** A user besides the administrator and this one owns it or may write it. Absent where that is unknown. */
  readonly foreign?: boolean;
}

export type DirectoryEntries = readonly {
  readonly name: string;
  readonly kind: FileStat['kind'];
}[];

/** How a file is opened whose path was judged before. */
export interface OpenOptions {
  /** The real path that was judged. Another file, to which a link leads by now, is refused. */
  readonly realPath?: string | undefined;
}

/**
 * Reading throws the system's own error (`systemCodeOf` tells `ENOENT`); writing throws a
 * `PortcullisError` with a remedy for the failures that people can do something about.
 */
export interface FileSystem {
  /** Follows symbolic links. Undefined when nothing is there. */
  stat(path: string): Promise<FileStat | undefined>;
  lstat(path: string): Promise<FileStat | undefined>;
  /** Never waits for a pipe or device: what is not a regular file, or is above `maxBytes`, is refused. */
  readBytes(path: string, options?: OpenOptions & { maxBytes?: number }): Promise<Uint8Array>;
  /** The same with the facts of the opened file; without content where that is above `maxBytes`. */
  readWithStat(
    path: string,
    options: OpenOptions & { maxBytes: number },
  ): Promise<{ readonly stat: FileStat; readonly bytes?: Uint8Array }>;
  readText(path: string, options?: { maxBytes?: number }): Promise<string>;
  /** The first bytes of a regular file, fewer when it is shorter. */
  readHead(path: string, length: number, options?: OpenOptions): Promise<Uint8Array>;
  /** The content in pieces, for files too large to hold. Leaving the loop closes the file. */
  stream(path: string, options?: OpenOptions): AsyncIterable<Uint8Array>;
  /**
   * Writes through a temporary file in the same directory and a rename, so that a reader sees the
   * old or the new content and nothing between. Keeps the mode of an existing file (`mode` is for a
   * new one), writes through a symbolic link to its target, makes missing parent directories.
   */
  writeAtomic(
    path: string,
    data: string | Uint8Array,
    options?: OpenOptions & { mode?: number },
  ): Promise<void>;
  makeDirectory(path: string, options?: { mode?: number }): Promise<void>;
  /** A file, a link (not its target) or an empty directory; with `recursive` all below too. Nothing there is fine. */
  remove(path: string, options?: { recursive?: boolean }): Promise<void>;
  /** Sorted by name. */
  list(path: string, options?: OpenOptions): Promise<DirectoryEntries>;
  /** The path with every symbolic link resolved; for a path that does not exist, its nearest existing parent's, rest appended. */
  realPath(path: string): Promise<string>;
}

/** fail-closed: a file of which anything is different may hold something else. */
export function isSameVersion(one: FileStat, other: FileStat): boolean {
  return stampOf(one) === stampOf(other);
}

/** Changes whenever the content does. */
export function stampOf({ mtimeMs, size, ctimeMs, inode, device }: FileStat): string {
  return `${mtimeMs} ${size} ${ctimeMs} ${inode} ${device}`;
}
