import type { FileSystem } from '../../platform/fs/fs.js';
import { join, separator } from '../../platform/fs/paths.js';
import { keyedSha256 } from '../../platform/hash.js';
import { randomBytes } from '../../platform/random.js';

/** Marks by which a value is known again that is not to be written down. */
export interface ValueMarks {
  /** Undefined where no mark can have been made. */
  mark(text: string): Promise<string | undefined>;
  /** Makes the key first, if there is none. Rejects where it cannot be kept. */
  newMark(text: string): Promise<string>;
}

const KEY = /^[0-9a-f]{64}$/;

/** The key stands in a file of its own (0600): who finds the marks alone cannot try values against them. */
export function openValueMarks(place: {
  readonly fs: Pick<FileSystem, 'stat' | 'readText' | 'writeAtomic' | 'makeDirectory' | 'remove'>;
  readonly directory: string;
}): ValueMarks {
  const { fs, directory } = place;
  const file = join(directory, 'values.key');

  async function key(): Promise<string | undefined> {
    try {
      const stat = await fs.stat(file);
      // fail-closed: with a key that others know or chose, a mark means nothing.
      if (stat?.kind !== 'file' || (separator === '/' && (stat.mode & 0o077) !== 0)) {
        return undefined;
      }
      const text = (await fs.readText(file, { maxBytes: 1024 })).trim();
      return KEY.test(text) ? text : undefined;
    } catch {
      // fail-closed: without the key no value is known again.
      return undefined;
    }
  }

  async function newKey(): Promise<string> {
    await fs.makeDirectory(directory, { mode: 0o700 });
    // A file with a wrong mode would keep it.
    if ((await fs.stat(file)) !== undefined) await fs.remove(file);
    const made = randomBytes(32).toString('hex');
    await fs.writeAtomic(file, `${made}\n`, { mode: 0o600 });
    // Another program may have made one at the same time.
    return (await key()) ?? made;
  }

  return {
    async mark(text) {
      const known = await key();
      return known === undefined ? undefined : keyedSha256(known, text);
    },
    async newMark(text) {
      return keyedSha256((await key()) ?? (await newKey()), text);
    },
  };
}
