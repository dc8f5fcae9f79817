import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { isRecord } from '../util/own.js';
import { VERSION } from '../version.js';
import { type FileVersion, isSettled } from './file-version.js';
import type { FileStat } from './fs.js';
import { nodeFileSystem } from './node-fs.js';
import { dirname, isInside, join, projectSlug } from './paths.js';
import { randomBytes } from './random.js';
import { realPathSync } from './real-path.js';
import { SeenText } from './seen-text.js';

export interface FileNotes {
  /**
   * What was noted under this name about the file as `stat` has it; undefined: look for yourself. The
   * same object each time, and what it is made of comes from a file: check its shape, do not change it.
   */
  recall(what: string, path: string, stat: FileStat): unknown;
  /**
   * The facts of a version are from before the file was read. About a text without facts it is noted
   * when all is kept, where the file still says it. A function is asked only for what is noted. Of a
   * file of the last moments, and what JSON cannot hold, nothing is.
   */
  note(what: string, path: string, version: FileVersion, said: unknown): void;
  /** Whether anything is noted about a file of this name, of whichever version or of this one. */
  knows(path: string, stat?: FileStat): boolean;
  /** Writes it down for the next start, when there is something new. Failing that is no loss. */
  keep(): void;
}

export interface NotedPlace {
  /** Where the program keeps state of its own. */
  readonly stateDirectory: string;
  /** The project's. */
  readonly root: string;
}

const NO_NOTES: FileNotes = {
  recall: () => undefined,
  note: () => undefined,
  knows: () => false,
  keep: () => undefined,
};

/** Counts up when what is noted gets another meaning. */
const FORMAT = 3;
const MOST_FILES = 20_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** The notes about files of a project, in a file of their own; those without a name are asked for first. */
export function openNotes(place: NotedPlace, name: string | undefined): FileNotes {
  const found = placeOf(place);
  if (found === undefined) return NO_NOTES;
  // A slug has no dots, so that no project's drawer is another's file.
  const part = name === undefined ? '' : `.${name}`;
  const file = join(place.stateDirectory, 'files', `${projectSlug(found.root)}${part}.json`);
  return new KeptNotes({ file, ...found });
}

type Found = Pick<Kept, 'root' | 'device'>;

/** Asked once for all drawers of a place. */
const places = new WeakMap<NotedPlace, { readonly found: Found | undefined }>();

function placeOf(place: NotedPlace): Found | undefined {
  const known = places.get(place) ?? { found: findPlace(place) };
  places.set(place, known);
  return known.found;
}

/** Undefined where nothing that is noted could be relied on. */
function findPlace(place: NotedPlace): Found | undefined {
  try {
    const root = realPathSync(place.root);
    // fail-closed: a repository that holds the state could bring its own memories along.
    if (isInside(realPathSync(place.stateDirectory), root)) return undefined;
    // fail-closed: elsewhere the times of a file may be what somebody says they are.
    return hasHonestTimes(root) ? { root, device: statSync(root).dev } : undefined;
  } catch {
    // fail-closed: without a place that can be looked at everything is read.
    return undefined;
  }
}

interface Unproved {
  readonly what: string;
  readonly seen: SeenText;
  readonly said: unknown;
}

/** Path, inode, size, last write, last change (0 where it is that write), and what was noted by its name. */
type Entry = [string, number, number, number, number, Record<string, unknown>];

interface Kept {
  readonly file: string;
  readonly root: string;
  readonly device: number;
}

class KeptNotes implements FileNotes {
  readonly #at: Kept;
  readonly #entries = new Map<string, Entry>();
  readonly #used = new Set<Entry>();
  /**
   * About texts of which nobody has asked yet which version of the file says them. By what and path: a
   * file that is read again takes the place of what it was.
   */
  readonly #unproved = new Map<string, Unproved>();
  #isNew = false;

  constructor(at: Kept) {
    this.#at = at;
    for (const entry of readEntries(at)) {
      if (isEntry(entry)) this.#entries.set(entry[0], entry);
    }
  }

  recall(what: string, path: string, stat: FileStat): unknown {
    const entry = this.#entries.get(path);
    if (entry === undefined || !this.#isOf(entry, stat)) return undefined;
    this.#used.add(entry);
    const notes = entry[5];
    return Object.hasOwn(notes, what) ? notes[what] : undefined;
  }

  knows(path: string, stat?: FileStat): boolean {
    const entry = this.#entries.get(path);
    return entry !== undefined && (stat === undefined || this.#isOf(entry, stat));
  }

  note(what: string, path: string, version: FileVersion, said: unknown): void {
    const stat = version instanceof SeenText ? version.given : version;
    if (stat !== undefined) this.#noteOf(stat, what, { path, said });
    else if (version instanceof SeenText)
      this.#unproved.set(`${what}\0${path}`, { what, seen: version, said });
  }

  #takes(stat: FileStat): boolean {
    return stat.device === this.#at.device && isSettled(stat, Date.now());
  }

  #noteOf(stat: FileStat, what: string, about: { path: string; said: unknown }): void {
    const { path, said: given } = about;
    const said = !this.#takes(stat) ? undefined : typeof given === 'function' ? given() : given;
    if (!isJson(said)) return;
    const { inode = 0, size, mtimeMs, ctimeMs = 0 } = stat;
    const known = this.#entries.get(path);
    const isKnown = known !== undefined && this.#isOf(known, stat);
    const changed = ctimeMs === mtimeMs ? 0 : ctimeMs;
    const entry: Entry = isKnown ? known : [path, inode, size, mtimeMs, changed, {}];
    entry[5][what] = said;
    this.#entries.set(path, entry);
    this.#used.add(entry);
    this.#isNew = true;
  }

  keep(): void {
    const proved = new Map<SeenText, FileStat | undefined>();
    for (const { what, seen, said } of this.#unproved.values()) {
      const { path } = seen;
      // Mostly a file that nobody knows has just been written, and need not be read once more.
      if (!proved.has(seen)) proved.set(seen, this.#takesFrom(path) ? seen.factsNow() : undefined);
      const stat = proved.get(seen);
      if (stat !== undefined) this.#noteOf(stat, what, { path, said });
    }
    this.#unproved.clear();
    if (!this.#isNew) return;
    this.#isNew = false;
    const all = [...this.#entries.values()];
    const used = all.filter((entry) => this.#used.has(entry));
    // What nobody asked about any more is mostly gone.
    const files = (all.length > 2 * used.length ? used : all).slice(0, MOST_FILES);
    const { root, device, file } = this.#at;
    const text = JSON.stringify({ version: VERSION, format: FORMAT, root, device, files });
    if (text.length <= MOST_BYTES) writeOwn(file, text);
  }

  #takesFrom(path: string): boolean {
    try {
      const stat = nodeFileSystem.lstatNow?.(path);
      return stat !== undefined && this.#takes(stat);
    } catch {
      // What cannot be looked at is not noted.
      return false;
    }
  }

  /** fail-closed: a file of which anything is different is another one. */
  #isOf(entry: Entry, stat: FileStat): boolean {
    return (
      (entry[4] === 0 ? entry[3] : entry[4]) === stat.ctimeMs &&
      entry[3] === stat.mtimeMs &&
      entry[2] === stat.size &&
      entry[1] === stat.inode &&
      stat.device === this.#at.device
    );
  }
}

const DEEPEST = 50;

/** Whether a value comes back from JSON as it went; a key without a value may be lost on the way. */
function isJson(value: unknown, depth = 0): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || depth > DEEPEST) return false;
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.values(value).every((item) => item === undefined || isJson(item, depth + 1));
}

function isEntry(value: unknown): value is Entry {
  return (
    Array.isArray(value) && value.length === 6 && typeof value[0] === 'string' && isRecord(value[5])
  );
}

/** Empty when there are none, or none that can be believed. */
function readEntries({ file, root, device }: Kept): readonly unknown[] {
  const parsed = parsedOrNothing(readOwn(file));
  if (!isRecord(parsed)) return [];
  const { version, format, files, ...at } = parsed;
  // fail-closed: another version of the program may have read the files in another way.
  if (version !== VERSION || format !== FORMAT) return [];
  return at.root === root && at.device === device && Array.isArray(files) ? files : [];
}

/** Our own text, so that the checks of foreign JSON would only cost time. */
function parsedOrNothing(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    // fail-closed: half a memory is none.
    return undefined;
  }
}

/** The text of a file that nobody else can have written. */
function readOwn(file: string): string | undefined {
  // Asking first is cheaper than an exception at each first start.
  if (!existsSync(file)) return undefined;
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stat = fstatSync(fd);
    // fail-closed: what others own or may touch is not our own word.
    const isOwn = stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0 && stat.nlink === 1;
    if (!stat.isFile() || !isOwn || stat.size > MOST_BYTES) return undefined;
    return readFileSync(fd, 'utf8');
  } catch {
    // Not there yet, or not to be read: then everything is looked at.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Whole or not at all, for the owner alone. */
function writeOwn(file: string, text: string): void {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 });
    renameSync(temporary, file);
  } catch {
    // The next start reads the files again, as this one did.
    try {
      unlinkSync(temporary);
    } catch {
      // It was not made, or is already in its place.
    }
  }
}

/** Linux file systems in which a write by a call shows in the change time. */
const HONEST: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0x2fc12fc1, // ZFS
  0xf2f52010, // F2FS
  0xca451a4e, // bcachefs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

function hasHonestTimes(directory: string): boolean {
  return process.platform === 'linux' && HONEST.has(statfsSync(directory).type);
}
