import type { FileStat, FileSystem } from '../env/fs.js';
import { join } from '../env/paths.js';

export type FinderFiles = Pick<FileSystem, 'list' | 'lstat' | 'lstatNow'>;

export interface FindOrder {
  /** Absolute. Nothing there: nothing found. */
  readonly start: string;
  /** How many levels below the start are looked at. */
  readonly depth: number;
  /**
   * By which the same question is known again. What it found before is found again where there is too
   * much to look at: a program could make so many files that the one it is after is missed.
   */
  readonly question: string;
  /** What is taken is not looked into. */
  take(path: string, name: string, kind: FileStat['kind']): boolean;
}

export interface Finds {
  readonly paths: readonly string[];
  /** There was more than can be looked at before every command. */
  readonly partial: boolean;
}

/** Looks for files by name. Remembers what each directory held for as long as it stays unchanged. */
export interface Finder {
  find(order: FindOrder): Promise<Finds>;
}

const MOST_ENTRIES = 20_000;
/** A directory that changed this lately may change again within the same tick of its time stamp. */
const SETTLED_MS = 50;
/** Their own files are no project's, and there are too many. */
const NEVER_ENTERED: ReadonlySet<string> = new Set(['node_modules', '.git', '.hg', '.svn']);

type Entries = Awaited<ReturnType<FileSystem['list']>>;

interface Remembered {
  readonly stamp: string;
  readonly entries: Entries;
}

export function createFinder(fs: FinderFiles, now: () => number): Finder {
  const known = new Map<string, Remembered>();
  const found = new Map<string, readonly string[]>();
  const look = async (directory: string): Promise<Entries> => {
    const stat = fs.lstatNow ? fs.lstatNow(directory) : await fs.lstat(directory);
    if (stat?.kind !== 'directory') return [];
    const changed = Math.max(stat.mtimeMs, stat.ctimeMs ?? 0);
    const stamp = `${stat.inode}:${stat.mtimeMs}:${stat.ctimeMs}`;
    const before = known.get(directory);
    if (before?.stamp === stamp) return before.entries;
    const entries = await fs.list(directory);
    if (now() - changed > SETTLED_MS && stat.ctimeMs !== undefined) {
      if (known.size >= MOST_ENTRIES) known.clear();
      known.set(directory, { stamp, entries });
    }
    return entries;
  };
  return {
    async find({ start, depth, question, take }) {
      const paths: string[] = [];
      const key = JSON.stringify([question, start]);
      const before = found.get(key) ?? [];
      let left = MOST_ENTRIES;
      let level: string[] = [start];
      for (let at = 0; at < depth && level.length > 0; at++) {
        const next: string[] = [];
        for (const directory of level) {
          // What may not be listed by us may not be listed inside either.
          for (const { name, kind } of await look(directory).catch((): Entries => [])) {
            if (left-- <= 0) {
              const all = [...new Set([...before, ...paths])];
              found.set(key, all);
              return { paths: all, partial: true };
            }
            const path = join(directory, name);
            if (take(path, name, kind)) paths.push(path);
            else if (kind === 'directory' && !NEVER_ENTERED.has(name)) next.push(path);
          }
        }
        level = next;
      }
      found.set(key, paths);
      return { paths, partial: false };
    },
  };
}
