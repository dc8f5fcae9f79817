import { spawn, spawnSync } from 'node:child_process';
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
  #warming = false;

  /** Undefined where such pipes cannot be made; the caller uses Node's own then. */
  take(): Pipe | undefined {
    if (this.#idle.length === 0) this.#makeNow();
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

  /** What a child has written and, when nobody can write any more, that it has ended. */
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

  /** Makes pipes without blocking, for a moment when nothing else is to be done. */
  warmUp(): void {
    if (this.#unavailable || this.#warming || this.#idle.length > 0) return;
    const names = this.#names();
    if (names === undefined) return;
    this.#warming = true;
    const maker = spawn('mkfifo', ['-m', '600', ...names.paths], {
      stdio: 'ignore',
      env: plainEnvironment(),
    });
    maker.once('error', () => this.#adopt(names));
    maker.once('exit', () => this.#adopt(names));
    maker.unref();
  }

  #makeNow(): void {
    if (this.#unavailable) return;
    const names = this.#names();
    if (names === undefined) return;
    const options = { stdio: 'ignore', env: plainEnvironment() } as const;
    spawnSync('mkfifo', ['-m', '600', ...names.paths], options);
    this.#adopt(names);
  }

  #names(): { readonly directory: string; readonly paths: readonly string[] } | undefined {
    try {
      const directory = mkdtempSync(join(tmpdir(), 'portcullis-pipes-'));
      return {
        directory,
        paths: Array.from({ length: BATCH }, (_, index) => join(directory, String(index))),
      };
    } catch {
      // No place for temporary files: Node's own pipes need none.
      this.#unavailable = true;
      return undefined;
    }
  }

  #adopt(names: { readonly directory: string; readonly paths: readonly string[] }): void {
    this.#warming = false;
    try {
      for (const name of names.paths) {
        this.#idle.push(openSync(name, constants.O_RDONLY | constants.O_NONBLOCK));
        unlinkSync(name);
      }
    } catch {
      // No mkfifo here, or out of descriptors: Node's own pipes from now on.
      this.#unavailable = true;
    }
    rmSync(names.directory, { recursive: true, force: true });
  }
}

/** Enough to be found: no key of ours is any business of a helper. */
function plainEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH };
}
