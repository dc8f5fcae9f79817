import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { messageOf, systemCodeOf } from '../errors.js';
import { err, ok, type Result } from '../util/result.js';
import { makePrivateDirectory } from './append-log.js';
import { dirname } from './paths.js';

/** What questions and answers on the disk ask of it. Synchronous: they are small and rare. */
export interface InboxFiles {
  /** Makes a file for its owner alone, on the disk when it returns. False: there is one already. Throws. */
  putOnce(path: string, text: string): boolean;
  /**
   * A file that is ours and that nobody else may write. Undefined: there is none. An error: there is
   * one that does not count, and why.
   */
  readOwn(path: string): Result<string, string> | undefined;
  /** Names in a directory; none when it cannot be read. */
  list(directory: string): readonly string[];
  remove(path: string): void;
}

export const nodeInboxFiles: InboxFiles = {
  putOnce,
  readOwn,
  list(directory) {
    try {
      return readdirSync(directory);
    } catch {
      // No question was ever put.
      return [];
    }
  },
  remove: (path) => rmSync(path, { force: true }),
};

const NEW_FILE =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** What is longer is not read. */
export const MOST_OWN_BYTES = 1 << 20;

function putOnce(path: string, text: string): boolean {
  makePrivateDirectory(dirname(path));
  // The empty file keeps the place; the rename fills it at once, so that nobody reads half of it.
  let fd: number;
  try {
    fd = openSync(path, NEW_FILE, 0o600);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
  closeSync(fd);
  const draft = `${path}.${process.pid}.tmp`;
  try {
    fill(draft, text);
    renameSync(draft, path);
  } catch (thrown) {
    // A place that is kept for nothing would pass for an answer that has been given.
    rmSync(path, { force: true });
    throw thrown;
  }
  return true;
}

function fill(path: string, text: string): void {
  // What a process of this number left behind when it died is nobody's any more.
  rmSync(path, { force: true });
  const out = openSync(path, NEW_FILE, 0o600);
  try {
    const bytes = Buffer.from(text, 'utf8');
    for (let at = 0; at < bytes.length; ) at += writeSync(out, bytes, at);
    fsyncSync(out);
  } catch (thrown) {
    rmSync(path, { force: true });
    throw thrown;
  } finally {
    closeSync(out);
  }
}

function readOwn(path: string): Result<string, string> | undefined {
  let fd: number;
  try {
    fd = openSync(path, READ);
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOENT' ? undefined : err(messageOf(thrown));
  }
  try {
    const stat = fstatSync(fd);
    // fail-closed: what others could have written says nothing.
    if (!stat.isFile()) return err('it is not a regular file');
    if (process.getuid !== undefined && stat.uid !== process.getuid()) {
      return err('it belongs to another user');
    }
    if (process.platform !== 'win32' && (stat.mode & 0o022) !== 0) {
      return err('others may write it');
    }
    if (stat.nlink !== 1) return err('it has other names');
    if (stat.size > MOST_OWN_BYTES) return err('it is too long');
    // Still being made: the next look finds it whole.
    if (stat.size === 0) return undefined;
    return ok(readFileSync(fd, 'utf8'));
  } catch (thrown) {
    return err(messageOf(thrown));
  } finally {
    closeSync(fd);
  }
}
