import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from '../../platform/fs/paths.js';
import { memberPath, privateDirectory } from '../../platform/fs/private-files.js';
import { nodeProcesses } from '../../platform/process/process-stamp.js';
import { randomBytes } from '../../platform/random.js';

/** The files of an open sandbox: owner-only and hidden from the programs inside. */
export interface SandboxFiles {
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
  const { pid, start = '0' } = nodeProcesses.self();
  const own = privateDirectory(parent, `run-${pid}-${start}-`);
  // Writing the first file creates the directory.
  own.write('made', '');
  const name = (): string => randomBytes(12).toString('hex');
  return {
    write(data) {
      const file = name();
      own.write(file, data);
      return join(own.path, file);
    },
    fresh: () => join(own.path, name()),
    directory(given) {
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
    const [, pid, start] = /^run-(\d+)-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || nodeProcesses.isAlive({ pid: Number(pid), start })) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}
