import { parseJson } from '../../lib/json.js';
import { isRecord, own } from '../../lib/own.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';

/** How long a server that wants a sign-in is not asked again. */
export const AUTH_MEMORY_MS = 15 * 60_000;

/** Which servers want somebody to sign in, also for programs that start later. Holds no secret. */
export interface AuthMemory {
  /** When it was noted, in milliseconds; undefined when nothing is known. */
  since(key: string): Promise<number | undefined>;
  note(key: string): Promise<void>;
  clear(key: string): Promise<void>;
}

const FILE = 'mcp-needs-auth.json';
const MAX_BYTES = 1024 * 1024;

/** What cannot be read or written costs an attempt that fails, so it is not an error. */
export function openAuthMemory(place: {
  readonly fs: Pick<FileSystem, 'readText' | 'writeAtomic' | 'makeDirectory'>;
  readonly stateDirectory: string;
  readonly now: () => number;
}): AuthMemory {
  const { fs, stateDirectory, now } = place;
  const file = join(stateDirectory, FILE);

  async function load(): Promise<Readonly<Record<string, number>>> {
    try {
      const parsed = parseJson(await fs.readText(file, { maxBytes: MAX_BYTES }));
      if (!parsed.ok || !isRecord(parsed.value)) return {};
      const fresh = Object.entries(parsed.value).filter(
        // Old notes are kept for a day: they say that a refresh comes before the next attempt.
        (entry): entry is [string, number] =>
          typeof entry[1] === 'number' && entry[1] <= now() && now() - entry[1] < KEPT_MS,
      );
      return Object.fromEntries(fresh);
    } catch {
      return {};
    }
  }

  async function save(notes: Readonly<Record<string, number>>): Promise<void> {
    try {
      await fs.makeDirectory(stateDirectory, { mode: 0o700 });
      await fs.writeAtomic(file, `${JSON.stringify(notes)}\n`, { mode: 0o600 });
    } catch {
      // The next attempt asks the server again.
    }
  }

  return {
    since: async (key) => own(await load(), key),
    note: async (key) => save({ ...(await load()), [key]: now() }),
    async clear(key) {
      const notes = await load();
      if (!Object.hasOwn(notes, key)) return;
      await save(Object.fromEntries(Object.entries(notes).filter(([name]) => name !== key)));
    },
  };
}

const KEPT_MS = 24 * 60 * 60_000;
