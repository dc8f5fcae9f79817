import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * One directory for the temporary files of the whole run, taken away at its end: a test that fails, or
 * whose process is killed on purpose, cannot tidy up after itself. The name is short because sockets are
 * made below it, and their paths may have no more than about a hundred characters.
 */
export default function setup(): () => Promise<void> {
  const before = process.env.TMPDIR;
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'pt-')));
  // Some tests act as another user, who must get through to what they open for him.
  chmodSync(directory, 0o755);
  process.env.TMPDIR = directory;
  return async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    // Not rmSync(): blocked by tens of thousands of files, vitest would not hear that its workers have ended.
    await promisify(execFile)('rm', ['-rf', directory]).catch(() => {});
  };
}
