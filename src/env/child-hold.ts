import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Outlet } from './child-streams.js';
import type { Pipe, PipePool } from './pipe-pool.js';

/**
 * Standard input of a child that waits for a line before it begins. When we are gone, it reads the end
 * of its input instead, and by that it knows that it may not begin.
 */
export class HoldPipe {
  readonly #pipes: PipePool;
  readonly #pipe: Pipe | undefined;
  /** The end for the child. Opened anew: those of the pool do not wait. */
  #childFd: number | undefined;
  #fromNode: Writable | undefined;
  #isOpen = true;

  constructor(pipes: PipePool) {
    this.#pipes = pipes;
    const pipe = pipes.take();
    if (pipe === undefined) return;
    try {
      // Does not wait either: the other end is open.
      this.#childFd = openSync(`/proc/self/fd/${pipe.readFd}`, constants.O_RDONLY);
      this.#pipe = pipe;
    } catch {
      // Out of descriptors: Node's own connection reports that properly.
      closeSync(pipe.writeFd);
      closeSync(pipe.readFd);
    }
  }

  get inlet(): Outlet {
    return this.#childFd ?? 'pipe';
  }

  /** The child has its own copy now, or there is none. */
  spawned(fromNode: Writable | null | undefined): void {
    if (this.#childFd !== undefined) closeSync(this.#childFd);
    this.#childFd = undefined;
    this.#fromNode = fromNode ?? undefined;
  }

  /** Lets the child go. */
  release(): void {
    if (!this.#isOpen) return;
    if (this.#pipe === undefined) this.#fromNode?.write('\n');
    else {
      try {
        writeSync(this.#pipe.writeFd, '\n');
      } catch {
        // The child has ended meanwhile, which is told by its end.
      }
    }
    this.close();
  }

  /** Without a line: a child that still waits does not begin. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.spawned(this.#fromNode);
    this.#fromNode?.end();
    if (this.#pipe !== undefined) closeSync(this.#pipe.writeFd);
  }

  /** The child is gone. A pipe that somebody it left behind may hold is not used again. */
  giveBack({ mayBeHeld }: { readonly mayBeHeld: boolean }): void {
    this.close();
    if (this.#pipe === undefined) return;
    const { readFd } = this.#pipe;
    // A child that ended before it had read its line has left it in there.
    this.#pipes.give(readFd, { ended: !mayBeHeld && this.#pipes.readAll(readFd).ended });
  }
}
