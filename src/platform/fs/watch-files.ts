import { type FSWatcher, realpathSync, type Stats, statSync, watch } from 'node:fs';
import { messageOf, systemCodeOf } from '../../errors.js';
import { basename, dirname, resolve } from './paths.js';

export type FileEvent = 'change' | 'add' | 'unlink';

/**
 * Looks after single files, those that do not exist yet among them. That a directory further up was
 * moved is not seen.
 */
export interface FileWatcher {
  /** Absolute paths, in the place of those before. Beyond the limit they are left out, which is told. */
  set(paths: readonly string[]): void;
  close(): void;
}

export interface FileWatcherDeps {
  /** Once for changes that follow each other closely. Not called any more after the close. */
  onChange(path: string, event: FileEvent): void;
  /** Something cannot be watched. */
  onError(message: string): void;
  /** Milliseconds without another change after which one is told. */
  readonly quietMs?: number;
  /** Milliseconds after which one is told although changes go on. */
  readonly longestMs?: number;
  /** Files at most. */
  readonly most?: number;
}

export type OpenFileWatcher = (deps: FileWatcherDeps) => FileWatcher;

const QUIET_MS = 100;
const LONGEST_MS = 1_000;
const MOST_FILES = 256;
const MOST_ATTEMPTS = 3;
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

interface Watched {
  readonly path: string;
  /** What tells one state from another; undefined when there is nothing. */
  stamp: string | undefined;
  /** The path and, where it is a link, what the link stands for. */
  spots: readonly Spot[];
  timer?: NodeJS.Timeout | undefined;
  firstNews?: number | undefined;
}

/** A directory that exists, and the name in it that has to change first. */
interface Spot {
  readonly directory: string;
  readonly name: string;
}

/**
 * The system watches directories, not files: editors save by putting a new file in the place of the
 * old one, and a watch on a file would stay with the old one. Nothing here keeps the process alive.
 */
export const openFileWatcher: OpenFileWatcher = (deps) => {
  const { most = MOST_FILES } = deps;
  const files = new Map<string, Watched>();
  const told = new Set<string>();
  let isClosed = false;
  const tell = (message: string): void => {
    if (isClosed || told.has(message)) return;
    told.add(message);
    deps.onError(message);
  };
  const state: State = {
    deps,
    files,
    tell,
    directories: watchDirectories({
      tell,
      heard: (directory, name) => heard(state, directory, name),
    }),
  };
  return {
    set(paths) {
      if (isClosed) return;
      const all = new Set(paths.map((path) => resolve(path)));
      const wanted = new Set([...all].slice(0, most));
      if (all.size > most) tell(`${all.size - most} files are not watched: ${most} are the limit`);
      for (const file of [...files.values()]) if (!wanted.has(file.path)) forget(state, file);
      for (const path of wanted) {
        if (files.has(path)) continue;
        files.set(path, { path, stamp: stampOf(path), spots: spotsOf(path) });
      }
      attach(state);
    },
    close() {
      isClosed = true;
      for (const file of [...files.values()]) forget(state, file);
      state.directories.keep(new Set());
    },
  };
};

interface State {
  readonly deps: FileWatcherDeps;
  readonly files: Map<string, Watched>;
  readonly directories: Directories;
  tell(message: string): void;
}

function forget({ files }: State, file: Watched): void {
  clearTimeout(file.timer);
  files.delete(file.path);
}

/** `name` undefined: whatever is in the directory, and the directory itself, may have changed. */
function heard(state: State, directory: string, name: string | undefined): void {
  const concerned = [...state.files.values()].filter(({ spots }) =>
    spots.some((spot) => spot.directory === directory && (name ?? spot.name) === spot.name),
  );
  for (const file of concerned) scanSoon(state, file);
  if (name !== undefined) return;
  for (const file of concerned) file.spots = spotsOf(file.path);
  attach(state);
}

function scanSoon(state: State, file: Watched): void {
  const { quietMs = QUIET_MS, longestMs = LONGEST_MS } = state.deps;
  clearTimeout(file.timer);
  file.firstNews ??= performance.now();
  const left = longestMs - (performance.now() - file.firstNews);
  file.timer = setTimeout(() => look(state, file), Math.max(0, Math.min(quietMs, left)));
  file.timer.unref();
}

function look(state: State, file: Watched): void {
  file.timer = undefined;
  file.firstNews = undefined;
  file.spots = spotsOf(file.path);
  attach(state);
  const before = file.stamp;
  file.stamp = stampOf(file.path);
  if (before === file.stamp) return;
  const event = before === undefined ? 'add' : file.stamp === undefined ? 'unlink' : 'change';
  state.deps.onChange(file.path, event);
}

/** Watches what has to be watched now: directories come and go as files do. */
function attach({ files, directories, tell }: State): void {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const needed = [...files.values()].flatMap(({ spots }) => spots.map(directoryOf));
    const gone = directories.keep(new Set(needed));
    if (gone.length === 0) return;
    for (const file of files.values()) {
      if (!file.spots.some(({ directory }) => gone.includes(directory))) continue;
      file.spots = spotsOf(file.path);
    }
  }
  tell('files are not watched: their directories come and go too fast');
}

interface Directories {
  /** Watches these and no others. Returns those that are not there any more. */
  keep(needed: ReadonlySet<string>): readonly string[];
}

function watchDirectories(deps: {
  tell(message: string): void;
  heard(directory: string, name: string | undefined): void;
}): Directories {
  const watchers = new Map<string, FSWatcher>();
  const drop = (directory: string): void => {
    watchers.get(directory)?.close();
    watchers.delete(directory);
  };
  const onEvent = (directory: string, type: string, name: string | null): void => {
    // The directory itself went or moved: what is watched is not what has that name now.
    const isItself = type === 'rename' && name === basename(directory);
    if (isItself) drop(directory);
    deps.heard(directory, isItself ? undefined : (name ?? undefined));
  };
  const open = (directory: string): boolean => {
    try {
      const watcher = watch(directory, { persistent: false }, (type, name) =>
        onEvent(directory, type, name),
      );
      watcher.on('error', (error) => {
        drop(directory);
        deps.tell(`${directory} is not watched any more: ${messageOf(error)}`);
      });
      watchers.set(directory, watcher);
    } catch (thrown) {
      if (GONE.has(systemCodeOf(thrown) ?? '')) return false;
      deps.tell(`${directory} cannot be watched: ${messageOf(thrown)}`);
    }
    return true;
  };
  return {
    keep(needed) {
      for (const directory of [...watchers.keys()]) if (!needed.has(directory)) drop(directory);
      return [...needed].filter((directory) => !watchers.has(directory) && !open(directory));
    },
  };
}

function directoryOf({ directory }: Spot): string {
  return directory;
}

function spotsOf(path: string): readonly Spot[] {
  const spot = nearestSpot(path);
  const real = realPathOf(path);
  return real === undefined || real === path ? [spot] : [spot, nearestSpot(real)];
}

/** Where the next sign of a path will be seen: its parent, or what there is of the way to it. */
function nearestSpot(path: string): Spot {
  let child = path;
  for (;;) {
    const directory = dirname(child);
    if (directory === child || statOf(directory)?.isDirectory() === true) {
      return { directory, name: basename(child) };
    }
    child = directory;
  }
}

/** Of the content, not of the rights to it. */
function stampOf(path: string): string | undefined {
  const stat = statOf(path);
  return stat && `${stat.mtimeMs} ${stat.size} ${stat.dev} ${stat.ino}`;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // What may not be looked at is, for whoever looks, not there.
    return undefined;
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // Nothing is there, or a link to nothing: the path itself is watched.
    return undefined;
  }
}
