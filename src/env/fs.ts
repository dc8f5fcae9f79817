/** The file system as the rest of the program sees it. Everything outside `env/` goes through this. */
export interface FileStat {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
}

export interface FileSystem {
  /** Follows symbolic links. Undefined when nothing is there. */
  stat(path: string): Promise<FileStat | undefined>;
  lstat(path: string): Promise<FileStat | undefined>;
  readBytes(path: string): Promise<Uint8Array>;
  readText(path: string): Promise<string>;
  /**
   * Writes through a temporary file in the same directory and a rename, so that a reader sees the
   * old or the new content and nothing between. Keeps the mode of an existing file, writes through
   * a symbolic link to its target, makes missing parent directories.
   */
  writeAtomic(path: string, data: string | Uint8Array, options?: { mode?: number }): Promise<void>;
  makeDirectory(path: string, options?: { mode?: number }): Promise<void>;
  remove(path: string): Promise<void>;
  list(
    path: string,
  ): Promise<readonly { readonly name: string; readonly kind: FileStat['kind'] }[]>;
  /** The path with every symbolic link resolved; for a path that does not exist, its nearest existing parent's, rest appended. */
  realPath(path: string): Promise<string>;
}
