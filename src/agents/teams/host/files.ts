import { lstatSync } from 'node:fs';
import { messageOf } from '../../../errors.js';
import { err, ok, type Result } from '../../../lib/result.js';
import { makePrivateDirectory } from '../../../platform/fs/append-log.js';
import { withFileLock } from '../../../platform/fs/file-lock.js';
import { MOST_OWN_BYTES, stateFiles } from '../../../platform/fs/state-files.js';
import { nodeProcesses } from '../../../platform/process/process-stamp.js';

const WAIT_MS = 15_000;

/** File operations of processes that work in one team. */
export const teamFiles = {
  ...nodeProcesses,
  readOwn: stateFiles.readOwn,
  list: stateFiles.list,
  remove: stateFiles.remove,

  /**
   * Runs `work` while holding the lock, exclusively among processes and within this one. The lock of a dead
   * process is ignored. An error: the lock was not free in time.
   */
  async exclusive<T>(lock: string, work: () => T | Promise<T>): Promise<Result<T, string>> {
    try {
      const problem = teamFiles.ownDirectory(lock);
      if (problem !== undefined) return err(problem);
      const done = await withFileLock(lock, { waitMs: WAIT_MS }, work);
      return done === undefined ? err(`${lock} is held by another process`) : ok(done.value);
    } catch (thrown) {
      return err(messageOf(thrown));
    }
  },

  /**
   * Writes a private file durably and completely. Throws also when it would be too long for `readOwn`,
   * because it could not be read again.
   */
  keep(path: string, text: string): void {
    if (Buffer.byteLength(text, 'utf8') > MOST_OWN_BYTES) {
      throw new Error(`${path} is full: it would have more than ${MOST_OWN_BYTES} bytes`);
    }
    stateFiles.writeDurable(path, text);
  },

  /** Creates a directory for its owner only, or returns why the existing one cannot be used. */
  ownDirectory(path: string): string | undefined {
    try {
      makePrivateDirectory(path);
      const stat = lstatSync(path);
      // fail-closed: a directory that others control is not used.
      if (!stat.isDirectory()) return `${path} is not a directory of its own`;
      if (process.getuid !== undefined && stat.uid !== process.getuid()) {
        return `${path} belongs to another user`;
      }
      const isOpen = process.platform !== 'win32' && (stat.mode & 0o022) !== 0;
      return isOpen ? `others may write ${path}` : undefined;
    } catch (thrown) {
      return messageOf(thrown);
    }
  },
};
