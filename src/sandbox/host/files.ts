import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from '../../platform/fs/paths.js';
import { memberPath, privateDirectory } from '../../platform/fs/private-files.js';
import { processAlive, startTimeOf } from '../../platform/process/process-tree.js';
import { randomBytes } from '../../platform/random.js';

/** What a sandbox keeps on the disk while it is open. For this user alone, and hidden inside. */
export interface SandboxFiles {
  readonly path: string;
  /** A new file with a name of its own. */
  write(data: string | Uint8Array): string;
  /** A path at which nothing is. */
  fresh(): string;
  /** A directory that is there from the first call on. */
  directory(name: string): string;
  remove(path: string): void;
  close(): void;
}

/** `parent`: hidden as a whole, so that programs find the files of no sandbox, not only of their own. */
export function sandboxFiles(parent: string): SandboxFiles {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  sweep(parent);
  const own = privateDirectory(parent, `run-${process.pid}-${startTimeOf(process.pid) ?? '0'}-`);
  let isMade = false;
  const make = (): void => {
    // The directory comes into being with its first file.
    if (!isMade) own.write('made', '');
    isMade = true;
  };
  const name = (): string => randomBytes(12).toString('hex');
  return {
    path: own.path,
    write(data) {
      const file = name();
      own.write(file, data);
      isMade = true;
      return join(own.path, file);
    },
    fresh() {
      make();
      return join(own.path, name());
    },
    directory(given) {
      make();
      const path = memberPath(own.path, `room-${Buffer.from(given).toString('hex')}`);
      mkdirSync(path, { recursive: true, mode: 0o700 });
      return path;
    },
    remove(path) {
      rmSync(path, { recursive: true, force: true });
    },
    close() {
      try {
        own.remove();
      } catch {
        // A program that is still going writes there. What is left is in a directory for us alone.
      }
    },
  };
}

/** What programs left behind that were killed. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const match = /^run-(\d+)-(\d+)-/.exec(name);
    if (match === null) continue;
    const pid = Number(match[1]);
    if (processAlive(pid) && (startTimeOf(pid) ?? '0') === match[2]) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}
