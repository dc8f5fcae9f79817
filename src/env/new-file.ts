import { open, openSync } from 'node:fs';
import type { AtOnce } from '../util/at-once.js';

/** What is quicker than this is done at once: to hand it to another thread and back takes as long. */
const QUICK_MS = 0.2;
/** A single slow one says nothing about the disk: another program may have run meanwhile. */
const COUNTED = 4;
/** While they are slow, one in so many is made at once, to see whether they still are. */
const LOOK_AGAIN_AFTER = 16;

/** How long the last ones took that were made at once. */
const took: number[] = [];
let slowOnes = 0;
/** The last one that another thread makes. */
let last: Promise<unknown> | undefined;

/**
 * Opens a file that may have to be made, and gives it to `use`. To make one takes 20 µs, or half a millisecond
 * where the file system has to search for room, as some do for minutes after much was deleted. Slow ones are made
 * on another thread while the program goes on, one after the other: two that are made in one directory keep each
 * other waiting, and whoever renames a file there too. Throws or rejects with what the system says.
 */
export function withNewFile<T>(
  path: string,
  flags: string | number,
  use: (fd: number) => T,
): AtOnce<T> {
  // Whoever comes later stands behind those that wait.
  const waits = last !== undefined || (isSlow() && ++slowOnes % LOOK_AGAIN_AFTER !== 0);
  return waits ? aside(path, flags, use) : use(openNow(path, flags));
}

const PRIVATE = 0o600;

function isSlow(): boolean {
  return took.length === COUNTED && took.every((ms) => ms > QUICK_MS);
}

function openNow(path: string, flags: string | number): number {
  const started = performance.now();
  try {
    return openSync(path, flags, PRIVATE);
  } finally {
    took.push(performance.now() - started);
    if (took.length > COUNTED) took.shift();
  }
}

function aside<T>(path: string, flags: string | number, use: (fd: number) => T): Promise<T> {
  const before = last;
  const made = (async () => {
    // Its failure is for whoever wanted it.
    if (before !== undefined) await before.catch(() => undefined);
    return use(await openLater(path, flags));
  })();
  const over = (): void => {
    if (last === made) last = undefined;
  };
  made.then(over, over);
  last = made;
  return made;
}

function openLater(path: string, flags: string | number): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, flags, PRIVATE, (failure, fd) => (failure === null ? resolve(fd) : reject(failure)));
  });
}
