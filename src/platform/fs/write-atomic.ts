import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { PortcullisError, systemCodeOf } from '../../errors.js';
import { randomBytes } from '../random.js';
import type { OpenOptions } from './fs.js';
import { changedPath, isSamePath, openParent, realPathSync } from './opened-path.js';
import { basename, dirname, join, resolve } from './paths.js';

/** See `FileSystem.writeAtomic`. Extended attributes and access lists of the old file are not carried over. */
export async function writeAtomic(
  path: string,
  data: string | Uint8Array,
  { mode, realPath }: OpenOptions & { mode?: number } = {},
): Promise<void> {
  try {
    if (realPath === undefined) {
      return writeTo(targetOf(path), data, { mode, path });
    }
    if (!isSamePath(realPathSync(path), realPath)) throw changedPath(path);
    const parent = openParent(realPath, path);
    try {
      writeTo(join(parent.path, basename(realPath)), data, { mode, path });
    } finally {
      parent.close();
    }
  } catch (thrown) {
    throw explained(thrown, path);
  }
}

/** The target's last name is no link, and none that comes in its place is followed. */
function writeTo(
  target: string,
  data: string | Uint8Array,
  { mode, path }: { mode: number | undefined; path: string },
): void {
  const existing = lstatSync(target, { throwIfNoEntry: false });
  if (existing === undefined) {
    mkdirSync(dirname(target), { recursive: true });
    replace(target, data, { mode });
    return;
  }
  if (existing.isDirectory()) throw systemError('EISDIR');
  if (existing.isSymbolicLink()) throw changedPath(path);
  if (!existing.isFile()) throw notRegular(path);
  requireWritable(target);
  // A rename would part this name from the file's other names.
  if (existing.nlink > 1) writeInPlace(target, data);
  else replace(target, data, { existing });
}

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

function replace(
  target: string,
  data: string | Uint8Array,
  { mode, existing }: { mode?: number | undefined; existing?: Stats },
): void {
  // Not made from the file's name: that may already be as long as a name can be.
  const temporary = join(dirname(target), `.portcullis-${randomBytes(8).toString('hex')}.tmp`);
  let fd: number;
  try {
    fd = openSync(temporary, 'wx', existing === undefined ? (mode ?? 0o666) : 0o600);
  } catch (thrown) {
    // The directory takes no new names, but the file itself may be writable.
    if (existing === undefined || !isRefusal(thrown)) throw thrown;
    writeInPlace(target, data);
    return;
  }
  try {
    try {
      if (existing !== undefined) takeOver(fd, existing);
      else if (mode !== undefined) fchmodSync(fd, mode);
      writeFileSync(fd, data);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, target);
  } catch (thrown) {
    removeQuietly(temporary);
    // A single file mounted into a container cannot be renamed over.
    const isMount = existing !== undefined && systemCodeOf(thrown) === 'EBUSY';
    if (!isMount && !(thrown instanceof OwnerError)) throw thrown;
    writeInPlace(target, data);
  }
}

/** Only the old file itself can keep its owner. */
class OwnerError extends Error {}

/** Gives the new file the old one's owner and mode. */
function takeOver(fd: number, existing: Stats): void {
  const made = fstatSync(fd);
  if (made.uid !== existing.uid || made.gid !== existing.gid) {
    try {
      fchownSync(fd, existing.uid, existing.gid);
    } catch (thrown) {
      throw isRefusal(thrown) ? new OwnerError() : thrown;
    }
  }
  fchmodSync(fd, existing.mode & 0o7777);
}

/** A rename would get past the read-only mark of the file itself. Opening asks as the user we act for. */
function requireWritable(target: string): void {
  try {
    closeSync(openSync(target, constants.O_WRONLY | NO_FOLLOW));
  } catch (thrown) {
    // A program that is running cannot be opened for writing, but it can be replaced.
    if (systemCodeOf(thrown) !== 'ETXTBSY') throw thrown;
  }
}

/** Not atomic: the price for keeping what a rename would lose (other names, owner, mount). */
function writeInPlace(target: string, data: string | Uint8Array): void {
  const fd = openSync(target, constants.O_WRONLY | constants.O_TRUNC | NO_FOLLOW);
  try {
    writeFileSync(fd, data);
  } finally {
    closeSync(fd);
  }
}

/**
 * Follows links also when the last one points to nothing yet, by the same steps as the gate does when it
 * judges where the path leads.
 */
function targetOf(path: string): string {
  const target = resolve(path);
  const isLink = lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? realPathSync(target) : target;
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The failure that led here is the one to report; a leftover carries our name and a dot.
  }
}

function isRefusal(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
  return code === 'EACCES' || code === 'EPERM';
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function notRegular(path: string): PortcullisError {
  return new PortcullisError('io', `cannot write ${path}: it is a device, pipe or socket`, {
    remedy: 'Write to a regular file.',
  });
}

const explanations = new Map<string, readonly [reason: string, remedy: string]>([
  ['ENOSPC', ['the disk is full', 'Free some space and try again.']],
  ['EDQUOT', ['the disk quota is used up', 'Free some space and try again.']],
  ['EROFS', ['the file system is read-only', 'Write somewhere else or mount it writable.']],
  ['EACCES', ['permission denied', 'Check owner and mode of the file and its directory.']],
  ['EPERM', ['the system does not permit it', 'Check owner, mode and attributes of the file.']],
  ['EISDIR', ['it is a directory', 'Name a file inside it.']],
  ['ENOTDIR', ['a part of the path is a file, not a directory', 'Correct the path.']],
  ['EEXIST', ['a part of the path is a file, not a directory', 'Correct the path.']],
  ['ENAMETOOLONG', ['the name is too long', 'Choose a shorter name.']],
  ['ELOOP', ['its symbolic links go round in a circle', 'Remove the loop of links.']],
]);

function explained(thrown: unknown, path: string): unknown {
  const explanation = explanations.get(systemCodeOf(thrown) ?? '');
  if (explanation === undefined) return thrown;
  const [reason, remedy] = explanation;
  return new PortcullisError('io', `cannot write ${path}: ${reason}`, { remedy, cause: thrown });
}
