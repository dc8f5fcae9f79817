import { systemClock } from './clock.js';
import type { FileVersion } from './file-version.js';
import type { FileStat } from './fs.js';
import { type FileNotes, type NotedPlace, openNotes } from './kept-notes.js';

/**
 * What files of a project were found to say, kept from start to start, so that a file that looks
 * unchanged is not read again. It answers for one version of a file: same device, inode, size and
 * times, among them the time of the last change, which no program can set. That proves nothing: who
 * has a file mapped into memory can write it without any of them moving. So what it says is for what
 * is shown (lists, the verdict at the start), never for what is used: whoever grants, runs or starts
 * something by a file reads it, and judges what was read.
 */
export interface FileMemory extends FileNotes {
  /** A regular file, and no link, was just looked at by somebody who knows that others will, too. */
  look(path: string, seen: FileVersion): void;
  /** What that look has shown, once, and only moments later; undefined: look for yourself. */
  lookedAt(path: string): FileVersion | undefined;
  /**
   * Notes of their own in a file of their own, for what most starts ask about later or not at all: what
   * is not asked for before the first request is not to be read before it. Looks are common to all.
   */
  drawer(name: string): FileMemory;
  /** Writes it down for the next start, drawers too, when there is something new. Failing that is no loss. */
  keep(): void;
}

/** Remembers nothing. */
export const NO_MEMORY: FileMemory = {
  recall: () => undefined,
  note: () => undefined,
  knows: () => false,
  look: () => undefined,
  lookedAt: () => undefined,
  drawer: () => NO_MEMORY,
  keep: () => undefined,
};

const MOST_OPEN = 8;
/** The parts of one start come one after the other in far less. */
const LOOK_HOLDS_MS = 500;

const memories = new Map<string, FileMemory>();

/** The one of a project, read when it is first asked for; all parts of a process share it. */
export function fileMemoryOf(place: NotedPlace): FileMemory {
  const key = `${place.stateDirectory}\0${place.root}`;
  const known = memories.get(key);
  if (known !== undefined) return known;
  const made = openFileMemory(place);
  const [oldest] = memories.keys();
  if (memories.size >= MOST_OPEN && oldest !== undefined) memories.delete(oldest);
  memories.set(key, made);
  return made;
}

export function openFileMemory(place: NotedPlace): FileMemory {
  return new WhenAsked(place, { looks: new Looks() });
}

/** Most projects have nothing to remember, and a start need not look for it. */
class WhenAsked implements FileMemory {
  readonly #place: NotedPlace;
  readonly #name: string | undefined;
  readonly #looks: Looks;
  readonly #drawers = new Map<string, WhenAsked>();
  #opened: FileNotes | undefined;

  constructor(place: NotedPlace, part: { readonly looks: Looks; readonly name?: string }) {
    this.#place = place;
    this.#looks = part.looks;
    this.#name = part.name;
  }

  get #notes(): FileNotes {
    this.#opened ??= openNotes(this.#place, this.#name);
    return this.#opened;
  }

  recall(what: string, path: string, stat: FileStat): unknown {
    return this.#notes.recall(what, path, stat);
  }

  note(what: string, path: string, version: FileVersion, said: unknown): void {
    this.#notes.note(what, path, version, said);
  }

  knows(path: string, stat?: FileStat): boolean {
    return this.#notes.knows(path, stat);
  }

  look(path: string, seen: FileVersion): void {
    this.#looks.add(path, seen);
  }

  lookedAt(path: string): FileVersion | undefined {
    return this.#looks.take(path);
  }

  drawer(name: string): FileMemory {
    const known = this.#drawers.get(name);
    if (known !== undefined) return known;
    const made = new WhenAsked(this.#place, { looks: this.#looks, name });
    this.#drawers.set(name, made);
    return made;
  }

  keep(): void {
    this.#looks.clear();
    this.#opened?.keep();
    for (const drawer of this.#drawers.values()) drawer.keep();
  }
}

/** What was just looked at, for those who come next. */
class Looks {
  readonly #seen = new Map<string, FileVersion>();
  #first = 0;

  add(path: string, seen: FileVersion): void {
    if (this.#seen.size === 0) this.#first = systemClock.monotonic();
    this.#seen.set(path, seen);
  }

  take(path: string): FileVersion | undefined {
    const look = this.#seen.get(path);
    if (look === undefined) return undefined;
    this.#seen.delete(path);
    if (systemClock.monotonic() - this.#first <= LOOK_HOLDS_MS) return look;
    // fail-closed: a file may have been changed since.
    this.#seen.clear();
    return undefined;
  }

  clear(): void {
    this.#seen.clear();
  }
}
