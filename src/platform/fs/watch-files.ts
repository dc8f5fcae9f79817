import { type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from './paths.js';

export type FileEvent = 'change' | 'add' | 'unlink';

/** Watches single files, those that do not exist yet among them. */
export interface FileWatcher {
  /** Absolute paths, which replace those before. Paths beyond the limit are left out and reported. */
  set(paths: readonly string[]): void;
  close(): void;
}

export interface FileWatcherDeps {
  /** Called once for changes that follow each other closely, and never after `close`. */
  onChange(path: string, event: FileEvent): void;
  onError(message: string): void;
  /** Milliseconds without another change after which one is reported. */
  readonly quietMs?: number;
  /** Milliseconds after which a change is reported although more follow. */
  readonly longestMs?: number;
  /** Files at most. */
  readonly most?: number;
}

export type OpenFileWatcher = (deps: FileWatcherDeps) => FileWatcher;

interface WatchedFile {
  readonly path: string;
  /** The version that was reported last; undefined: there is no file. */
  reported: string | undefined;
  /** The version that the last poll found. */
  found: string | undefined;
  changedAt?: number | undefined;
}

/**
 * Polls: a watch of the system stays with the old file when an editor saves by a rename, and sees neither
 * files nor directories that are yet to come. Nothing here keeps the process alive.
 */
export const openFileWatcher: OpenFileWatcher = (deps) => {
  const { quietMs = 250, longestMs = 1_000, most = 256 } = deps;
  const files = new Map<string, WatchedFile>();
  let tooMany = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const check = (file: WatchedFile, version: string | undefined): void => {
    const isQuiet = version === file.found;
    file.found = version;
    const before = file.reported;
    if (version === before) {
      file.changedAt = undefined;
      return;
    }
    file.changedAt ??= performance.now();
    if (!isQuiet && performance.now() - file.changedAt < longestMs) return;
    file.reported = version;
    file.changedAt = undefined;
    const event = before === undefined ? 'add' : version === undefined ? 'unlink' : 'change';
    deps.onChange(file.path, event);
  };
  const poll = async (): Promise<void> => {
    for (const file of files.values()) {
      const version = await stat(file.path).then(versionOf, () => undefined);
      if (files.get(file.path) === file) check(file, version);
    }
    schedule();
  };
  const schedule = (): void => {
    timer = isClosed ? undefined : setTimeout(poll, Math.min(quietMs, longestMs)).unref();
  };
  return {
    set(paths) {
      if (isClosed) return;
      const all = [...new Set(paths.map((path) => resolve(path)))];
      const wanted = all.slice(0, most);
      const left = all.length - wanted.length;
      if (left > 0 && left !== tooMany) {
        deps.onError(`${left} files are not watched: ${most} are the limit`);
      }
      tooMany = left;
      for (const path of files.keys()) if (!wanted.includes(path)) files.delete(path);
      for (const path of wanted) {
        if (files.has(path)) continue;
        const version = currentVersion(path);
        files.set(path, { path, reported: version, found: version });
      }
      if (timer === undefined) schedule();
    },
    close() {
      isClosed = true;
      files.clear();
      clearTimeout(timer);
    },
  };
};

/** Identifies the content, not the rights to it. */
function versionOf({ mtimeMs, size, dev, ino }: Stats): string {
  return `${mtimeMs} ${size} ${dev} ${ino}`;
}

function currentVersion(path: string): string | undefined {
  try {
    return versionOf(statSync(path));
  } catch {
    // A file that cannot be looked at counts as absent.
    return undefined;
  }
}
