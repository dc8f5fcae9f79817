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
import { promisify } from 'node:util';
import { systemCodeOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { NodeState } from '../types.js';
import {
  type PathSnapshot,
  type PeekedNode,
  readAll,
  snapshotPath,
  statPath,
} from './workspace-read.js';
import {
  describeRestoreError,
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
} from './workspace-root.js';

export type { PathSnapshot, PeekedNode } from './workspace-read.js';
export { isInGit, isRewindablePath } from './workspace-root.js';

const MAX_FILE_BYTES = 50 * 1024 ** 2;
/** Errors that mean the path does not exist. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * Performs all writes of a rewind, with paths relative to the root. It follows no links, neither at the end
 * of a path nor on the way, and fails when the path leaves the root or another directory replaced it. Steps
 * can be repeated. Errors are sentences for people. With a `stamp` a step runs only while the file is
 * unchanged.
 */
export class WorkspaceFiles {
  readonly #root: WorkspaceRoot;
  readonly #maxFileBytes: number;

  /** `path` is a real path and identifies the root from now on; files over `maxFileBytes` are not read. */
  constructor(path: string, maxFileBytes = MAX_FILE_BYTES) {
    this.#root = new WorkspaceRoot(path);
    this.#maxFileBytes = maxFileBytes;
  }

  /** Why the workspace must not be touched, if so. */
  trouble(): string | undefined {
    return this.#root.trouble();
  }

  /** The node is undefined when the path is missing or reached only through a link. */
  see(path: string): Promise<Result<PathSnapshot, string>> {
    const nothing = { node: undefined, stamp: NOTHING };
    return this.#during(path, (place) => snapshotPath(place, this.#maxFileBytes), nothing);
  }

  async find(path: string): Promise<Result<NodeState | undefined, string>> {
    const seen = await this.see(path);
    return seen.ok ? ok(seen.value.node) : seen;
  }

  /** Like `find`, but without reading files. */
  peek(path: string): Result<PeekedNode | undefined, string> {
    try {
      return ok(this.#root.at(path, statPath));
    } catch (thrown) {
      return ABSENT.has(systemCodeOf(thrown) ?? '')
        ? ok(undefined)
        : err(describeRestoreError(thrown));
    }
  }

  read(path: string): Promise<Result<Uint8Array, string>> {
    return this.#during(path, async (place) => (await readAll(place, this.#maxFileBytes)).bytes);
  }

  list(path: string): Result<readonly string[], string> {
    return this.#on(path, (place) => readdirSync(openedDirectory(place)).sort());
  }

  /** Removes a file, link or empty directory; a missing path counts as done. */
  remove(path: string, stamp?: string): Result<'done' | 'not-empty', string> {
    return this.#on(path, (place) => removeAt(place, stamp));
  }

  makeDirectory(path: string, mode: number): Result<'done', string> {
    return this.#on(path, (place) => makeDirectoryAt(place, mode));
  }

  /** `shared`: nothing was done, because the mode would also change for the file's other hard links. */
  setMode(path: string, mode: number, stamp?: string): Result<'done' | 'shared', string> {
    return this.#on(path, (place) => setModeAt(place, mode, { stamp }));
  }

  /** Writes a file under a unique draft name beside its target; durable when it resolves. */
  draftFile(
    path: string,
    bytes: Uint8Array,
    options: { readonly draft: string; readonly mode: number },
  ): Promise<Result<'done', string>> {
    return this.#during(path, (place) => draftFileAt(place, bytes, options));
  }

  draftLink(path: string, target: string, draft: string): Result<'done', string> {
    return this.#on(path, (place) => {
      dropDraftAt(place, draft);
      symlinkSync(target, `${place.directory}/${draft}`);
      return 'done';
    });
  }

  /** Renames a draft into place, or deletes it on failure. */
  placeDraft(path: string, draft: string, stamp?: string): Result<'done', string> {
    return this.#on(path, (place) => {
      try {
        requireStamp(place, stamp);
        renameSync(`${place.directory}/${draft}`, full(place));
        return 'done';
      } catch (thrown) {
        dropDraftAt(place, draft);
        throw thrown;
      }
    });
  }

  /** Deletes a draft that a killed program left behind; a failure is harmless. */
  dropDraft(path: string, draft: string): void {
    this.#on(path, (place) => dropDraftAt(place, draft));
  }

  #on<T>(path: string, work: (place: Place) => T): Result<T, string> {
    try {
      return ok(this.#root.at(path, work));
    } catch (thrown) {
      return err(describeRestoreError(thrown));
    }
  }

  async #during<T>(
    path: string,
    work: (place: Place) => Promise<T>,
    absent?: T,
  ): Promise<Result<T, string>> {
    try {
      return ok(await this.#root.during(path, work));
    } catch (thrown) {
      const isAbsent = absent !== undefined && ABSENT.has(systemCodeOf(thrown) ?? '');
      return isAbsent ? ok(absent) : err(describeRestoreError(thrown));
    }
  }
}

function openedDirectory(place: Place): string {
  // fail-closed: a link would list another directory.
  if (!lstatSync(full(place)).isDirectory()) throw new Refused('it is no directory');
  return full(place);
}

function removeAt(place: Place, stamp: string | undefined): 'done' | 'not-empty' {
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
  setModeAt(place, mode, { only: 'directory' });
  return 'done';
}

/** Uses a descriptor, so that a link placed meanwhile is not followed. */
function setModeAt(
  place: Place,
  mode: number,
  { stamp, only }: { readonly stamp?: string | undefined; readonly only?: 'directory' },
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
  // fail-closed: other hard links may be outside the workspace.
  return stat.nlink > 1n;
}

/** Flushes without blocking the event loop. */
const synced = promisify(fsync);
const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;

async function draftFileAt(
  place: Place,
  bytes: Uint8Array,
  { draft, mode }: { readonly draft: string; readonly mode: number },
): Promise<'done'> {
  dropDraftAt(place, draft);
  const old = lstatSync(full(place), { throwIfNoEntry: false });
  const fd = openSync(`${place.directory}/${draft}`, DRAFT_FLAGS, 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    if (old?.isFile()) keepOwner(fd, old);
    fchmodSync(fd, mode);
    // Flushed before the rename, so that a power loss cannot leave a partial file under the name.
    await synced(fd);
    return 'done';
  } catch (thrown) {
    dropDraftAt(place, draft);
    throw thrown;
  } finally {
    closeSync(fd);
  }
}

/** Restores the owner when another user runs the rewind. */
function keepOwner(fd: number, old: Stats): void {
  const now = fstatSync(fd);
  if (now.uid === old.uid && now.gid === old.gid) return;
  try {
    fchownSync(fd, old.uid, old.gid);
  } catch {
    // Only the superuser may change owners; content and mode are restored anyway.
  }
}

function dropDraftAt(place: Place, draft: string): void {
  try {
    unlinkSync(`${place.directory}/${draft}`);
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ENOENT') throw thrown;
  }
}
