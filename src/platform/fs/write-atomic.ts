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
  writeFile,
  writeFileSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { PortcullisError, systemCodeOf } from '../../errors.js';
import { randomBytes } from '../random.js';
import type { OpenOptions } from './fs.js';
import { changedPath, isSamePath, openParent } from './opened-path.js';
import { basename, dirname, join, resolve } from './paths.js';
import { realPathSync } from './real-path.js';

/** See `FileSystem.writeAtomic`. Extended attributes and access lists of the old file are not carried over. */
export async function writeAtomic(
  path: string,
  data: string | Uint8Array,
  { mode, realPath }: OpenOptions & { mode?: number } = {},
): Promise<void> {
  try {
    if (realPath === undefined) {
      const target = targetOf(path);
      return await writeTo(target, data, { mode, path });
    }
    if (!isSamePath(realPathSync(path), realPath)) throw changedPath(path);
    const parent = openParent(realPath, path);
    try {
      await writeTo(join(parent.path, basename(realPath)), data, { mode, path });
    } finally {
      parent.close();
    }
  } catch (thrown) {
    throw explained(thrown, path);
  }
}

/** The target's last name is no link, and none that comes in its place is followed. */
async function writeTo(
  target: string,
  data: string | Uint8Array,
  { mode, path }: { mode: number | undefined; path: string },
): Promise<void> {
  const existing = lstatSync(target, { throwIfNoEntry: false });
  if (existing === undefined) {
    mkdirSync(dirname(target), { recursive: true });
    return await replace(target, data, { mode });
  }
  if (existing.isDirectory()) throw systemError('EISDIR');
  if (existing.isSymbolicLink()) throw changedPath(path);
  if (!existing.isFile()) throw notRegular(path);
  requireWritable(target);
  // A rename would part this name from the file's other names.
  if (existing.nlink > 1) return await writeInPlace(target, data);
  await replace(target, data, { existing });
}

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const SMALL_DATA = 256 * 1024;
const writeFileAsync = promisify(writeFile);

async function replace(
  target: string,
  data: string | Uint8Array,
  how: { mode?: number | undefined; existing?: Stats },
): Promise<void> {
  // Not made from the file's name: that may already be as long as a name can be.
  const temporary = join(dirname(target), `.portcullis-${randomBytes(8).toString('hex')}.tmp`);
  let fd: number;
  try {
    fd = openSync(temporary, 'wx', how.existing === undefined ? (how.mode ?? 0o666) : 0o600);
  } catch (thrown) {
    // The directory takes no new names, but the file itself may be writable.
    if (how.existing !== undefined && isRefusal(thrown)) return writeInPlace(target, data);
    throw thrown;
  }
  let open = true;
  try {
    const sameOwner = how.existing === undefined || takeOver(fd, how.existing);
    if (sameOwner) {
      if (how.existing === undefined && how.mode !== undefined) fchmodSync(fd, how.mode);
      await writeAll(fd, data);
    }
    closeSync(fd);
    open = false;
    if (sameOwner) return renameSync(temporary, target);
  } catch (thrown) {
    if (open) closeSync(fd);
    removeQuietly(temporary);
    // A single file mounted into a container cannot be renamed over.
    if (how.existing !== undefined && systemCodeOf(thrown) === 'EBUSY') {
      return writeInPlace(target, data);
    }
    throw thrown;
  }
  removeQuietly(temporary);
  await writeInPlace(target, data);
}

/** Gives the new file the old one's owner and mode; false when only the old file itself can keep its owner. */
function takeOver(fd: number, existing: Stats): boolean {
  const made = fstatSync(fd);
  if (made.uid !== existing.uid || made.gid !== existing.gid) {
    try {
      fchownSync(fd, existing.uid, existing.gid);
    } catch (thrown) {
      if (isRefusal(thrown)) return false;
      throw thrown;
    }
  }
  fchmodSync(fd, existing.mode & 0o7777);
  return true;
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
async function writeInPlace(target: string, data: string | Uint8Array): Promise<void> {
  const fd = openSync(target, constants.O_WRONLY | constants.O_TRUNC | NO_FOLLOW);
  try {
    await writeAll(fd, data);
  } finally {
    closeSync(fd);
  }
}

async function writeAll(fd: number, data: string | Uint8Array): Promise<void> {
  if (data.length < SMALL_DATA) writeFileSync(fd, data);
  else await writeFileAsync(fd, data);
}

/**
 * Follows links also when the last one points to nothing yet, and goes by the same steps as whoever judged
 * where the path leads.
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
