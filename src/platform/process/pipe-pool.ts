import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Both ends of a pipe. `writeFd` is for the child; close ours once the child has it. */
export interface Pipe {
  readonly readFd: number;
  readonly writeFd: number;
}

const BATCH = 6;

/**
 * Real pipes for children. Node connects its children by sockets, which cannot be opened by name, so
 * that `> /dev/stderr` and `tee /dev/stdout` fail in them, and which cannot be shared by two file
 * descriptors, so that the order of standard output and error is lost. These pipes are named ones
 * whose names are gone: made a few at a time, reused once their last writer has closed them.
 */
export class PipePool {
  /** Read ends without any writer. Held open, they are what keeps an unnamed pipe in being. */
  readonly #idle: number[] = [];
  #unavailable = process.platform !== 'linux';

  /** Undefined where such pipes cannot be made; the caller uses Node's own then. */
  take(): Pipe | undefined {
    if (this.#idle.length === 0) this.#make();
    const readFd = this.#idle.pop();
    if (readFd === undefined) return undefined;
    try {
      return { readFd, writeFd: openSync(`/proc/self/fd/${readFd}`, constants.O_WRONLY) };
    } catch {
      // Out of descriptors, or /proc is gone: Node's own pipes report the former properly.
      closeSync(readFd);
      return undefined;
    }
  }

  /** A second read end for a stream, which closes what it reads from; `give` back the first one. */
  reader(pipe: Pipe): number {
    return openSync(`/proc/self/fd/${pipe.readFd}`, constants.O_RDONLY | constants.O_NONBLOCK);
  }

  /** Takes a pipe back. Only one that has ended can carry the output of another child. */
  give(readFd: number, state: { readonly ended: boolean }): void {
    if (state.ended && this.#idle.length < BATCH) this.#idle.push(readFd);
    else closeSync(readFd);
  }

  /** Reads what a child has written; `ended` when the last writer has closed the pipe. */
  readAll(readFd: number): { readonly data: Buffer; readonly ended: boolean } {
    const parts: Buffer[] = [];
    for (;;) {
      const part = Buffer.allocUnsafe(8192);
      try {
        const count = readSync(readFd, part, 0, part.length, null);
        if (count === 0) return { data: Buffer.concat(parts), ended: true };
        parts.push(part.subarray(0, count));
      } catch {
        // Would block: a process that was left behind still holds the other end.
        return { data: Buffer.concat(parts), ended: false };
      }
    }
  }

  #make(): void {
    if (this.#unavailable) return;
    let directory: string | undefined;
    try {
      directory = mkdtempSync(join(tmpdir(), 'portcullis-pipes-'));
      const made = directory;
      const names = Array.from({ length: BATCH }, (_, index) => join(made, String(index)));
      // Enough to be found: helpers get no keys.
      const env = { PATH: process.env.PATH };
      spawnSync('mkfifo', ['-m', '600', ...names], { stdio: 'ignore', env });
      for (const name of names) {
        this.#idle.push(openSync(name, constants.O_RDONLY | constants.O_NONBLOCK));
        unlinkSync(name);
      }
    } catch {
      // No place for temporary files, no mkfifo, or out of descriptors: Node's own pipes from now on.
      this.#unavailable = true;
    }
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  }
}
