import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { systemCodeOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { NodeState } from '../types.js';
import { type PeekedNode, peekAt, readAll, type Sighting, seeAt } from './workspace-read.js';
import {
  full,
  hasDescriptorPaths,
  MOUNTED,
  NO_FOLLOW,
  NOTHING,
  PATH_ONLY,
  type Place,
  Refused,
  requireStamp,
  WorkspaceRoot,
  wordsFor,
} from './workspace-root.js';

export type { PeekedNode, Sighting } from './workspace-read.js';
export { isInGit, isRewindablePath } from './workspace-root.js';

/** How a file or a link is put in its place: under another name first, so that nobody sees half of it. */
export interface DraftName {
  /** A name in the same directory that nothing else has. */
  readonly draft: string;
}

/** Only where what stands there is still what was seen; absent: whatever stands there. */
export interface OnlyIf {
  readonly stamp?: string;
}

/**
 * The one thing that writes into a workspace for a rewind. Paths are relative to its root. No link is
 * ever followed, neither at the end of a path nor on the way: what leads out of the root is an error,
 * and so is everything once another directory stands in the root's place. Each step may be repeated.
 * A failure is words for a person.
 */
export interface RewindFiles {
  /** Why nothing at all may be touched. */
  trouble(): string | undefined;
  /** No node: nothing stands there, or it is only reached through a link. */
  see(path: string): Promise<Result<Sighting, string>>;
  /** The node of `see`. */
  find(path: string): Promise<Result<NodeState | undefined, string>>;
  /** The same without reading files. */
  peek(path: string): Result<PeekedNode | undefined, string>;
  read(path: string): Promise<Result<Uint8Array, string>>;
  /** Names in a directory. */
  list(path: string): Result<readonly string[], string>;
  /** A file, a link or an empty directory. Nothing there: done already. */
  remove(path: string, onlyIf?: OnlyIf): Result<'done' | 'not-empty', string>;
  makeDirectory(path: string, mode: number): Result<'done', string>;
  /** `shared`: nothing was done, because the file has other names whose mode would change with it. */
  setMode(path: string, mode: number, onlyIf?: OnlyIf): Result<'done' | 'shared', string>;
  /** A file beside its place. On the disk when it resolves. */
  draftFile(
    path: string,
    bytes: Uint8Array,
    options: DraftName & { readonly mode: number },
  ): Promise<Result<'done', string>>;
  draftLink(path: string, target: string, options: DraftName): Result<'done', string>;
  /** Moves a draft to its place. One that may not go there is taken away. */
  placeDraft(path: string, options: DraftName & OnlyIf): Result<'done', string>;
  /** Takes away a draft that a killed program has left. */
  dropDraft(path: string, draft: string): void;
}

export interface RewindFilesOptions {
  /** Longer files are seen, but not read. Default 50 MiB. */
  readonly maxFileBytes?: number;
}

const MAX_FILE_BYTES = 50 * 1024 ** 2;
/** What it means that nothing is found on the way to a path. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** `path` is a real path. What stands there now is the root from now on. */
export function openRewindFiles(
  path: string,
  { maxFileBytes = MAX_FILE_BYTES }: RewindFilesOptions = {},
): RewindFiles {
  const root = new WorkspaceRoot(path);
  const on = <T>(at: string, work: (place: Place) => T): Result<T, string> => {
    try {
      return ok(root.at(at, work));
    } catch (thrown) {
      return err(wordsFor(thrown));
    }
  };
  const during = <T>(
    at: string,
    work: (place: Place) => Promise<T>,
    absent?: T,
  ): Promise<Result<T, string>> =>
    root.during(at, work).then(ok, (thrown: unknown) => {
      const isAbsent = absent !== undefined && ABSENT.has(systemCodeOf(thrown) ?? '');
      return isAbsent ? ok(absent) : err(wordsFor(thrown));
    });
  const see = (at: string): Promise<Result<Sighting, string>> =>
    during(at, (place) => seeAt(place, maxFileBytes), { node: undefined, stamp: NOTHING });
  return {
    trouble: () => root.trouble(),
    see,
    async find(at) {
      const seen = await see(at);
      return seen.ok ? ok(seen.value.node) : seen;
    },
    peek: (at) => peekFrom(root, at),
    read: (at) => during(at, async (place) => (await readAll(place, maxFileBytes)).bytes),
    list: (at) => on(at, (place) => readdirSync(openedDirectory(place)).sort()),
    remove: (at, onlyIf) => on(at, (place) => removeAt(place, onlyIf)),
    makeDirectory: (at, mode) => on(at, (place) => makeDirectoryAt(place, mode)),
    setMode: (at, mode, onlyIf) => on(at, (place) => setModeAt(place, mode, onlyIf)),
    draftFile: (at, bytes, options) => during(at, (place) => draftFileAt(place, bytes, options)),
    draftLink: (at, target, options) => on(at, (place) => draftLinkAt(place, target, options)),
    placeDraft: (at, options) => on(at, (place) => placeDraftAt(place, options)),
    dropDraft(at, draft) {
      // Nothing there is what is wanted; one that cannot be taken away does no harm where it is.
      on(at, (place) => dropDraftAt(place, draft));
    },
  };
}

function peekFrom(root: WorkspaceRoot, path: string): Result<PeekedNode | undefined, string> {
  try {
    return ok(root.at(path, peekAt));
  } catch (thrown) {
    return ABSENT.has(systemCodeOf(thrown) ?? '') ? ok(undefined) : err(wordsFor(thrown));
  }
}

function openedDirectory(place: Place): string {
  // fail-closed: a link to a directory would list what is elsewhere.
  if (!lstatSync(full(place)).isDirectory()) throw new Refused('it is no directory');
  return full(place);
}

function removeAt(place: Place, { stamp }: OnlyIf = {}): 'done' | 'not-empty' {
  const stat = lstatSync(full(place), { throwIfNoEntry: false });
  if (stat === undefined) return 'done';
  if (!stat.isDirectory()) {
    if (!stat.isFile() && !stat.isSymbolicLink()) throw new Refused('it is no regular file');
    requireStamp(place, stamp);
    unlinkSync(full(place));
    return 'done';
  }
  try {
    requireStamp(place, stamp);
    rmdirSync(full(place));
    return 'done';
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return 'not-empty';
    throw thrown;
  }
}

function makeDirectoryAt(place: Place, mode: number): 'done' {
  try {
    mkdirSync(full(place), mode);
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'EEXIST') throw thrown;
  }
  openedDirectory(place);
  setModeAt(place, mode, {}, 'directory');
  return 'done';
}

/** Through a descriptor, so that a link that is put there meanwhile is not followed. */
function setModeAt(
  place: Place,
  mode: number,
  { stamp }: OnlyIf = {},
  only?: 'directory',
): 'done' | 'shared' {
  requireStamp(place, stamp);
  if (!hasDescriptorPaths()) {
    const stat = lstatSync(full(place), { bigint: true });
    if (hasOtherNames(stat, only)) return 'shared';
    chmodSync(full(place), mode);
    return 'done';
  }
  const fd = openSync(full(place), PATH_ONLY | NO_FOLLOW);
  try {
    const stat = fstatSync(fd, { bigint: true });
    if (hasOtherNames(stat, only)) return 'shared';
    if (statSync(place.directory, { bigint: true }).dev !== stat.dev) throw new Refused(MOUNTED);
    chmodSync(`/proc/self/fd/${fd}`, mode);
    return 'done';
  } finally {
    closeSync(fd);
  }
}

function hasOtherNames(stat: BigIntStats, only: 'directory' | undefined): boolean {
  if (stat.isDirectory()) return false;
  if (only === 'directory') throw new Refused('it is no directory');
  if (!stat.isFile()) throw new Refused('it is no file or directory');
  // fail-closed: the other names may be anywhere, outside of the workspace too.
  return stat.nlink > 1n;
}

const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;

async function draftFileAt(
  place: Place,
  bytes: Uint8Array,
  { draft, mode }: DraftName & { readonly mode: number },
): Promise<'done'> {
  dropDraftAt(place, draft);
  const old = lstatSync(full(place), { throwIfNoEntry: false });
  const fd = openSync(`${place.directory}/${draft}`, DRAFT_FLAGS, 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    if (old?.isFile()) keepOwner(fd, old);
    fchmodSync(fd, mode);
    // Before it is moved: after a loss of power its name must not stand for less than all of it.
    await synced(fd);
    return 'done';
  } catch (thrown) {
    dropDraftAt(place, draft);
    throw thrown;
  } finally {
    closeSync(fd);
  }
}

/** Waits for the disk without keeping anybody else waiting. */
function synced(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (failure) => (failure === null ? resolve() : reject(failure)));
  });
}

/** Whoever runs as another user than the owner would otherwise take the file away from them. */
function keepOwner(fd: number, old: Stats): void {
  const now = fstatSync(fd);
  if (now.uid === old.uid && now.gid === old.gid) return;
  try {
    fchownSync(fd, old.uid, old.gid);
  } catch {
    // Only the superuser may give files away; the bytes and the mode are what was asked for.
  }
}

function draftLinkAt(place: Place, target: string, { draft }: DraftName): 'done' {
  dropDraftAt(place, draft);
  symlinkSync(target, `${place.directory}/${draft}`);
  return 'done';
}

function placeDraftAt(place: Place, { draft, stamp }: DraftName & OnlyIf): 'done' {
  try {
    requireStamp(place, stamp);
    renameSync(`${place.directory}/${draft}`, full(place));
    return 'done';
  } catch (thrown) {
    dropDraftAt(place, draft);
    throw thrown;
  }
}

function dropDraftAt(place: Place, draft: string): void {
  try {
    unlinkSync(`${place.directory}/${draft}`);
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ENOENT') throw thrown;
  }
}
