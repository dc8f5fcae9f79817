import type { FileSystem } from '../env/fs.js';
import { join } from '../env/paths.js';
import { isRecord } from '../util/own.js';

/** How often the skills of this user were started, over all sessions, by their names. */
export interface SkillUses {
  /** As it was when it was first asked for: a list must not change by itself. */
  counts(): ReadonlyMap<string, number>;
  /** One more; written down later, when the model is at work. */
  started(name: string): void;
  /** Writes down what is not yet. */
  keep(): Promise<void>;
}

/** Long enough that no request waits for it. */
const KEEP_AFTER_MS = 1_000;
const MOST_BYTES = 256 * 1024;
/** The least used give way. */
const MOST_NAMES = 1_000;

/** Nothing depends on it but whose description is shortened first, so what cannot be read or kept is no fault. */
export function openSkillUses(
  fs: Pick<FileSystem, 'readText' | 'readTextNow' | 'makeDirectory' | 'writeAtomic'>,
  stateDirectory: string,
): SkillUses {
  const file = join(stateDirectory, 'skill-uses.json');
  const fresh = new Map<string, number>();
  let known: ReadonlyMap<string, number> | undefined;
  let writing = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = async (): Promise<void> => {
    if (fresh.size === 0) return;
    // Another session may have written since.
    const counts = countsIn(await fs.readText(file, { maxBytes: MOST_BYTES }).catch(() => ''));
    for (const [name, count] of fresh) counts.set(name, (counts.get(name) ?? 0) + count);
    fresh.clear();
    const kept = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_NAMES);
    await fs.makeDirectory(stateDirectory, { mode: 0o700 });
    await fs.writeAtomic(file, JSON.stringify(Object.fromEntries(kept)), { mode: 0o600 });
  };
  const keep = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write).catch(() => undefined);
    return writing;
  };
  return {
    counts() {
      known ??= readNow(fs, file);
      return known;
    },
    started(name) {
      fresh.set(name, (fresh.get(name) ?? 0) + 1);
      timer ??= setTimeout(keep, KEEP_AFTER_MS).unref();
    },
    keep,
  };
}

function readNow(fs: Pick<FileSystem, 'readTextNow'>, file: string): ReadonlyMap<string, number> {
  try {
    return countsIn(fs.readTextNow?.(file, { maxBytes: MOST_BYTES, noLink: true }).text ?? '');
  } catch {
    // Not there yet.
    return new Map();
  }
}

function countsIn(text: string): Map<string, number> {
  try {
    const parsed: unknown = JSON.parse(text);
    const entries = Object.entries(isRecord(parsed) ? parsed : {});
    return new Map(entries.filter((one): one is [string, number] => isCount(one[1])));
  } catch {
    return new Map();
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
