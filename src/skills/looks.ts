import type { FileLook, FileMemory } from '../env/file-memory.js';
import type { FileSystem } from '../env/fs.js';

/** Looks at the files of a start, each once for all who want to know of it. */
export interface Looks {
  /** Of a regular file that is no link: its version and, where nothing is known of it, its text. */
  at(file: string): FileLook | undefined;
}

type LookFiles = Pick<FileSystem, 'lstatNow' | 'readTextNow'>;

/** A larger file is looked at and not read here. */
const HOW = { maxBytes: 64 * 1024, noLink: true } as const;
/** Of all files together; a limit, so that no folder holds a start up. */
const MOST_OF_ALL = 16 * 1024 * 1024;

/**
 * What somebody has just seen is taken over. What an earlier start has noted need not be read. All else
 * is read now, and handed on to whoever asks about the same file next.
 */
export function openLooks(fs: LookFiles, memory: FileMemory): Looks {
  let room = MOST_OF_ALL;
  return {
    at(file) {
      const seen = memory.lookedAt(file);
      if (seen !== undefined) return seen;
      const stat = memory.knows(file) || room <= 0 ? fs.lstatNow?.(file) : undefined;
      // One that has changed since is read, as if nobody had ever seen it.
      const isNew = stat?.kind === 'file' && room > 0 && !memory.knows(file, stat);
      if (stat !== undefined && !isNew) return { stat };
      try {
        const read = fs.readTextNow?.(file, HOW);
        if (read === undefined) return undefined;
        room -= read.stat.size;
        memory.look(file, read);
        return read;
      } catch {
        // Whoever looks closer is told what is wrong with it.
        return undefined;
      }
    },
  };
}
