import type { FileMemory } from '../env/file-memory.js';
import type { FileVersion } from '../env/file-version.js';
import type { FileSystem } from '../env/fs.js';
import { SeenText } from '../env/seen-text.js';

/** Looks at the files of a start, each once for all who want to know of it. */
export interface Looks {
  /** Of a regular file that is no link: its text, or its facts where something is known of it. */
  at(file: string): FileVersion | undefined;
}

type LookFiles = Pick<FileSystem, 'lstatNow' | 'readSmallNow' | 'readTextNow'>;

/** A larger file is looked at and not read here. */
const HOW = { maxBytes: 64 * 1024, noLink: true } as const;
/** Of all files together; a limit, so that no folder holds a start up. */
const MOST_OF_ALL = 16 * 1024 * 1024;
/** After a checkout everything is another version: so many in a row, and the next is read at once. */
const ENOUGH_CHANGED = 4;

/**
 * What somebody has just seen is taken over. What an earlier start has noted need not be read. All else
 * is read now, and handed on to whoever asks about the same file next.
 */
export function openLooks(fs: LookFiles, memory: FileMemory): Looks {
  let room = MOST_OF_ALL;
  let changed = 0;
  return {
    at(file) {
      const known = memory.lookedAt(file);
      if (known !== undefined) return known;
      const mayHold = changed < ENOUGH_CHANGED && memory.knows(file);
      const stat = mayHold || room <= 0 ? fs.lstatNow?.(file) : undefined;
      // One that has changed since is read, as if nobody had ever seen it.
      const isNew = stat?.kind === 'file' && room > 0 && !memory.knows(file, stat);
      if (mayHold) changed = isNew ? changed + 1 : 0;
      if (stat !== undefined && !isNew) return stat;
      const seen = readText(fs, file);
      if (seen === undefined) return undefined;
      room -= seen.text.length;
      memory.look(file, seen);
      return seen;
    },
  };
}

function readText(fs: LookFiles, file: string): SeenText | undefined {
  const text = fs.readSmallNow?.(file);
  if (text !== undefined) return new SeenText(fs, file, { text });
  try {
    const read = fs.readTextNow?.(file, HOW);
    return read && new SeenText(fs, file, read);
  } catch {
    // Whoever looks closer is told what is wrong with it.
    return undefined;
  }
}
