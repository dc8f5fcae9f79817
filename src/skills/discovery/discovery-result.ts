import { messageOf, systemCodeOf } from '../../errors.js';
import type { SkippedSkill } from '../skill.js';
import type { Homes } from './homes.js';
import type { SkillFiles, SkillRoot } from './roots.js';

/** A file that holds a skill, before it is read. */
export interface Candidate {
  /** What it is called by, as far as its place says. */
  readonly name: string;
  readonly root: SkillRoot;
  readonly file: string;
  readonly directory: string;
  /** The file behind all links: what is the same file is the same skill. */
  readonly real: string;
}

export interface Found {
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly SkippedSkill[];
}

export interface FindDeps {
  readonly fs: SkillFiles;
  readonly homes: Homes;
}

export type Entry = Awaited<ReturnType<SkillFiles['list']>>[number];

export const NOTHING: Found = { candidates: [], skipped: [] };

/** In place of a name, where something is said about a whole directory. */
export const ALL = '*';
/** More than anybody has; a limit, so that a start stays quick. */
export const MOST_ENTRIES = 5_000;
/** Directories and files that are looked at side by side. */
export const AT_ONCE = 16;

export function joined(found: readonly Found[]): Found {
  return {
    candidates: found.flatMap((one) => one.candidates),
    skipped: found.flatMap((one) => one.skipped),
  };
}

export function passedOver(name: string, file: string, reason: string): Found {
  return { candidates: [], skipped: [{ name, file, reason }] };
}

export type Listed =
  | { readonly ok: true; readonly entries: readonly Entry[] }
  | { readonly ok: false; readonly found: Found };

/** The entries of a directory; what is not there holds nothing. */
export async function listed(
  directory: string,
  fs: Pick<SkillFiles, 'stat' | 'list'>,
): Promise<Listed> {
  try {
    if ((await fs.stat(directory))?.kind !== 'directory') return { ok: false, found: NOTHING };
    return { ok: true, entries: await fs.list(directory) };
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { ok: false, found: NOTHING };
    const reason = `it cannot be listed: ${messageOf(thrown)}`;
    return { ok: false, found: passedOver(ALL, directory, reason) };
  }
}

/** Does the same with each item, at most `limit` at a time, and keeps the order. */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      results[at] = await work(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
