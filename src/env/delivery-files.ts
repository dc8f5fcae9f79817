import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { createAppendLog, makePrivateDirectory } from './append-log.js';
import { dirname } from './paths.js';
import { processAlive, startTimeOf } from './process-tree.js';
import { nodeTranscriptFiles } from './transcript-files.js';

/** A process, told apart from a later one that got its number. */
export interface ProcessStamp {
  readonly pid: number;
  /** Absent where the system does not tell. */
  readonly start?: string;
}

/** What the journal of completions asks of the disk. Synchronous: what returns has happened. */
export interface DeliveryFiles {
  /** A file that only grows, for its owner alone. */
  openLog(path: string): SyncedLog;
  /** Every line in order; undefined for one that is too long. False when there is no such file. */
  readLines(path: string, onLine: (line: string | undefined) => void): Promise<boolean>;
  /** Writes a private file that is on the disk, and whole, when this returns. Throws. */
  keep(path: string, text: string): void;
  /** Undefined when there is no such file, or it cannot be read. */
  read(path: string): string | undefined;
  /** This process. */
  self(): ProcessStamp;
  /** Whether that very process still runs. */
  isAlive(stamp: ProcessStamp): boolean;
}

export interface SyncedLog {
  /** On the disk when it returns: neither the death of the process nor of the machine takes it away. Throws. */
  append(lines: readonly string[], options?: { readonly sync?: boolean }): void;
  close(): void;
}

let ourselves: ProcessStamp | undefined;

function ownProcess(): ProcessStamp {
  const start = startTimeOf(process.pid);
  return { pid: process.pid, ...(start === undefined ? {} : { start }) };
}

export const nodeDeliveryFiles: DeliveryFiles = {
  openLog(path) {
    const log = createAppendLog(path);
    return {
      append(lines, { sync = true } = {}) {
        const isNew = sync && statSync(path, { throwIfNoEntry: false }) === undefined;
        log.append(lines);
        if (!sync) return;
        syncPath(path);
        // The name of a new file is a matter of its directory.
        if (isNew) syncPath(dirname(path));
      },
      close: () => log.close(),
    };
  },
  readLines: nodeTranscriptFiles.readLines,
  keep,
  read(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // Whoever needs it says that it is gone.
      return undefined;
    }
  },
  self() {
    // It stays what it is for as long as we live.
    ourselves ??= ownProcess();
    return ourselves;
  },
  isAlive({ pid, start }) {
    if (!processAlive(pid)) return false;
    const now = startTimeOf(pid);
    return start === undefined || now === undefined || now === start;
  },
};

const NEW_FILE =
  constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0);

function keep(path: string, text: string): void {
  makePrivateDirectory(dirname(path));
  // Renamed when it is whole: a crash leaves no half of it under the name that is told.
  const draft = `${path}.${process.pid}.tmp`;
  const fd = openSync(draft, NEW_FILE, 0o600);
  try {
    const bytes = Buffer.from(text, 'utf8');
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
  syncPath(dirname(path));
}

/** Any descriptor will do: the system writes out what anybody wrote to the file. */
function syncPath(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } catch (thrown) {
    // Some file systems cannot sync a directory; the file itself is safe by then.
    if (fstatSync(fd).isFile()) throw thrown;
  } finally {
    closeSync(fd);
  }
}
