import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from '../../platform/fs/paths.js';
import { memberPath, privateDirectory } from '../../platform/fs/private-files.js';
import { processAlive, startTimeOf } from '../../platform/process/process-tree.js';
import { randomBytes } from '../../platform/random.js';

/** The files of an open sandbox: owner-only and hidden from the programs inside. */
export interface SandboxFiles {
  readonly path: string;
  /** Writes a new file with a random name. */
  write(data: string | Uint8Array): string;
  /** Returns an unused path. */
  fresh(): string;
  /** Returns a named directory, which it creates if necessary. */
  directory(name: string): string;
  remove(path: string): void;
  close(): void;
}

/** `parent` is hidden as a whole, so that programs cannot see the files of any sandbox. */
export function sandboxFiles(parent: string): SandboxFiles {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  sweep(parent);
  const own = privateDirectory(parent, `run-${process.pid}-${startTimeOf(process.pid) ?? '0'}-`);
  let isMade = false;
  const make = (): void => {
    // Writing the first file creates the directory.
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
        // A running program still writes there; the leftovers are in an owner-only directory.
      }
    },
  };
}

/** Removes the files of killed programs. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const match = /^run-(\d+)-(\d+)-/.exec(name);
    if (match === null) continue;
    const pid = Number(match[1]);
    if (processAlive(pid) && (startTimeOf(pid) ?? '0') === match[2]) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}
