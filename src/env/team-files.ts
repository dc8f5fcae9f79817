import {
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { messageOf, systemCodeOf } from '../errors.js';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import { err, ok, type Result } from '../util/result.js';
import { makePrivateDirectory } from './append-log.js';
import { nodeDeliveryFiles, type ProcessStamp } from './delivery-files.js';
import { MOST_OWN_BYTES, nodeInboxFiles } from './inbox-files.js';
import { join } from './paths.js';
import { randomUuid } from './random.js';

/** What agents of several processes that work together ask of the disk. */
export interface TeamFiles {
  /**
   * Runs `work` while no other process, and nobody else in this one, holds the lock. The lock of a
   * process that is gone does not count, however it went. An error: it was not free in time.
   */
  exclusive<T>(lock: string, work: () => T | Promise<T>): Promise<Result<T, string>>;
  /** A file that is ours and that nobody else may write. Undefined: there is none. */
  readOwn(path: string): Result<string, string> | undefined;
  /**
   * Writes a private file that is on the disk, and whole, when this returns. Throws, also for one
   * that would be too long for `readOwn`: what nobody can read any more would be lost.
   */
  keep(path: string, text: string): void;
  /** Makes a directory for its owner alone, or says why the one that is there cannot be used. */
  ownDirectory(path: string): string | undefined;
  /** Names in a directory; none when it cannot be read. */
  list(directory: string): readonly string[];
  /** Takes away a file, or a directory with all that is in it. */
  remove(path: string): void;
  /** This process. */
  self(): ProcessStamp;
  /** Whether that very process still runs. */
  isAlive(stamp: ProcessStamp): boolean;
}

const WAIT_MS = 15_000;
const LOOK_MS = 4;

export const nodeTeamFiles: TeamFiles = {
  async exclusive(lock, work) {
    let mine: string | undefined;
    try {
      const problem = ownDirectory(lock);
      if (problem !== undefined) return err(problem);
      for (const until = performance.now() + WAIT_MS; mine === undefined; ) {
        mine = tryToTake(lock);
        if (mine !== undefined) break;
        if (performance.now() > until) return err(`${lock} is held by another process`);
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS + Math.random() * LOOK_MS));
      }
    } catch (thrown) {
      return err(messageOf(thrown));
    }
    try {
      return ok(await work());
    } catch (thrown) {
      return err(messageOf(thrown));
    } finally {
      release(mine);
    }
  },
  readOwn: nodeInboxFiles.readOwn,
  keep(path, text) {
    if (Buffer.byteLength(text, 'utf8') > MOST_OWN_BYTES) {
      throw new Error(`${path} is full: it would have more than ${MOST_OWN_BYTES} bytes`);
    }
    nodeDeliveryFiles.keep(path, text);
  },
  ownDirectory,
  list: nodeInboxFiles.list,
  remove: (path) => rmSync(path, { recursive: true, force: true }),
  self: nodeDeliveryFiles.self,
  isAlive: nodeDeliveryFiles.isAlive,
};

function ownDirectory(path: string): string | undefined {
  try {
    makePrivateDirectory(path);
    const stat = lstatSync(path);
    // fail-closed: what others could have put there is not worked with.
    if (!stat.isDirectory()) return `${path} is not a directory of its own`;
    if (process.getuid !== undefined && stat.uid !== process.getuid()) {
      return `${path} belongs to another user`;
    }
    if (process.platform !== 'win32' && (stat.mode & 0o022) !== 0) {
      return `others may write ${path}`;
    }
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

const FREE = 'free\n';

/**
 * A lock is a directory of numbered files; the highest number has it, unless it is marked free or its
 * process is gone. Whoever wants it makes the next number, which only one can. Removing a stale file
 * and making it anew would let two in: between the look and the removal another may have taken it.
 */
function tryToTake(lock: string): string | undefined {
  const top = highest(lock);
  if (top > 0 && isHeld(join(lock, String(top)))) return undefined;
  const file = join(lock, String(top + 1));
  const draft = join(lock, `${randomUuid()}.tmp`);
  writeFileSync(draft, `${JSON.stringify(nodeDeliveryFiles.self())}\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  try {
    linkSync(draft, file);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'EEXIST') return undefined;
    throw thrown;
  } finally {
    rmSync(draft, { force: true });
  }
  // Our look was old: others have had the lock and tidied up since.
  if (highest(lock) > top + 1) {
    rmSync(file, { force: true });
    return undefined;
  }
  for (const number of numbers(lock)) {
    if (number <= top) rmSync(join(lock, String(number)), { force: true });
  }
  return file;
}

function isHeld(file: string): boolean {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    // Somebody with a higher number took it away: look again.
    if (systemCodeOf(thrown) === 'ENOENT') return true;
    throw thrown;
  }
  if (text === FREE) return false;
  const parsed = parseJson(text);
  const { pid, start } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
  // fail-closed: nobody can be told to be gone who is not known.
  if (typeof pid !== 'number') return true;
  return nodeDeliveryFiles.isAlive({ pid, ...(typeof start === 'string' ? { start } : {}) });
}

/** Whole at once, by the rename: no other process reads half of it. */
function release(file: string): void {
  try {
    const draft = `${file}.${randomUuid()}.tmp`;
    writeFileSync(draft, FREE, { mode: 0o600, flag: 'wx' });
    renameSync(draft, file);
  } catch {
    // The directory is gone, and the lock with it; or the process ends, and its lock then.
  }
}

function numbers(lock: string): readonly number[] {
  return readdirSync(lock)
    .filter((name) => /^\d{1,15}$/.test(name))
    .map(Number);
}

function highest(lock: string): number {
  return Math.max(0, ...numbers(lock));
}
