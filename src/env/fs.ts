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
  /** Somebody besides the administrator and this user owns it or may write it. Absent where that cannot be told. */
  readonly foreign?: boolean;
}

export type DirectoryEntries = readonly {
  readonly name: string;
  readonly kind: FileStat['kind'];
}[];

export interface ReadNowOptions {
  readonly maxBytes: number;
  readonly noLink?: boolean;
}

/** How a file is opened whose path was judged before. */
export interface OpenOptions {
  /** The real path that was judged. Another file, to which a link leads by now, is refused. */
  readonly realPath?: string | undefined;
}

/** A file as it was read. */
export interface ReadNow {
  readonly text: string;
  readonly stat: FileStat;
}

/**
 * Reading throws the system's own error (`systemCodeOf` tells `ENOENT`); writing throws a
 * `PortcullisError` with a remedy for the failures that people can do something about.
 */
export interface FileSystem {
  /** Follows symbolic links. Undefined when nothing is there. */
  stat(path: string): Promise<FileStat | undefined>;
  lstat(path: string): Promise<FileStat | undefined>;
  /**
   * As `stat` and `lstat`, at once: for hundreds of files the promises cost more than the disk. Absent
   * where a file system has to wait for its answer.
   */
  statNow?(path: string): FileStat | undefined;
  lstatNow?(path: string): FileStat | undefined;
  /**
   * As `readText`, at once, and which version of the file that is: both of one open file. With `noLink`
   * a name that is a link is refused.
   */
  readTextNow?(path: string, options: ReadNowOptions): ReadNow;
  /** Never waits for a pipe or device: what is not a regular file, or is above `maxBytes`, is refused. */
  readBytes(path: string, options?: OpenOptions & { maxBytes?: number }): Promise<Uint8Array>;
  /** The same with the facts of the opened file; without content where that is above `maxBytes`. */
  readWithStat(
    path: string,
    options: OpenOptions & { maxBytes: number },
  ): Promise<{ readonly stat: FileStat; readonly bytes?: Uint8Array }>;
  /**
   * The same of a small file, at once. Undefined where it is larger than is read at once: `readWithStat`
   * does that. Absent where a file system has to wait for its answer.
   */
  readWithStatNow?(
    path: string,
    options?: OpenOptions,
  ): { readonly stat: FileStat; readonly bytes: Uint8Array } | undefined;
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
