import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * One directory for the temporary files of the whole run, taken away at its end: a test that fails, or
 * whose process is killed on purpose, cannot tidy up after itself. The name is short because sockets are
 * made below it, and their paths may have no more than about a hundred characters.
 */
export default function setup(): () => void {
  const before = process.env.TMPDIR;
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'pt-')));
  // Some tests act as another user, who must get through to what they open for him.
  chmodSync(directory, 0o755);
  process.env.TMPDIR = directory;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
}
